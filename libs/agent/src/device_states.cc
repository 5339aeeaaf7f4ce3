#include "device_states.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "tidewatt/metering/reason.h"

namespace tidewatt::agent {
namespace {

// A counter that stands says so after 5 s, and a slow meter speaks at least once in a beat.
constexpr Milliseconds kForgotten{120'000};
constexpr std::size_t kMostReasons = 3;

/// A first look at a counter is how each begins, not a trouble: the power is known from the next one on.
std::string trouble_of(const metering::Reading& reading) {
  if (reading.power || reading.reason.empty() || reading.reason == "counter_baseline") return {};
  return metering::reason_in_words(reading.reason);
}

}  // namespace

void DeviceStates::take(const std::vector<metering::Reading>& readings, SteadyTime now) {
  for (const auto& reading : readings) {
    const auto name = fmt::format("{} {}", reading.domain, reading.index);
    states_.insert_or_assign(name + reading.uuid, State{name, trouble_of(reading), now});
  }
  std::erase_if(states_, [&](const auto& state) { return now - state.second.seen > kForgotten; });
}

std::vector<std::string> DeviceStates::unknown() const {
  std::vector<std::string> names;
  for (const auto& [key, state] : states_)
    if (!state.reason.empty()) names.push_back(state.name);
  return names;
}

bool DeviceStates::none_is_known() const { return !states_.empty() && unknown().size() == states_.size(); }

std::string DeviceStates::trouble() const {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const auto& [key, state] : states_) {
    if (state.reason.empty()) continue;
    auto same = std::ranges::find(reasons, state.reason, [](const auto& r) { return r.first; });
    if (same == reasons.end()) same = reasons.emplace(same, state.reason, std::vector<std::string>{});
    same->second.push_back(state.name);
  }
  if (reasons.empty()) return {};
  const auto bad = unknown().size();
  const auto all = states_.size();
  std::string out = bad < all  ? fmt::format("{} of {} devices unknown: ", bad, all)
                    : all == 1 ? "its only device is unknown: "
                               : fmt::format("all {} devices unknown: ", all);
  if (bad == all && reasons.size() == 1) return out + reasons.front().first;
  std::vector<std::string> parts;
  for (const auto& [reason, names] : reasons) {
    if (parts.size() == kMostReasons) {
      parts.emplace_back("...");
      break;
    }
    parts.push_back(fmt::format("{}: {}", fmt::join(names, ", "), reason));
  }
  return out + fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace tidewatt::agent
