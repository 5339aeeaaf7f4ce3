// The collections that hold, or held, something, and where their objects are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kube_api.h"
#include "tidewatt/k8s_json/held.h"

namespace tidewatt::cli {

struct Collection {
  k8s::ObjectKind kind = k8s::ObjectKind::pod;
  std::string path;      ///< "/api/v1/pods"
  std::string selector;  ///< "labelSelector=a%3Db"; may be empty
  std::string what;      ///< for messages
  bool holds = false;    ///< what is held is in it
};

std::vector<Collection> held_collections();
/// "/api/v1/namespaces/a/pods/b"
std::string object_path(const k8s::Held& held);

/// What the server said instead, and how long it asks to be left alone.
struct KubeFailure {
  std::string what;
  std::optional<Milliseconds> retry_after;
};
KubeFailure failure_of(const net::Response& answer);

/// All pages. Where they become too old on the way, they are begun anew once.
/// @error also when there are more objects than any cluster has
Result<k8s_json::HeldList> list_held(KubeApi& api, const Collection& collection,
                                     std::optional<Milliseconds>* retry_after = nullptr);

}  // namespace tidewatt::cli
