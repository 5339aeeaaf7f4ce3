#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "pci.h"
#include "tidewatt/metering/tool_parsers.h"
#include "tidewatt/sensors/sources.h"

namespace tidewatt::sensors {
namespace {

constexpr Milliseconds kDeadline{5'000};
constexpr Milliseconds kFirstPause{5'000};
constexpr Milliseconds kLongestPause{300'000};
// Names, and uuid with them: rows are joined by identity, never by position.
constexpr std::string_view kFields =
    "index,uuid,name,pci.bus_id,power.draw.instant,power.draw,power.limit,utilization.gpu,memory.used,"
    "temperature.gpu";
// Drivers before 5xx don't know power.draw.instant and refuse the whole query.
constexpr std::string_view kOldFields =
    "index,uuid,name,pci.bus_id,power.draw,power.limit,utilization.gpu,memory.used,temperature.gpu";

class NvidiaSmi final : public Source {
 public:
  NvidiaSmi(const FileSystem& files, ProcessRunner& processes, const Clock& clock, std::string tool)
      : files_(files), processes_(processes), clock_(clock), tool_(std::move(tool)) {}

  [[nodiscard]] std::string name() const override { return "nvidia-smi"; }

  Result<std::vector<Reading>> read() override {
    const auto now = clock_.mono_now();
    if (now < retry_at_)
      return fail(ErrorCode::unavailable,
                  fmt::format("{} (next try in {} s)", last_error_, (retry_at_ - now).count() / 1000 + 1));
    const auto gpus = nvidia_gpus(files_);
    if (!gpus.empty() && std::all_of(gpus.begin(), gpus.end(), [](const PciGpu& g) { return g.suspended; }))
      return asleep(gpus, now);
    auto readings = query();
    if (readings) {
      pause_ = kFirstPause;
      return readings;
    }
    last_error_ = readings.error().message;
    retry_at_ = clock_.mono_now() + pause_;
    pause_ = std::min(2 * pause_, kLongestPause);
    return readings;
  }

 private:
  Result<std::vector<Reading>> query() {
    auto output = run();
    if (output && output->exit_code != 0 &&
        (output->out + output->err).find("not a valid field") != std::string::npos && fields_ != kOldFields) {
      fields_ = kOldFields;
      output = run();
    }
    if (!output) return tl::unexpected(output.error());
    const auto at = clock_.mono_now();
    auto parsed =
        metering::parse_tool("nvidia-smi", fmt::format("nvidia-smi --query-gpu={} --format=csv", fields_),
                             output->out.empty() ? output->err : output->out);
    if (!parsed) return tl::unexpected(parsed.error());
    std::vector<Reading> readings;
    for (const auto& device : parsed->devices) {
      readings.push_back(reading_of(device, at));
      if (!device.bus_id.empty())
        known_[sysfs_bus_id(device.bus_id)] = {readings.back().uuid, readings.back().index};
    }
    return readings;
  }

  Result<ProcessOutput> run() {
    return processes_.run({tool_, fmt::format("--query-gpu={}", fields_), "--format=csv"}, kDeadline);
  }

  [[nodiscard]] Reading reading_of(const metering::ToolDevice& device, SteadyTime at) const {
    Reading reading;
    reading.domain = kDomainGpu;
    const auto* number = std::get_if<std::int64_t>(&device.index);
    reading.index = number != nullptr ? static_cast<int>(*number) : 0;
    reading.uuid = device.uuid;
    reading.vendor = "nvidia";
    reading.model = device.name;
    reading.power = device.power;
    reading.power_limit = device.power_limit;
    reading.util = device.util;
    reading.memory_used_bytes = device.memory_used_bytes;
    if (device.temperature_c) {
      Health health;
      health.temperature_c = device.temperature_c;
      reading.health = health;
    }
    reading.source = name();
    reading.reason = device.reason;
    reading.at = at;
    return reading;
  }

  [[nodiscard]] std::vector<Reading> asleep(const std::vector<PciGpu>& gpus, SteadyTime now) const {
    std::vector<Reading> readings;
    for (const auto& gpu : gpus) {
      Reading reading;
      reading.domain = kDomainGpu;
      reading.index = static_cast<int>(readings.size());
      if (const auto known = known_.find(gpu.bus_id); known != known_.end())
        std::tie(reading.uuid, reading.index) = known->second;
      reading.vendor = "nvidia";
      reading.source = name();
      reading.reason = fmt::format("suspended ({}): not woken to be measured", gpu.bus_id);
      reading.at = now;
      readings.push_back(std::move(reading));
    }
    return readings;
  }

  const FileSystem& files_;
  ProcessRunner& processes_;
  const Clock& clock_;
  std::string tool_;
  std::string_view fields_ = kFields;
  SteadyTime retry_at_{};
  Milliseconds pause_ = kFirstPause;
  std::string last_error_;
  std::map<std::string, std::pair<std::string, int>> known_;  // bus id -> uuid and index, for sleeping cards
};

}  // namespace

std::unique_ptr<Source> make_nvidia_smi(const FileSystem& files, ProcessRunner& processes, const Clock& clock,
                                        std::string tool) {
  return std::make_unique<NvidiaSmi>(files, processes, clock, std::move(tool));
}

}  // namespace tidewatt::sensors
