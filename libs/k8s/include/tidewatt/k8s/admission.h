// What happens to an object on its way into a cluster: which pods are held at a gate, and who is refused.
// Rules in words: docs/operate/kubernetes.md.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/k8s/tolerance.h"
#include "tidewatt/units/quantity.h"

namespace tidewatt::k8s {

inline constexpr std::string_view kCleanWindowGate = "tidewatt.io/clean-window";
/// When the gate is to be opened whatever the signal says; RFC 3339.
inline constexpr std::string_view kLatestStartAnnotation = "tidewatt.io/latest-start";

/// What a pod says of what it will take: kWh in all, or watts for estimated-duration-hours (8).
inline constexpr std::string_view kEstimatedEnergyAnnotation = "tidewatt.io/estimated-energy-kwh";
inline constexpr std::string_view kEstimatedPowerAnnotation = "tidewatt.io/estimated-power-watts";
inline constexpr std::string_view kConstrainedLabel = "carbon-budget-constrained";

/// What the rules look at in a pod, or in the template of a Job's pods.
struct PodFacts {
  bool has_labels = false;  ///< metadata.labels is there, if empty
  bool has_annotations = false;
  bool has_gates = false;            ///< spec.schedulingGates is there, if empty
  std::optional<std::string> label;  ///< the tolerance label with our prefix
  std::string tolerance;             ///< as the labels say it, the prefixed one first; empty = not at all
  std::string team = "default";
  bool of_job = false;    ///< its controller is a batch Job
  bool has_node = false;  ///< bound already: such a pod may have no gate
  bool gated = false;     ///< our gate is there
  bool has_latest_start = false;
  std::string uid;                   ///< metadata.uid; empty = none yet
  std::optional<double> energy_kwh;  ///< as its annotations say; nullopt = they don't
  std::string priority;              ///< critical | high | normal | low; empty = not said
};

enum class ObjectKind : std::uint8_t { pod, job, other };

struct AdmissionRequest {
  std::string uid;
  ObjectKind kind = ObjectKind::other;
  std::string sub_resource;  ///< "ephemeralcontainers", "status", ...; empty = the object itself
  std::string name;          ///< empty with generateName
  std::string name_space;
  std::string operation;  ///< CREATE | UPDATE | DELETE | CONNECT
  bool dry_run = false;
  PodFacts pod;  ///< of pods and jobs
};

struct AdmissionRules {
  /// Never touched and never refused: the cluster's own, and ours.
  std::set<std::string, std::less<>> untouched{"kube-system", "kube-public", "kube-node-lease", "tidewatt"};
  /// Of a Job's pods that say nothing.
  Tolerance default_tolerance = Tolerance::immediate;
};

struct PodChanges {
  std::optional<Tolerance> label;       ///< to be written with our prefix
  std::optional<UtcTime> latest_start;  ///< to be annotated
  bool gate = false;                    ///< to be added
  bool constrained = false;  ///< to be labelled: low priority of a team whose carbon budget is nearly used
  std::vector<std::string> warnings;
  [[nodiscard]] bool none() const { return !label && !latest_start && !gate && !constrained; }
};

/// Pods of Jobs that may wait get the gate, and what those who open it must know. What is there already
/// stays, so asking again about the changed pod changes nothing. Whether the namespace opted in is the
/// webhook's namespaceSelector's business: a review doesn't tell the namespace's labels.
/// @param constrained  the team's carbon budget is nearly used and the pod is of low priority: it waits a
/// week, where it may wait at all
PodChanges changes_of(const AdmissionRequest& request, const AdmissionRules& rules, UtcTime now,
                      bool constrained = false);

/// A pod or Job that comes new into a namespace that isn't left alone.
bool asks_for_new_work(const AdmissionRequest& request, const AdmissionRules& rules);

/// A team's energy of this month against what it may use.
struct TeamQuota {
  WattHours most{0};
  std::optional<WattHours> used;  ///< nullopt = not known now
};
using TeamQuotas = std::map<std::string, TeamQuota, std::less<>>;

/// Refuses new pods and Jobs of a team whose quota is used up. Nothing is charged or reserved: a dry run is
/// answered as the real one.
/// @return why not; nullopt = allowed, also where there is no quota or what was used isn't known
std::optional<std::string> refusal_of(const AdmissionRequest& request, const AdmissionRules& rules,
                                      const TeamQuotas& quotas);

}  // namespace tidewatt::k8s
