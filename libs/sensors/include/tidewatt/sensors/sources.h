// Every source this library can build. The outside (files, processes, clock) is passed in and must outlive
// the source.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
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

/// The vendors' tools that can be run and understood, by the names of metering::known_tools().
std::vector<std::string> tool_names();
/// The vendors whose cards are looked for: "nvidia", "amd", ...
std::vector<std::string> card_vendors();
/// Whether the tool's program lies in one of the places where it is looked for.
bool has_tool(std::string_view name, const FileSystem& files);
/// A vendor's cards by running its tool: the fallback where its library can't be opened. Deadline 5 s; after
/// a failure the next tries wait 5 s, 10 s, ... up to 5 min, so processes never pile up. Not run while every
/// card is suspended.
/// @return nullptr for a tool that isn't known
std::unique_ptr<Source> make_tool(std::string_view name, const FileSystem& files, ProcessRunner& processes,
                                  const Clock& clock);

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
