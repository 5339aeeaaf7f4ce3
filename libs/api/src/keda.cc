// What KEDA's metrics-api trigger reads. A number that isn't known is null, which KEDA takes for a failure.
#include <fmt/format.h>

#include "handlers.h"
#include "policy_now.h"
#include "tidewatt/carbon/signals.h"

namespace tidewatt::api {
namespace {

void add_signal(Json& data, const std::string& zone, const SignalNow& signal) {
  data["zone"] = zone;
  data["carbon_intensity"] = signal.intensity ? Json(signal.intensity->value()) : Json(nullptr);
  data["unit"] = "gCO2e/kWh";
  data["state"] = signal.state;
  data["degraded"] = !signal.degraded_reason.empty();
  data["degraded_reason"] = signal.degraded_reason.empty() ? Json(nullptr) : Json(signal.degraded_reason);
}

}  // namespace

SignalNow signal_now(const Core& core, const std::string& zone) {
  const auto status = core.options.signals ? core.options.signals->zone(zone) : std::nullopt;
  if (!status) return {std::nullopt, fmt::format("there is no carbon zone \"{}\"", zone), "off"};
  const auto& decision = status->decision;
  return {decision.value ? std::optional{decision.value->point.intensity} : std::nullopt,
          decision.degraded_reason, std::string{to_string(decision.step)}};
}

std::optional<PolicyNow> policy_now(const Core& core, std::string_view name) {
  const auto& policies = core.options.kubernetes.policies;
  const auto found = policies.find(name);
  if (found == policies.end()) return std::nullopt;
  PolicyNow now{found->first, &found->second, signal_now(core, found->second.zone), {}};
  // What stands in for a value that a provider owes decides nothing here: the schedule does.
  const auto dependable = now.signal.degraded_reason.empty() ? now.signal.intensity : std::nullopt;
  now.wanted = k8s::wanted_replicas(*now.policy, dependable, core.clock.utc_now());
  return now;
}

std::optional<PolicyNow> asked_policy(Core& core, std::string_view name) {
  auto now = policy_now(core, name);
  auto outcome = ClusterOutcome::keda_unknown;
  if (now && now->wanted.by == k8s::WantedBy::signal) outcome = ClusterOutcome::keda_signal;
  if (now && now->wanted.by == k8s::WantedBy::schedule) outcome = ClusterOutcome::keda_schedule;
  if (now && now->wanted.by == k8s::WantedBy::nothing) outcome = ClusterOutcome::keda_nothing;
  core.metrics.cluster.count(outcome);
  return now;
}

net::Response get_carbon_intensity(Core& core, const Call& call) {
  const auto region = call.parameter("region");
  if (region.empty())
    return problem_answer("invalid_request", "region is missing: give one, like ?region=us-west");
  const auto zone = core.cluster_view()->carbon_zone(region);
  if (!zone)
    return problem_answer("not_found",
                          fmt::format("region \"{}\" is neither in kubernetes.zones nor a carbon "
                                      "zone: see /api/v1/carbon/zones",
                                      region));
  Json data{{"region", region}};
  add_signal(data, *zone, signal_now(core, *zone));
  data["at"] = time(core.clock.utc_now());
  return json_answer(200, Json{{"data", std::move(data)}});
}

net::Response get_keda_replicas(Core& core, const Call& call) {
  const Timed timed{core.clock, core.metrics.cluster.keda};
  const auto name = call.parameter("policy");
  const auto now = asked_policy(core, name);
  if (!now)
    return problem_answer("not_found",
                          fmt::format("there is no policy \"{}\": set it in keda.policies", name));
  Json data{{"policy", now->name},
            {"replicas", now->wanted.replicas},
            {"min", now->policy->min},
            {"max", now->policy->max()},
            {"by", k8s::to_string(now->wanted.by)}};
  add_signal(data, now->policy->zone, now->signal);
  data["at"] = time(core.clock.utc_now());
  return json_answer(200, Json{{"data", std::move(data)}});
}

}  // namespace tidewatt::api
