// Every source this library can build. The outside (files, processes, clock) is passed in and must outlive
// the source.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tidewatt/base/clock.h"
#include "tidewatt/base/file_system.h"
#include "tidewatt/base/process.h"
#include "tidewatt/sensors/source.h"

namespace tidewatt::sensors {

/// RAPL by powercap: domains "cpu_package" (index = N of package-N; N x 16 + die for package-N-die-M), "dram"
/// (index of its package) and "psys". core and uncore are inside the package and never reported; an
/// intel-rapl-mmio zone that mirrors an intel-rapl one is dropped. Zones fail one by one. The first look has
/// no power.
/// @error not_found  no powercap on this machine
std::unique_ptr<Source> make_rapl(const FileSystem& files, const Clock& clock);

/// hwmon power*_input (else power*_average): ACPI's power_meter is domain "platform"; all others are "board",
/// which no total contains, since they may mirror what RAPL or a GPU library reports.
/// @error not_found  no power sensor below /sys/class/hwmon
std::unique_ptr<Source> make_hwmon(const FileSystem& files, const Clock& clock);

/// NVIDIA GPUs by running nvidia-smi: the fallback where its library can't be opened. Deadline 5 s; after a
/// failure the next tries wait 5 s, 10 s, ... up to 5 min, so processes never pile up. Not run while every
/// GPU is suspended.
std::unique_ptr<Source> make_nvidia_smi(const FileSystem& files, ProcessRunner& processes, const Clock& clock,
                                        std::string tool = "nvidia-smi");

struct NvmlOptions {
  std::string library = "libnvidia-ml.so.1";     ///< name or path for dlopen
  Milliseconds deadline{2'000};                  ///< how long one look may take
  std::optional<Milliseconds> process_period{};  ///< how often a card's processes are listed; nullopt = never
};
/// NVIDIA GPUs by their management library, on a thread of its own: a hang in the vendor's code costs the
/// deadline once, never a beat (docs/adr/0005). Suspended GPUs are neither touched nor woken.
/// @error not_found the library isn't there; unavailable the driver isn't; timed_out no answer within the
/// deadline
std::unique_ptr<Source> make_nvml(std::shared_ptr<const FileSystem> files, std::shared_ptr<const Clock> clock,
                                  NvmlOptions options = {});

/// Puts a source on a thread of its own. read() waits at most `deadline`; while the thread hangs, further
/// reads fail at once (timed_out) and nothing queues up; a late result is thrown away. The factory runs on
/// that thread too. If the thread still hangs at destruction it is left behind: what the source uses must be
/// owned by it.
std::unique_ptr<Source> make_guarded(std::string name, std::function<std::unique_ptr<Source>()> factory,
                                     Milliseconds deadline);

struct SimOptions {
  std::uint64_t seed = 1;
  std::string node_id = "sim-1";  ///< nodes with different names do different work
  int gpus = 8;
  Watts gpu_limit{700};
  std::string model = "Simulated GPU";
  bool energy_counter = true;  ///< cards with a cumulative counter
  bool cpu_rails = true;       ///< two packages with dram
  bool platform_meter = true;
  double unknown_rate = 0.004;  ///< share of device minutes whose sensor fails
  bool shared_card = true;      ///< the last card is held by two tasks
};
/// A node that doesn't exist, for demos: quality `simulated` on every reading. The same seed, name and clock
/// give the same readings. Jobs run on groups of four cards; load follows the hour of the (UTC) day.
std::unique_ptr<Source> make_sim(SimOptions options, const Clock& clock);

}  // namespace tidewatt::sensors
