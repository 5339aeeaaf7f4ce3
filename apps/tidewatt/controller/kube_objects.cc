#include "kube_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "../server_access.h"
#include "tidewatt/k8s/watch.h"

namespace tidewatt::cli {
namespace {

constexpr int kPageSize = 500;
constexpr std::size_t kMostObjects = 200'000;
constexpr int kPagesTooOld = 410;

}  // namespace

std::vector<Collection> held_collections() {
  return {
      {k8s::ObjectKind::pod, "/api/v1/pods", "fieldSelector=spec.nodeName%3D", "pods without a node", true},
      {k8s::ObjectKind::pod, "/api/v1/pods", "labelSelector=tidewatt.io%2Fopened", "pods that were let go",
       false},
      {k8s::ObjectKind::job, "/apis/batch/v1/jobs", "labelSelector=tidewatt.io%2Fcarbon-tolerance",
       "Jobs with a tolerance", true}};
}

std::string object_path(const k8s::Held& held) {
  const bool job = held.kind == k8s::ObjectKind::job;
  return fmt::format("{}/namespaces/{}/{}/{}", job ? "/apis/batch/v1" : "/api/v1",
                     encode_component(held.name_space), job ? "jobs" : "pods", encode_component(held.name));
}

KubeFailure failure_of(const net::Response& answer) {
  KubeFailure failure{k8s_json::status_message(answer.status, answer.body), {}};
  if (const auto header = answer.headers.find("retry-after"); header != answer.headers.end())
    failure.retry_after = k8s::retry_after_of(header->second);
  return failure;
}

Result<k8s_json::HeldList> list_held(KubeApi& api, const Collection& collection,
                                     std::optional<Milliseconds>* retry_after) {
  k8s_json::HeldList all;
  std::string next;
  for (bool begun_anew = false;;) {
    auto path = fmt::format("{}?limit={}", collection.path, kPageSize);
    if (!collection.selector.empty()) path += "&" + collection.selector;
    if (!next.empty()) path += "&continue=" + encode_component(next);
    TW_TRY(const auto answer, api.ask("GET", path));
    if (answer.status == kPagesTooOld && !next.empty() && !begun_anew) {
      begun_anew = true;
      all.items.clear();
      next.clear();
      continue;
    }
    if (answer.status != 200) {
      const auto failure = failure_of(answer);
      if (retry_after != nullptr) *retry_after = failure.retry_after;
      return fail(ErrorCode::unavailable, failure.what);
    }
    TW_TRY(auto page, k8s_json::read_held_list(collection.kind, answer.body));
    std::move(page.items.begin(), page.items.end(), std::back_inserter(all.items));
    if (all.items.size() > kMostObjects)
      return fail(ErrorCode::invalid_input, fmt::format("more than {} objects", kMostObjects));
    next = page.next;
    if (!next.empty()) continue;
    all.resource_version = std::move(page.resource_version);
    return all;
  }
}

}  // namespace tidewatt::cli
