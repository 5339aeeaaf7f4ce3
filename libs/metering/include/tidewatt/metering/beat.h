// A heartbeat (contract v1) as a value: what a node's agent read in one round. JSON is libs/wire's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tidewatt/units/quantity.h"
#include "tidewatt/units/time.h"

namespace tidewatt {

/// How a number came to be. Only `measured` and `simulated` are booked, and the latter is kept apart.
enum class Quality : std::uint8_t { measured, estimated, simulated };
std::string_view to_string(Quality quality);

/// What a holder does with the device. Unknown texts hold (HolderState::unknown).
enum class HolderState : std::uint8_t {
  starting,
  running,
  stopping,
  suspended,
  sleeping,
  queued,
  finished,
  unknown
};
std::string_view to_string(HolderState state);
HolderState holder_state_from(std::string_view text);
/// queued and finished don't hold a device, all others do.
constexpr bool holds(HolderState state) {
  return state != HolderState::queued && state != HolderState::finished;
}

/// A task occupying a device.
struct Holder {
  std::string task_id;
  std::optional<double> compute_share;  ///< 0..1, nullopt = not declared
  std::optional<double> memory_share;   ///< 0..1, nullopt = not declared
  HolderState state = HolderState::running;
};

/// The part of a device that is known to be no task's. Its energy stays unattributed and isn't spread over
/// the holders: the shares of holders and this one are weighed together.
struct Unheld {
  std::optional<double> compute_share;  ///< 0..1, nullopt = not declared
  std::optional<double> memory_share;   ///< 0..1, nullopt = not declared
  std::optional<double> idle_share;  ///< 0..1: how much of compute_share was idle; nullopt = not kept apart
};

struct Health {
  std::optional<double> temperature_c;
  std::optional<std::uint64_t> throttle_reasons;  ///< the tool's bit mask
  std::optional<std::int64_t> ecc_errors;
  std::optional<std::int64_t> xid_errors;
};

/// Domains of the contract; others are kept as they come.
inline constexpr std::string_view kDomainGpu = "gpu";
inline constexpr std::string_view kDomainCpuPackage = "cpu_package";
inline constexpr std::string_view kDomainDram = "dram";
inline constexpr std::string_view kDomainPlatform = "platform";

/// One thing with a power reading of its own: an accelerator, a RAPL rail, the node's meter.
struct DeviceSample {
  std::string domain;  ///< "gpu", "cpu_package", "dram", "platform", ...
  int index = 0;
  std::string uuid;  ///< empty = the source has none
  std::string vendor;
  std::string model;
  std::optional<Watts> power;  ///< time-weighted mean over the interval that ends here; nullopt = unknown
  std::optional<Watts> power_instant;  ///< last value
  std::optional<Watts> power_min;
  std::optional<Watts> power_max;
  std::optional<Seconds> power_covered;  ///< seconds of the interval really covered by samples
  std::optional<Watts> power_limit;
  std::optional<Joules> energy_total;  ///< the hardware's cumulative counter, unwrapped
  std::string counter_epoch;           ///< new whenever the accumulator began anew; empty = absent
  std::optional<double> util;          ///< 0..1
  std::optional<std::int64_t> memory_used_bytes;
  std::string source;  ///< "nvml", "nvidia-smi", "rapl", ...
  Quality quality = Quality::measured;
  std::string reason;  ///< why the power is unknown, for display; empty when known
  std::vector<Holder> holders;
  std::optional<Unheld> unheld;  ///< nullopt = the holders have all of it
  std::optional<Health> health;
};

/// How a source of the agent fares.
/// A server that doesn't know `absent` takes it for failed.
enum class SourceState : std::uint8_t { ok, failed, starting, absent };
std::string_view to_string(SourceState state);
/// Unknown texts are failed: what isn't said to be ok is not taken for it.
SourceState source_state_from(std::string_view text);

/// What an agent says of one of its sources, so that a node without a device says why. For display only.
struct SourceReport {
  static constexpr std::size_t kMost = 32;            ///< of them in a beat; further ones are left out
  static constexpr std::size_t kLongestReason = 300;  ///< characters; what is longer is cut
  std::string source;                                 ///< "nvidia", "rapl", ...
  SourceState state = SourceState::starting;
  std::string reason;  ///< why it gives nothing; when ok, why some of its devices are unknown, else empty
  friend bool operator==(const SourceReport&, const SourceReport&) = default;
};

struct Beat {
  std::string cluster = "default";
  std::string node_id;
  std::string boot_id;   ///< empty = an old agent that doesn't say
  std::string agent_id;  ///< empty likewise
  std::string agent_version;
  std::optional<std::uint64_t> seq;  ///< per boot and agent, +1 each beat
  std::optional<UtcTime> sampled_at;
  std::optional<Milliseconds> monotonic;  ///< agent's monotonic clock at sampled_at
  std::string region;
  std::string zone;
  std::vector<std::pair<std::string, std::string>> labels;
  std::optional<double> cpu_util;  ///< 0..1, whole machine
  std::optional<int> cpu_cores;
  std::string cpu_model;
  std::vector<DeviceSample> devices;  ///< gpu_stats, then rails, then platform
  std::vector<SourceReport> sources;  ///< empty = an agent that doesn't say
};

}  // namespace tidewatt
