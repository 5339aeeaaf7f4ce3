#include "tidewatt/k8s/watch.h"

#include <algorithm>
#include <cstdint>

#include "tidewatt/units/text.h"

namespace tidewatt::k8s {
namespace {

constexpr std::int64_t kFirstWait_ms = 500;
constexpr std::int64_t kLongestWait_ms = 30'000;
constexpr Milliseconds kLongestAsked = std::chrono::minutes{5};
constexpr unsigned kMostDoublings = 6;

}  // namespace

bool WatchLines::add(std::string_view piece, const std::function<bool(std::string_view line)>& on_line) {
  for (;;) {
    const auto end = piece.find('\n');
    if (begun_.size() + std::min(end, piece.size()) > longest_) return false;
    if (end == std::string_view::npos) {
      begun_ += piece;
      return true;
    }
    std::string_view line = piece.substr(0, end);
    if (!begun_.empty()) line = begun_ += line;
    const bool more = trim(line).empty() || on_line(line);
    begun_.clear();
    if (!more) return false;
    piece.remove_prefix(end + 1);
  }
}

Milliseconds back_off(unsigned failures, double random, std::optional<Milliseconds> retry_after) {
  const auto doublings = std::min(failures == 0 ? 0U : failures - 1, kMostDoublings);
  const auto most = std::min(kFirstWait_ms << doublings, kLongestWait_ms);
  const Milliseconds wait{static_cast<Milliseconds::rep>(static_cast<double>(most) * (1 + random) / 2)};
  return std::max(wait, std::min(retry_after.value_or(Milliseconds{0}), kLongestAsked));
}

std::optional<Milliseconds> retry_after_of(std::string_view header) {
  const auto seconds = parse_uint64(trim(header));
  if (!seconds) return std::nullopt;
  return std::chrono::seconds{static_cast<std::int64_t>(std::min<std::uint64_t>(*seconds, 3600))};
}

}  // namespace tidewatt::k8s
