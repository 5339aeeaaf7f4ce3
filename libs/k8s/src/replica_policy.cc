#include "tidewatt/k8s/replica_policy.h"

#include <fmt/format.h>

#include <algorithm>

#include "tidewatt/k8s/hpa.h"
#include "tidewatt/units/text.h"

namespace tidewatt::k8s {
namespace {

constexpr std::int64_t kMostReplicas = 100'000;
constexpr double kMostStepGrams = 5'000;
constexpr std::size_t kMostParts = 64;
constexpr int kDayHours = 24;

tl::unexpected<Error> refuse(std::string why) { return fail(ErrorCode::invalid_input, std::move(why)); }

std::vector<std::string_view> parts_of(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = std::min(text.find(by), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::pair<std::string_view, std::string_view> halves(std::string_view text, char by) {
  const auto at = text.find(by);
  if (at == std::string_view::npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + 1)};
}

Result<int> replicas_in(std::string_view text, std::string_view where) {
  const auto number = parse_int64(text);
  if (!number || *number < 0 || *number > kMostReplicas)
    return refuse(
        fmt::format("\"{}\": \"{}\" is no number of replicas from 0 to {}", where, text, kMostReplicas));
  return static_cast<int>(*number);
}

Result<std::vector<ReplicaStep>> steps_in(std::string_view text) {
  std::vector<ReplicaStep> steps;
  const auto parts = parts_of(text, ',');
  if (parts.size() > kMostParts) return refuse(fmt::format("steps has more than {} parts", kMostParts));
  for (const auto part : parts) {
    const auto [grams_text, replicas_text] = halves(part, ':');
    const auto grams = parse_double(grams_text);
    if (!grams || *grams < 0 || *grams > kMostStepGrams)
      return refuse(fmt::format("\"{}\" is no INTENSITY:REPLICAS, like 250:10", part));
    TW_TRY(const int replicas, replicas_in(replicas_text, part));
    steps.push_back({GramsPerKwh{*grams}, replicas});
  }
  return steps;
}

Result<std::vector<ReplicaHours>> schedule_in(std::string_view text) {
  std::vector<ReplicaHours> schedule;
  const auto parts = parts_of(text, ',');
  if (parts.size() > kMostParts) return refuse(fmt::format("schedule has more than {} parts", kMostParts));
  for (const auto part : parts) {
    const auto [hours, replicas_text] = halves(part, ':');
    const auto [from_text, to_text] = halves(hours, '-');
    const auto from = parse_int64(from_text);
    const auto to = parse_int64(to_text);
    if (!from || !to || *from < 0 || *to > kDayHours || *from >= *to)
      return refuse(fmt::format("\"{}\" is no HOUR-HOUR:REPLICAS within 0-24 (UTC), like 22-24:20", part));
    TW_TRY(const int replicas, replicas_in(replicas_text, part));
    schedule.push_back({static_cast<int>(*from), static_cast<int>(*to), replicas});
  }
  return schedule;
}

/// Two neighbours must be far enough apart for the autoscaler to go from either to the other.
Status check_step(int more, int fewer) {
  if (fewer >= more)
    return refuse(
        fmt::format("steps go from {} to {} replicas: they must fall as the intensity rises", more, fewer));
  if (hpa_ignores(more, fewer) || hpa_ignores(fewer, more))
    return refuse(
        fmt::format("the step between {} and {} replicas is within the autoscaler's tolerance of 10 %: "
                    "it would never be taken",
                    more, fewer));
  return {};
}

Status check(const ReplicaPolicy& policy) {
  if (policy.zone.empty()) return refuse("zone= is missing");
  if (policy.steps.empty()) return refuse("steps= is missing, like steps=150:20,250:10");
  for (std::size_t i = 1; i < policy.steps.size(); ++i) {
    const auto& [lower, more] = policy.steps[i - 1];
    const auto& [higher, fewer] = policy.steps[i];
    if (higher <= lower)
      return refuse(fmt::format("steps have {} behind {} g/kWh: intensities must rise",
                                format_double(higher.value()), format_double(lower.value())));
    TW_TRY_STATUS(check_step(more, fewer));
  }
  TW_TRY_STATUS(check_step(policy.steps.back().replicas, policy.min));
  for (const auto& hours : policy.schedule)
    if (hours.replicas < std::max(policy.min, 1) || hours.replicas > policy.max())
      return refuse(fmt::format("schedule has {} replicas: without a signal they stay in {} to {}",
                                hours.replicas, std::max(policy.min, 1), policy.max()));
  auto by_hour = policy.schedule;
  std::sort(by_hour.begin(), by_hour.end(), [](const auto& a, const auto& b) { return a.from < b.from; });
  for (std::size_t i = 1; i < by_hour.size(); ++i)
    if (by_hour[i].from < by_hour[i - 1].to)
      return refuse(fmt::format("schedule has {}-{} twice", by_hour[i].from,
                                std::min(by_hour[i].to, by_hour[i - 1].to)));
  return {};
}

}  // namespace

std::string_view to_string(WantedBy by) {
  switch (by) {
    case WantedBy::signal:
      return "signal";
    case WantedBy::schedule:
      return "schedule";
    case WantedBy::nothing:
      break;
  }
  return "nothing";
}

Result<ReplicaPolicy> parse_replica_policy(std::string_view text) {
  ReplicaPolicy policy;
  for (const auto word : parts_of(text, ' ')) {
    const auto [key, value] = halves(word, '=');
    if (key == "zone") {
      policy.zone = std::string{value};
    } else if (key == "min") {
      TW_TRY(policy.min, replicas_in(value, word));
    } else if (key == "steps") {
      TW_TRY(policy.steps, steps_in(value));
    } else if (key == "schedule") {
      TW_TRY(policy.schedule, schedule_in(value));
    } else {
      return refuse(fmt::format("\"{}\" is unknown (known: zone=, min=, steps=, schedule=)", word));
    }
  }
  TW_TRY_STATUS(check(policy));
  return policy;
}

WantedReplicas wanted_replicas(const ReplicaPolicy& policy, std::optional<GramsPerKwh> intensity,
                               UtcTime now) {
  if (intensity) {
    const auto step = std::find_if(policy.steps.begin(), policy.steps.end(),
                                   [&](const ReplicaStep& one) { return *intensity <= one.up_to; });
    return {step == policy.steps.end() ? policy.min : step->replicas, WantedBy::signal};
  }
  const auto hour = std::chrono::floor<std::chrono::hours>(now.time_since_epoch()).count() % kDayHours;
  const auto holds = std::find_if(policy.schedule.begin(), policy.schedule.end(),
                                  [&](const ReplicaHours& one) { return one.from <= hour && hour < one.to; });
  if (holds == policy.schedule.end()) return {policy.max(), WantedBy::nothing};
  return {holds->replicas, WantedBy::schedule};
}

}  // namespace tidewatt::k8s
