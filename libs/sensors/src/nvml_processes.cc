#include "nvml_processes.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>

namespace tidewatt::sensors::nvml {
namespace {

using metering::DeviceProcess;

constexpr unsigned kFirstRoom = 64;
constexpr unsigned kMostProcesses = 16'384;
constexpr std::size_t kWidest = 32;
constexpr unsigned char kUntouched = 0xA5;
constexpr int kTries = 3;
constexpr unsigned kMostMigDevices = 64;

using List = Return (*)(Device, unsigned*, void*);

/// Drivers changed the size of an entry under one name, so it is told from how far they wrote.
std::size_t stride_of(const std::vector<unsigned char>& bytes, std::size_t count) {
  const auto last =
      std::find_if(bytes.rbegin(), bytes.rend(), [](unsigned char byte) { return byte != kUntouched; });
  const auto written = static_cast<std::size_t>(bytes.rend() - last);
  for (const std::size_t stride : kProcessStrides)
    if (written <= stride * count) return stride;
  return 0;
}

DeviceProcess process_at(const unsigned char* entry, std::size_t stride) {
  ProcessInfo info{0, std::numeric_limits<unsigned long long>::max(), kNoInstance, kNoInstance};
  std::memcpy(&info, entry, std::min(stride, sizeof info));
  DeviceProcess process;
  process.pid = info.pid;
  if (info.used_memory <= static_cast<unsigned long long>(std::numeric_limits<std::int64_t>::max()))
    process.memory_used = static_cast<std::int64_t>(info.used_memory);
  if (stride > 16 && info.gpu_instance != kNoInstance)
    process.instance = std::uint64_t{info.gpu_instance} << 32U | info.compute_instance;
  return process;
}

bool append(List list, Device device, std::vector<DeviceProcess>& out) {
  if (list == nullptr) return false;
  unsigned room = kFirstRoom;
  for (int i = 0; i < kTries; ++i) {
    std::vector<unsigned char> bytes(std::size_t{room} * kWidest, kUntouched);
    unsigned count = room;
    const auto code = list(device, &count, bytes.data());
    if (code == kInsufficientSize && count <= kMostProcesses) {
      room = std::max(count, room) * 2;  // more may start until the next call
      continue;
    }
    if (code != kSuccess || count > room) return false;
    const auto stride = stride_of(bytes, count);
    if (count > 0 && stride == 0) return false;
    for (unsigned n = 0; n < count; ++n) out.push_back(process_at(bytes.data() + n * stride, stride));
    return true;
  }
  return false;
}

/// Compute slices by instance.
std::map<std::uint64_t, int> mig_slices(const Api& api, Device device) {
  std::map<std::uint64_t, int> slices;
  if (api.mig_count == nullptr || api.mig_device == nullptr || api.gpu_instance == nullptr ||
      api.compute_instance == nullptr || api.attributes == nullptr)
    return slices;
  unsigned count = 0;
  if (api.mig_count(device, &count) != kSuccess) return slices;
  for (unsigned i = 0; i < std::min(count, kMostMigDevices); ++i) {
    Device part = nullptr;
    unsigned gpu = kNoInstance;
    unsigned compute = kNoInstance;
    Attributes attributes{};
    if (api.mig_device(device, i, &part) != kSuccess || api.gpu_instance(part, &gpu) != kSuccess ||
        api.compute_instance(part, &compute) != kSuccess || api.attributes(part, &attributes) != kSuccess)
      continue;
    if (attributes.compute_instance_slices > 0 && attributes.compute_instance_slices < 64)
      slices[std::uint64_t{gpu} << 32U | compute] = static_cast<int>(attributes.compute_instance_slices);
  }
  return slices;
}

}  // namespace

std::optional<metering::DeviceProcesses> processes_of(const Api& api, Device device) {
  std::vector<DeviceProcess> all;
  const bool compute = append(api.compute_processes, device, all);
  const bool graphics = append(api.graphics_processes, device, all);
  const bool mps = append(api.mps_processes, device, all);
  if (!compute && !graphics && !mps) return std::nullopt;

  metering::DeviceProcesses out;
  bool partitioned = false;
  for (auto& process : all) {
    partitioned = partitioned || process.instance;
    const auto same = std::find_if(out.processes.begin(), out.processes.end(), [&](const DeviceProcess& p) {
      return p.pid == process.pid && p.instance == process.instance;
    });
    if (same == out.processes.end())
      out.processes.push_back(std::move(process));
    else if (process.memory_used)
      same->memory_used = std::max(same->memory_used.value_or(0), *process.memory_used);
  }
  if (!partitioned) return out;
  const auto slices = mig_slices(api, device);
  for (auto& process : out.processes) {
    const auto found = process.instance ? slices.find(*process.instance) : slices.end();
    if (found != slices.end()) process.compute_slices = found->second;
  }
  return out;
}

}  // namespace tidewatt::sensors::nvml
