// Which processes use a card.
#pragma once

#include <optional>

#include "nvml_api.h"
#include "tidewatt/metering/reading.h"

namespace tidewatt::sensors::nvml {

/// Computing, drawing and MPS clients, each process once (once per MIG instance it is in); `at` isn't set.
/// nullopt: the driver doesn't tell.
std::optional<metering::DeviceProcesses> processes_of(const Api& api, Device device);

}  // namespace tidewatt::sensors::nvml
