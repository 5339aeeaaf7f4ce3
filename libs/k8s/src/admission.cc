#include "tidewatt/k8s/admission.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidewatt::k8s {
namespace {

constexpr std::size_t kLongestShown = 63;  ///< a label's value can't be longer

bool is_new_object(const AdmissionRequest& request, const AdmissionRules& rules) {
  return request.operation == "CREATE" && request.sub_resource.empty() &&
         !rules.untouched.contains(request.name_space);
}

}  // namespace

bool asks_for_new_work(const AdmissionRequest& request, const AdmissionRules& rules) {
  return request.kind != ObjectKind::other && is_new_object(request, rules);
}

PodChanges changes_of(const AdmissionRequest& request, const AdmissionRules& rules, UtcTime now,
                      bool constrained) {
  PodChanges changes;
  const auto& pod = request.pod;
  changes.constrained = constrained && request.kind == ObjectKind::pod && is_new_object(request, rules);
  if (request.kind != ObjectKind::pod || !is_new_object(request, rules) || !pod.of_job || pod.has_node)
    return changes;
  auto tolerance = tolerance_from(pod.tolerance);
  if (!tolerance && !pod.tolerance.empty()) {
    changes.warnings.push_back(
        fmt::format("tidewatt: carbon-tolerance \"{}\" is none of immediate, daily, weekly, monthly",
                    pod.tolerance.substr(0, kLongestShown)));
    return changes;
  }
  if (!tolerance) tolerance = rules.default_tolerance;
  // Who says "immediate" is never delayed, whatever the budget.
  const bool says_immediate = !pod.tolerance.empty() && *tolerance == Tolerance::immediate;
  if (changes.constrained && !pod.label && !says_immediate)
    tolerance = std::max(*tolerance, Tolerance::weekly);
  if (*tolerance == Tolerance::immediate) return changes;
  if (!pod.label) changes.label = tolerance;
  if (!pod.has_latest_start) changes.latest_start = now + slack_of(*tolerance);
  changes.gate = !pod.gated;
  return changes;
}

std::optional<std::string> refusal_of(const AdmissionRequest& request, const AdmissionRules& rules,
                                      const TeamQuotas& quotas) {
  if (!asks_for_new_work(request, rules)) return std::nullopt;
  const auto quota = quotas.find(request.pod.team);
  if (quota == quotas.end() || !quota->second.used || *quota->second.used < quota->second.most)
    return std::nullopt;
  return fmt::format(
      "team \"{}\" has used {:.1f} kWh of its {:.1f} kWh this month: wait for the next month, or ask an "
      "operator for a larger quota",
      request.pod.team, quota->second.used->value() / kPerKilo, quota->second.most.value() / kPerKilo);
}

}  // namespace tidewatt::k8s
