#include "tidewatt/api/failed_attempts.h"

#include <fmt/format.h>

#include <iterator>

namespace tidewatt::api {

std::vector<std::string> FailedAttempts::add(std::string_view address, std::string_view cause,
                                             SteadyTime now) {
  const std::scoped_lock lock{mutex_};
  std::vector<std::string> lines;
  if (began_ && now - *began_ >= kWindow) lines = end_window();
  if (!began_) began_ = now;
  ++total_;
  if (const auto known = more_.find(address); known != more_.end()) {
    ++known->second;
  } else if (more_.size() < kMostAddresses) {
    more_.emplace(address, 0);
    lines.push_back(fmt::format("{}: {}", address, cause));
  } else {
    ++others_;
  }
  return lines;
}

std::vector<std::string> FailedAttempts::tell(SteadyTime now) {
  const std::scoped_lock lock{mutex_};
  if (!began_ || now - *began_ < kWindow) return {};
  return end_window();
}

std::vector<std::string> FailedAttempts::tell_all() {
  const std::scoped_lock lock{mutex_};
  return end_window();
}

std::vector<std::string> FailedAttempts::end_window() {
  std::vector<std::string> lines;
  for (const auto& [address, more] : more_)
    if (more > 0) lines.push_back(fmt::format("{}: {} more in 10 minutes", address, more));
  if (others_ > 0) lines.push_back(fmt::format("other addresses: {} in 10 minutes", others_));
  more_.clear();
  others_ = 0;
  began_.reset();
  return lines;
}

std::uint64_t FailedAttempts::total() const {
  const std::scoped_lock lock{mutex_};
  return total_;
}

}  // namespace tidewatt::api
