// Which accelerators the PCI bus has and which of them sleep, without touching any of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/file_system.h"

namespace tidewatt::sensors {

struct PciGpu {
  std::string bus_id;  ///< "0000:3b:00.0"
  bool suspended = false;
};

/// A vendor's display controllers and processing accelerators in the order of their addresses; empty where
/// /sys/bus/pci isn't visible.
/// @param vendor  as sysfs prints it: "0x10de"
std::vector<PciGpu> cards_on_bus(const FileSystem& files, std::string_view vendor);
/// Of NVIDIA.
std::vector<PciGpu> nvidia_gpus(const FileSystem& files);
/// True when the kernel says that the device is in runtime suspend; false when it doesn't say.
bool is_suspended(const FileSystem& files, const std::string& bus_id);
/// "00000000:3B:00.0" -> "0000:3b:00.0": the spelling of sysfs.
std::string sysfs_bus_id(std::string_view printed);

}  // namespace tidewatt::sensors
