// kube-apiserver asks about objects before it keeps them. An admitted pod's estimate is reserved from its
// team's carbon budget, in a dry run nothing is.
#include "tidewatt/k8s_json/admission.h"

#include <fmt/format.h>

#include "handlers.h"
#include "market_view.h"
#include "tidewatt/base/log.h"

namespace tidewatt::api {
namespace {

net::Response review_answer(std::string body) {
  net::Response response;
  response.headers["content-type"] = "application/json";
  response.body = std::move(body);
  return response;
}

/// As agents name a pod's task.
market::Admit admit_of(const Core& core, const k8s::AdmissionRequest& request) {
  market::Admit ask;
  ask.team = request.pod.team;
  if (request.kind == k8s::ObjectKind::pod && !request.pod.uid.empty())
    ask.task = core.options.kubernetes.cluster + "/pod/" + request.pod.uid;
  // A Job is only looked at: its pods are what is charged.
  if (request.kind == k8s::ObjectKind::pod && request.pod.energy_kwh)
    ask.estimate = carbon_of_kwh(core, *request.pod.energy_kwh);
  ask.priority = priority_from(request.pod.priority).value_or(market::Priority::normal);
  return ask;
}

/// nullopt: nobody is held to a budget here, or it can't be looked at.
std::optional<market::Admission> carbon_admission(Core& core, const k8s::AdmissionRequest& request,
                                                  bool dry_run) {
  if (!k8s::asks_for_new_work(request, core.options.kubernetes.admission) || !knows_carbon(core))
    return std::nullopt;
  const auto ask = admit_of(core, request);
  const auto answer = core.market->admit({"k8s/" + request.uid, "kube-apiserver", ask}, core.clock.utc_now(),
                                         dry_run || request.dry_run);
  if (answer) return *answer;
  log::warning("a pod is admitted without a look at its team's carbon budget",
               {{"team", ask.team}, {"error", answer.error().to_string()}});
  return std::nullopt;
}

ClusterOutcome outcome_of(const k8s::PodChanges& changes) {
  if (changes.gate) return ClusterOutcome::mutate_held;
  return changes.none() ? ClusterOutcome::mutate_unchanged : ClusterOutcome::mutate_changed;
}

}  // namespace

net::Response post_admission_mutate(Core& core, const Call& call) {
  auto& counts = core.metrics.cluster;
  const Timed timed{core.clock, counts.admission};
  const auto request = k8s_json::read_admission_review(call.request.body);
  if (!request) {
    counts.count(ClusterOutcome::mutate_invalid);
    return problem_answer("invalid_body", request.error().to_string());
  }
  const auto look = carbon_admission(core, *request, true);
  const auto changes = k8s::changes_of(*request, core.options.kubernetes.admission, core.clock.utc_now(),
                                       look && look->decision.constrained);
  counts.count(outcome_of(changes));
  return review_answer(k8s_json::mutate_answer(*request, changes));
}

net::Response post_admission_validate(Core& core, const Call& call) {
  auto& counts = core.metrics.cluster;
  const Timed timed{core.clock, counts.admission};
  const auto request = k8s_json::read_admission_review(call.request.body);
  if (!request) {
    counts.count(ClusterOutcome::validate_invalid);
    return problem_answer("invalid_body", request.error().to_string());
  }
  const auto quotas = core.team_quotas();
  auto refusal = k8s::refusal_of(*request, core.options.kubernetes.admission, *quotas);
  auto outcome = refusal ? ClusterOutcome::validate_quota : ClusterOutcome::validate_allowed;
  if (!refusal)
    if (const auto look = carbon_admission(core, *request, false); look && !look->decision.allowed) {
      refusal = advice_of(admit_of(core, *request), look->decision);
      outcome = ClusterOutcome::validate_budget;
    }
  counts.count(outcome);
  return review_answer(k8s_json::validate_answer(*request, refusal));
}

}  // namespace tidewatt::api
