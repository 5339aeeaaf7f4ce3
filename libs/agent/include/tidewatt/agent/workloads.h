// Who holds this node's devices now, and whose its CPU time was.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tidewatt/agent/cgroup_tree.h"
#include "tidewatt/attribution/cpu_time.h"
#include "tidewatt/attribution/device_holding.h"
#include "tidewatt/attribution/relabel.h"
#include "tidewatt/base/clock.h"
#include "tidewatt/base/file_system.h"
#include "tidewatt/metering/reading.h"

namespace tidewatt::agent {

struct AttributionSettings {
  bool holders = true;  ///< the processes of devices
  std::optional<attribution::CpuPolicy> cpu = attribution::CpuPolicy::proportional;  ///< nullopt = off
  std::string cgroup_root = "/sys/fs/cgroup";
  attribution::Relabel relabel;

  [[nodiscard]] bool on() const { return holders || cpu.has_value(); }
};

/// What one look found, for people who watch the agent.
struct WorkloadStats {
  std::uint64_t cgroups = 0;            ///< walked
  std::uint64_t tasks = 0;              ///< told with the CPU's energy
  std::uint64_t unknown_shapes = 0;     ///< cgroups named by their path only
  std::uint64_t unknown_processes = 0;  ///< on devices, and nobody could say whose
  std::uint64_t unreadable = 0;         ///< cgroups without a counter
  bool cut_short = false;               ///< limits were reached: what wasn't seen is unattributed
  std::string trouble;                  ///< why CPU time isn't attributed; empty when it is
};

struct Workloads {
  struct OnDevice {
    std::string domain;
    int index = 0;
    std::string uuid;
    attribution::DeviceHolding holding;
  };
  std::vector<OnDevice> devices;
  std::optional<attribution::DeviceHolding> cpu;  ///< of each package; nullopt = not known for this interval
  WorkloadStats stats;

  /// Gives each device its holders, where its source told none. Simulated devices have no real holders.
  void apply(std::vector<DeviceSample>& samples) const;
};

/// Looks once a beat; remembers the counters of the look before. Not thread-safe.
class WorkloadScanner {
 public:
  WorkloadScanner(std::shared_ptr<const FileSystem> files, std::shared_ptr<const Clock> clock,
                  AttributionSettings settings);

  /// @param devices  the latest readings, with the processes that they list
  Workloads look(const std::vector<metering::Reading>& devices);

 private:
  void look_at_devices(const std::vector<metering::Reading>& devices, Workloads& out);
  void look_at_cpu(Workloads& out);
  attribution::DeviceHolding cpu_holding(const attribution::CpuInterval& interval, WorkloadStats& stats);
  [[nodiscard]] bool is_worth_telling(const std::string& task, std::int64_t share);
  std::optional<attribution::Workload> workload_of(std::int64_t pid, SteadyTime listed_at);
  [[nodiscard]] std::optional<std::string> slurm_job_of(std::int64_t pid) const;
  void name_by_job(attribution::Workload& workload, std::optional<std::int64_t> pid,
                   const std::string& folder);
  [[nodiscard]] bool pids_are_the_hosts() const;
  void note_unknown(const std::vector<std::string>& paths);

  std::shared_ptr<const FileSystem> files_;
  std::shared_ptr<const Clock> clock_;
  AttributionSettings settings_;
  attribution::CpuMeter meter_;
  std::uint64_t looks_ = 0;
  /// Services and sessions that used time, by the look that last saw it; always-told workloads aren't here.
  std::map<std::string, std::uint64_t, std::less<>> awake_;
  std::map<std::string, attribution::WorkloadKind, std::less<>> kinds_;  // of this look
  /// Jobs of Slurm's newer folders, which are named by another id.
  std::map<std::string, std::string, std::less<>> job_of_sluid_;
  std::set<std::string, std::less<>> told_unknown_;  // in the log, bounded
  bool told_namespace_ = false;
};

}  // namespace tidewatt::agent
