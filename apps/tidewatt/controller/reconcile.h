// What the leader does about what the watches know: lets go what is due, writes plans, events and accounts.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "controller_metrics.h"
#include "held_cache.h"
#include "kube_api.h"
#include "leader.h"
#include "server_desk.h"
#include "tidewatt/base/clock.h"
#include "tidewatt/base/rng.h"

namespace tidewatt::cli {

struct ReconcileOptions {
  std::string zone;                          ///< carbon zone of what asks for no place; empty = none
  std::map<std::string, std::string> zones;  ///< topology zone or region -> carbon zone
  std::string identity;
  Milliseconds settle = std::chrono::minutes{2};  ///< after an end, until its last beats are booked
  Milliseconds account_within = std::chrono::hours{1};
};

class Reconciler {
 public:
  /// @param api  its deadline is shorter than what the Lease allows a write
  Reconciler(KubeApi& api, HeldCache& cache, const Leader& leader, ServerDesk& desk, ReconcileOptions options,
             ControllerCounts& counts, Clock& clock, Rng& random);
  /// One look at everything. @return when to look again at the latest
  Milliseconds pass();

 private:
  struct Later {
    SteadyTime due;
    unsigned failures = 0;
  };
  struct Planned {
    std::uint64_t serial = 0;
    k8s::PlannedStart start;
  };

  void count(const std::vector<k8s::Held>& all);
  void look_at(const k8s::Held& held);
  void look_at_held(const k8s::Held& held);
  void look_at_opened(const k8s::Held& held);
  void account(const k8s::Held& held);
  std::optional<k8s::PlannedStart> planned_for(const k8s::Held& held);
  std::string zone_of(const k8s::Held& held) const;
  /// @return it went through
  bool patch(const k8s::Held& held, const std::string& json, const char* doing);
  void refresh(const k8s::Held& held);
  void tell(const k8s::Held& held, std::string_view reason, const std::string& message);
  void failed(const k8s::Held& held, const Result<net::Response>& answer, const char* doing);
  void forget_absent(const std::vector<k8s::Held>& all);

  KubeApi& api_;
  HeldCache& cache_;
  const Leader& leader_;
  ServerDesk& desk_;
  ReconcileOptions options_;
  ControllerCounts& counts_;
  Clock& clock_;
  Rng& random_;
  std::map<std::string, Planned> plans_;
  std::map<std::string, Later> later_;  ///< by uid: after a failure
  std::set<std::string> opened_;        ///< uids: an older state of them may still come in
  std::set<std::string> opened_jobs_;   ///< uids of Jobs that bear our label
  std::set<std::string> looked_at_;     ///< uids in this pass: two watches may know the same pod
  std::set<std::string> told_;          ///< uid/reason
  SteadyTime not_before_;               ///< the server asked for patience
  Milliseconds next_{0};
};

}  // namespace tidewatt::cli
