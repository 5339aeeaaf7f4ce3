#include "tidewatt/tasks/anomaly.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "robust.h"

namespace tidewatt::tasks {
namespace {

/// Which change of a signal fits which side of the band.
enum class Sense {
  same,    ///< more of it, more power
  rise,    ///< only a rise explains anything (heat throttles, and leaks)
  either,  ///< a change of any kind
};

struct Suspect {
  Cause cause;
  std::string_view name;
  Sense sense;
  double least;  ///< the smallest scatter it is held to, as a share of its usual value
  std::optional<double> (*read)(const PowerUpdate&);
};

template <class Unit>
std::optional<double> raw(const std::optional<Unit>& value) {
  if (!value) return std::nullopt;
  return value->value();
}

// In the order that decides between equal scores.
constexpr std::array<Suspect, kCauses> kSuspects{{
    {Cause::power_cap, "power_cap", Sense::same, 0.01,
     [](const PowerUpdate& u) { return raw(u.power_limit); }},
    {Cause::clock, "clock", Sense::same, 0.01, [](const PowerUpdate& u) { return u.clock_mhz; }},
    {Cause::utilisation, "utilisation", Sense::same, 0.02,
     [](const PowerUpdate& u) { return u.utilisation; }},
    {Cause::co_tenant, "co_tenant", Sense::either, 0.1, [](const PowerUpdate& u) { return u.co_tenants; }},
    {Cause::temperature, "temperature", Sense::rise, 0.02,
     [](const PowerUpdate& u) { return raw(u.temperature); }},
    {Cause::cooling, "cooling", Sense::same, 0.01, [](const PowerUpdate& u) { return u.pue; }},
    {Cause::input, "input", Sense::either, 0.02, [](const PowerUpdate& u) { return u.input_size; }},
}};

constexpr double kLeastScore = 3;
constexpr double kMostScore = 100;

std::vector<double> values_of(const std::deque<PowerUpdate>& updates, const Suspect& suspect) {
  std::vector<double> out;
  for (const auto& update : updates)
    if (const auto value = suspect.read(update); value && std::isfinite(*value)) out.push_back(*value);
  return out;
}

/// nullopt: not known on both sides of the moment, changed too little, or the wrong way.
std::optional<RankedCause> weigh(const Suspect& suspect, const std::deque<PowerUpdate>& inside,
                                 const std::deque<PowerUpdate>& outside, bool above) {
  const auto before = values_of(inside, suspect);
  const auto now = values_of(outside, suspect);
  if (before.empty() || now.empty()) return std::nullopt;
  RankedCause out;
  out.cause = suspect.cause;
  out.before = median(std::span{before});
  out.now = median(std::span{now});
  const double change = out.now - out.before;
  const double scatter =
      std::max({robust_deviation(before, out.before), suspect.least * std::abs(out.before), suspect.least});
  out.score = std::min(kMostScore, std::abs(change) / scatter);
  if (out.score < kLeastScore) return std::nullopt;
  if (suspect.sense == Sense::rise && change < 0) return std::nullopt;
  if (suspect.sense == Sense::same && (change > 0) != above) return std::nullopt;
  for (const auto* side : {&inside, &outside})
    for (const auto& update : *side)
      if (const auto value = suspect.read(update)) out.evidence.push_back({update.at, *value});
  std::stable_sort(out.evidence.begin(), out.evidence.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
  return out;
}

void remember(std::deque<PowerUpdate>& updates, const PowerUpdate& update) {
  updates.push_back(update);
  if (updates.size() > AnomalyDetector::kRemembered) updates.pop_front();
}

}  // namespace

std::string_view to_string(Cause cause) {
  const auto found =
      std::find_if(kSuspects.begin(), kSuspects.end(), [&](const auto& s) { return s.cause == cause; });
  return found == kSuspects.end() ? "unknown" : found->name;
}

std::optional<Anomaly> AnomalyDetector::observe(const PowerUpdate& update) {
  const bool above = update.power > update.high;
  const bool below = update.power < update.low;
  if (!above && !below) {
    outside_.clear();
    outside_count_ = 0;
    remember(inside_, update);
    return std::nullopt;
  }
  const bool was_above = !outside_.empty() && outside_.back().power > outside_.back().high;
  if (!outside_.empty() && was_above != above) {
    outside_.clear();
    outside_count_ = 0;
  }
  if (outside_count_ == 0) since_ = update.at;
  remember(outside_, update);
  ++outside_count_;
  if (outside_count_ < kUpdatesOutside) return std::nullopt;

  Anomaly out{since_, above, outside_count_, 0, {}};
  for (const auto& one : outside_) {
    const Watts middle = (one.low + one.high) / 2;
    if (middle.value() > 0) out.excess += (one.power / middle - 1) / static_cast<double>(outside_.size());
  }
  for (const auto& suspect : kSuspects)
    if (auto cause = weigh(suspect, inside_, outside_, above)) out.causes.push_back(*std::move(cause));
  std::stable_sort(out.causes.begin(), out.causes.end(),
                   [](const auto& a, const auto& b) { return a.score > b.score; });
  return out;
}

}  // namespace tidewatt::tasks
