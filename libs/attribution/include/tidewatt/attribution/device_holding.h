// From the processes on a device to its holders.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tidewatt/metering/beat.h"

namespace tidewatt::attribution {

/// A process on a device, and whose it is.
struct ProcessOnDevice {
  std::string task_id;                      ///< empty: it could not be found out
  std::optional<std::int64_t> memory_used;  ///< bytes of the device's memory
  std::optional<int> compute_slices;        ///< of its MIG instance
  std::optional<std::uint64_t> instance;    ///< which MIG instance: processes of one share its slices
};

struct DeviceHolding {
  std::vector<Holder> holders;   ///< one a task, by task id
  std::optional<Unheld> unheld;  ///< processes of nobody known: their part is never given to others
};

/// Several processes of one task are one holder. Shares:
/// - compute: the MIG slices, where every process tells its instance; several tasks in one instance get equal
///   parts of its slices
/// - memory: of the device's memory (or of what is used, when that isn't known); absent when a process
/// doesn't
///   tell
DeviceHolding holding_of(std::span<const ProcessOnDevice> processes,
                         std::optional<std::int64_t> memory_total);

}  // namespace tidewatt::attribution
