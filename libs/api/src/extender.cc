// kube-scheduler asks which nodes may take a pod, and which are the better ones.
#include "tidewatt/k8s_json/extender.h"
#include "handlers.h"

namespace tidewatt::api {
namespace {

/// Its buffers are reused from request to request.
k8s_json::ExtenderReader& extender_reader() {
  thread_local k8s_json::ExtenderReader reader;
  return reader;
}

net::Response extender_answer(std::string body) {
  net::Response response;
  response.headers["content-type"] = "application/json";
  response.body = std::move(body);
  return response;
}

}  // namespace

net::Response post_extender_filter(Core& core, const Call& call) {
  const Timed timed{core.clock, core.metrics.cluster.extender};
  const auto args = extender_reader().read(call.request.body);
  core.metrics.cluster.count(args ? ClusterOutcome::filter_answered : ClusterOutcome::filter_invalid);
  if (!args) return problem_answer("invalid_body", args.error().to_string());
  const auto view = core.cluster_view();
  std::vector<std::optional<std::string>> refusals;
  refusals.reserve(args->nodes.size());
  for (const auto& node : args->nodes) refusals.push_back(view->refusal(node.name));
  return extender_answer(k8s_json::filter_answer(*args, refusals));
}

net::Response post_extender_prioritize(Core& core, const Call& call) {
  const Timed timed{core.clock, core.metrics.cluster.extender};
  const auto args = extender_reader().read(call.request.body);
  core.metrics.cluster.count(args ? ClusterOutcome::prioritize_answered : ClusterOutcome::prioritize_invalid);
  if (!args) return problem_answer("invalid_body", args.error().to_string());
  const auto view = core.cluster_view();
  std::vector<k8s::Candidate> candidates;
  candidates.reserve(args->nodes.size());
  for (const auto& node : args->nodes) candidates.push_back(view->candidate(node.name, node.place));
  const auto points = k8s::scores(candidates, core.options.kubernetes.scores, args->tolerance);
  return extender_answer(k8s_json::prioritize_answer(*args, points));
}

}  // namespace tidewatt::api
