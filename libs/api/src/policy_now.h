// A replica policy against its zone's signal as it stands now.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core.h"
#include "tidewatt/k8s/replica_policy.h"

namespace tidewatt::api {

struct SignalNow {
  std::optional<GramsPerKwh> intensity;  ///< also of a stand-in
  std::string degraded_reason;           ///< empty = all is well
  std::string state;
};
SignalNow signal_now(const Core& core, const std::string& zone);

struct PolicyNow {
  std::string_view name;
  const k8s::ReplicaPolicy* policy;
  SignalNow signal;
  k8s::WantedReplicas wanted;
};
/// nullopt = there is no such policy
std::optional<PolicyNow> policy_now(const Core& core, std::string_view name);
/// The same for a scaler, counted.
std::optional<PolicyNow> asked_policy(Core& core, std::string_view name);

}  // namespace tidewatt::api
