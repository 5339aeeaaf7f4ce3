// kube-apiserver asks about objects before it keeps them. Nothing is written here, so a dry run needs no
// care.
#include "tidewatt/k8s_json/admission.h"

#include "handlers.h"

namespace tidewatt::api {
namespace {

net::Response review_answer(std::string body) {
  net::Response response;
  response.headers["content-type"] = "application/json";
  response.body = std::move(body);
  return response;
}

}  // namespace

net::Response post_admission_mutate(Core& core, const Call& call) {
  const auto request = k8s_json::read_admission_review(call.request.body);
  if (!request) return problem_answer("invalid_body", request.error().to_string());
  const auto changes = k8s::changes_of(*request, core.options.kubernetes.admission, core.clock.utc_now());
  return review_answer(k8s_json::mutate_answer(*request, changes));
}

net::Response post_admission_validate(Core& core, const Call& call) {
  const auto request = k8s_json::read_admission_review(call.request.body);
  if (!request) return problem_answer("invalid_body", request.error().to_string());
  const auto quotas = core.team_quotas();
  return review_answer(k8s_json::validate_answer(
      *request, k8s::refusal_of(*request, core.options.kubernetes.admission, *quotas)));
}

}  // namespace tidewatt::api
