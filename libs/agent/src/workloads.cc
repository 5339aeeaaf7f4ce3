#include "tidewatt/agent/workloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tidewatt/agent/node.h"
#include "tidewatt/attribution/process.h"
#include "tidewatt/base/log.h"
#include "tidewatt/units/text.h"

namespace tidewatt::agent {
namespace {

using attribution::CpuInterval;
using attribution::DeviceHolding;
using attribution::Microseconds;
using attribution::Workload;
using attribution::WorkloadKind;

constexpr std::size_t kSmallFile = 65'536;
constexpr std::size_t kEnvironment = 1U << 20U;
constexpr std::size_t kMostProcesses = 1'024;       ///< of one device
constexpr std::size_t kMostHolders = 200;           ///< of one device; the server takes 256
constexpr std::int64_t kShareUnit = 1'000'000'000;  ///< the ledger's: shares travel without a loss
/// A service is told while it used a thousandth of the node within the last looks.
constexpr std::int64_t kLeastShare = kShareUnit / 1'000;
constexpr std::uint64_t kAwakeLooks = 30;
constexpr std::size_t kMostUnknownInLog = 20;
constexpr std::size_t kMostRememberedJobs = 4'096;
constexpr Milliseconds kTick{10};
constexpr Microseconds kMicrosecondsPerTick = 10'000;
constexpr std::string_view kMpsServer = "nvidia-cuda-mps";  ///< as the kernel cuts it to 15 bytes
constexpr std::string_view kSlurmDaemon = "slurmd.service";

/// Pods, jobs, containers and machines are told even while they do nothing.
bool is_always_told(WorkloadKind kind) {
  return kind == WorkloadKind::pod || kind == WorkloadKind::slurm || kind == WorkloadKind::container ||
         kind == WorkloadKind::machine;
}

// Where Slurm uses no cgroups its jobs run in slurmd's own. Anywhere else the environment is a claim that any
// user can make, and another's job would be charged.
bool may_be_a_job_without_cgroup(const std::optional<Workload>& workload) {
  if (!workload) return true;
  const auto* unit = workload->label("unit");
  return unit != nullptr && *unit == kSlurmDaemon;
}

double as_share(std::int64_t parts) { return static_cast<double>(parts) / static_cast<double>(kShareUnit); }

bool same_device(const Workloads::OnDevice& device, const DeviceSample& sample) {
  if (device.domain != sample.domain) return false;
  if (!device.uuid.empty() || !sample.uuid.empty()) return device.uuid == sample.uuid;
  return device.index == sample.index;
}

void give(DeviceSample& sample, const DeviceHolding& holding) {
  sample.holders = holding.holders;
  sample.unheld = holding.unheld;
}

}  // namespace

void Workloads::apply(std::vector<DeviceSample>& samples) const {
  for (auto& sample : samples) {
    if (!sample.holders.empty() || sample.quality != Quality::measured) continue;
    if (cpu && sample.domain == kDomainCpuPackage) give(sample, *cpu);
    for (const auto& device : devices)
      if (same_device(device, sample)) give(sample, device.holding);
  }
}

WorkloadScanner::WorkloadScanner(std::shared_ptr<const FileSystem> files, std::shared_ptr<const Clock> clock,
                                 AttributionSettings settings)
    : files_(std::move(files)), clock_(std::move(clock)), settings_(std::move(settings)) {}

Workloads WorkloadScanner::look(const std::vector<metering::Reading>& devices) {
  ++looks_;
  Workloads out;
  if (settings_.cpu) look_at_cpu(out);
  if (settings_.holders) look_at_devices(devices, out);
  return out;
}

// -- devices

void WorkloadScanner::look_at_devices(const std::vector<metering::Reading>& devices, Workloads& out) {
  std::map<std::int64_t, std::optional<Workload>> seen;  // a process may be on several devices
  const bool hosts = pids_are_the_hosts();
  for (const auto& device : devices) {
    if (!device.processes) continue;
    auto processes = device.processes->processes;
    if (processes.size() > kMostProcesses) out.stats.cut_short = true;
    processes.resize(std::min(processes.size(), kMostProcesses));
    std::vector<attribution::ProcessOnDevice> found;
    std::vector<attribution::ProcessOnDevice> servers;
    for (const auto& process : processes) {
      auto known = seen.find(process.pid);
      if (known == seen.end())
        known =
            seen.emplace(process.pid, hosts ? workload_of(process.pid, device.processes->at) : std::nullopt)
                .first;
      const auto& workload = known->second;
      if (!workload) ++out.stats.unknown_processes;
      if (!hosts && !std::exchange(told_namespace_, true))
        log::warning(
            "the processes on this node's devices belong to another PID namespace; whose they are is unknown",
            {{"hint", "run the agent in the host's PID namespace, or give host_root the host's /"}});
      const auto name = workload ? settings_.relabel.name_of(*workload) : std::nullopt;
      auto& list = workload && workload->label("mps_server") != nullptr ? servers : found;
      list.push_back({name.value_or(""), process.memory_used, process.compute_slices, process.instance});
    }
    // MPS's server works for its clients; without any it keeps the card open.
    if (found.empty()) found = std::move(servers);
    out.devices.push_back({device.domain, device.index, device.uuid,
                           attribution::holding_of(found, device.processes->memory_total)});
    auto& holders = out.devices.back().holding.holders;
    if (holders.size() > kMostHolders) out.stats.cut_short = true;
    holders.resize(std::min(holders.size(), kMostHolders));
  }
}

std::optional<Workload> WorkloadScanner::workload_of(std::int64_t pid, SteadyTime listed_at) {
  if (pid <= 0) return std::nullopt;
  const auto folder = fmt::format("/proc/{}", pid);
  const auto cgroup = files_->read_text(folder + "/cgroup", kSmallFile);
  if (!cgroup) return std::nullopt;
  auto workload = attribution::workload_of_process(*cgroup);
  if (may_be_a_job_without_cgroup(workload)) {
    if (auto job = slurm_job_of(pid)) {
      workload.emplace();
      workload->kind = WorkloadKind::slurm;
      workload->shape = "slurm-environment";
      workload->task_id = "slurm/" + *job;
      workload->labels.emplace_back("slurm_job", std::move(*job));
    }
  }
  if (workload) name_by_job(*workload, pid, {});
  // Read last: one that began after the driver listed this pid is another process, and all above is its.
  const auto text = files_->read_text(folder + "/stat", kSmallFile);
  const auto stat = text ? attribution::parse_process_stat(*text) : std::nullopt;
  if (!stat || attribution::started_at(*stat) > listed_at + kTick) return std::nullopt;
  if (workload && stat->name == kMpsServer) workload->labels.emplace_back("mps_server", "1");
  return workload;
}

/// A folder that Slurm names by SLUID holds a job whose number its processes know. Without a number the SLUID
/// stays.
void WorkloadScanner::name_by_job(Workload& workload, std::optional<std::int64_t> pid,
                                  const std::string& folder) {
  const auto* sluid = workload.label("slurm_sluid");
  if (sluid == nullptr) return;
  auto known = job_of_sluid_.find(*sluid);
  if (known == job_of_sluid_.end()) {
    if (!pid) pid = any_process_in(*files_, folder);
    auto job = pid ? slurm_job_of(*pid) : std::nullopt;
    if (!job) return;
    if (job_of_sluid_.size() >= kMostRememberedJobs) job_of_sluid_.clear();
    known = job_of_sluid_.emplace(*sluid, std::move(*job)).first;
  }
  workload.task_id = "slurm/" + known->second;
  workload.labels.emplace_back("slurm_job", known->second);
}

std::optional<std::string> WorkloadScanner::slurm_job_of(std::int64_t pid) const {
  const auto text = files_->read_text(fmt::format("/proc/{}/environ", pid), kEnvironment);
  if (!text) return std::nullopt;
  auto job = attribution::environment_value(*text, "SLURM_JOB_ID");
  if (!job || !parse_uint64(*job)) return std::nullopt;
  return job;
}

/// The driver tells the host's process ids: in another PID namespace the same number is somebody else.
bool WorkloadScanner::pids_are_the_hosts() const {
  constexpr std::string_view kFirst =
      "pid:[4026531836]";  // of the first namespace, by the kernel's own choice
  if (const auto link = files_->read_link("/proc/self/ns/pid"); link && *link == kFirst) return true;
  // The host's /proc mounted into a container shows the kernel's own threads.
  const auto text = files_->read_text("/proc/2/stat", kSmallFile);
  const auto stat = text ? attribution::parse_process_stat(*text) : std::nullopt;
  return stat && stat->name == "kthreadd";
}

// -- CPU

void WorkloadScanner::look_at_cpu(Workloads& out) {
  const auto stat = files_->read_text("/proc/stat");
  const auto times = stat ? parse_cpu_times(*stat) : std::nullopt;
  const auto cpus = stat ? count_cpus(*stat) : std::nullopt;
  attribution::CpuLook next;
  next.at = clock_->mono_now();
  auto look = look_at_cgroups(*files_, *clock_, settings_.cgroup_root, {});
  if (!look || !times || !cpus) {
    out.stats.trouble = look ? "/proc/stat can't be read" : look.error().to_string();
    meter_ = {};  // the next look is a baseline
    return;
  }
  out.stats.cgroups = look->folders;
  out.stats.unreadable = look->unreadable;
  out.stats.cut_short = look->cut_short;
  out.stats.unknown_shapes = look->unknown.size();
  note_unknown(look->unknown);

  next.cpus = *cpus;
  // A container sees only its own root, so the whole machine's own count is the floor.
  next.busy = std::max(static_cast<Microseconds>(times->busy) * kMicrosecondsPerTick, look->used.value_or(0));
  kinds_.clear();
  for (auto& found : look->found) {
    name_by_job(found.workload, std::nullopt, look->root + found.workload.account_path);
    const auto name = settings_.relabel.name_of(found.workload);
    if (name) {
      auto& kind = kinds_.try_emplace(*name, found.workload.kind).first->second;
      if (is_always_told(found.workload.kind)) kind = found.workload.kind;
    }
    next.cgroups.push_back({std::move(found.workload.account_path), name.value_or(""), found.used});
  }
  if (const auto interval = meter_.update(next)) out.cpu = cpu_holding(*interval, out.stats);
}

DeviceHolding WorkloadScanner::cpu_holding(const CpuInterval& interval, WorkloadStats& stats) {
  auto split = attribution::split_by_cpu_time(kShareUnit, interval, *settings_.cpu);
  auto nobodys = split.unattributed + split.idle;
  std::erase_if(split.tasks, [&](const auto& task) {
    if (is_worth_telling(task.first, task.second)) return false;
    nobodys += task.second;
    return true;
  });
  std::erase_if(awake_, [&](const auto& task) { return looks_ - task.second > kAwakeLooks; });
  if (split.tasks.size() > kMostHolders) {
    stats.cut_short = true;
    std::stable_sort(split.tasks.begin(), split.tasks.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    for (auto i = kMostHolders; i < split.tasks.size(); ++i) nobodys += split.tasks[i].second;
    split.tasks.resize(kMostHolders);
    std::sort(split.tasks.begin(), split.tasks.end());
  }
  stats.tasks = split.tasks.size();
  DeviceHolding holding;
  for (const auto& [task, share] : split.tasks)
    holding.holders.push_back({task, as_share(share), std::nullopt, HolderState::running});
  holding.unheld = Unheld{as_share(nobodys), std::nullopt, as_share(split.idle)};
  return holding;
}

bool WorkloadScanner::is_worth_telling(const std::string& task, std::int64_t share) {
  const auto kind = kinds_.find(task);
  if (kind != kinds_.end() && is_always_told(kind->second)) return true;
  if (share >= kLeastShare) {
    awake_[task] = looks_;
    return true;
  }
  return awake_.contains(task);
}

void WorkloadScanner::note_unknown(const std::vector<std::string>& paths) {
  for (const auto& path : paths) {
    if (told_unknown_.size() >= kMostUnknownInLog) return;
    if (!told_unknown_.insert(path).second) continue;
    log::info("a cgroup has a shape that isn't known; its CPU time is booked under its path",
              {{"cgroup", path}, {"hint", "attribution.relabel can give it a name"}});
  }
}

}  // namespace tidewatt::agent
