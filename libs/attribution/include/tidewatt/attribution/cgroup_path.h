// From the path of a cgroup to the workload that lives there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidewatt::attribution {

enum class WorkloadKind : std::uint8_t {
  pod,        ///< Kubernetes
  slurm,      ///< a job
  container,  ///< docker, containerd, cri-o, podman, lxc, outside of a pod or job
  machine,    ///< a virtual machine or systemd-nspawn container
  user,       ///< all that a person logged in runs
  unit,       ///< a systemd service or scope
  unknown,    ///< no shape that we know: named by its path, and to be counted
};
std::string_view to_string(WorkloadKind kind);

/// Who lives in a cgroup. Task ids (docs/method/attribution.md):
///   pod/<uid>  slurm/<job id>  container/<id>  lxc/<name>  machine/<name>  user/<uid>  unit/<name>
///   cgroup/<path> for an unknown shape
struct Workload {
  WorkloadKind kind = WorkloadKind::unknown;
  std::string task_id;
  std::string_view shape;    ///< name of the table row that matched, "unknown" for none
  std::string account_path;  ///< the cgroup whose counters are this workload's: the pod's, the job's, ...
  /// What else the path says: pod_uid, container_id, runtime, slurm_job, slurm_sluid, slurm_step, unit, user.
  std::vector<std::pair<std::string, std::string>> labels;

  [[nodiscard]] const std::string* label(std::string_view name) const;
};

/// @param path  from the root of the hierarchy: "/kubepods/burstable/pod.../..."
/// @return nullopt for what only groups others: "/", "/system.slice", "/kubepods/burstable"
///
/// Pods and jobs win over containers, these over users and units; among equals the deepest wins (a kubelet
/// that itself runs in a container).
std::optional<Workload> workload_of_path(std::string_view path);

/// @param text  /proc/PID/cgroup: cgroup v1, v2 or both. The line that says most wins, of equal ones that of
///              CPU time
std::optional<Workload> workload_of_process(std::string_view text);

}  // namespace tidewatt::attribution
