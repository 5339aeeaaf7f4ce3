// What one look at one device gave: the common currency between sources and the interval accumulator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidewatt/metering/beat.h"
#include "tidewatt/units/quantity.h"
#include "tidewatt/units/time.h"

namespace tidewatt::metering {

/// A process on a device, as the device's driver tells it.
struct DeviceProcess {
  std::int64_t pid = 0;                     ///< in the driver's PID namespace, which is the host's
  std::optional<std::int64_t> memory_used;  ///< bytes of the device's memory; nullopt = not told
  std::optional<std::uint64_t> instance;    ///< which part of a partitioned device (MIG)
  std::optional<int> compute_slices;        ///< of that part
};

struct DeviceProcesses {
  SteadyTime at{};  ///< when they were listed
  std::optional<std::int64_t> memory_total;
  std::vector<DeviceProcess> processes;
};

struct Reading {
  std::string domain;  ///< "gpu", "cpu_package", "dram", "platform", "psys", "board", ...
  int index = 0;
  std::string uuid;  ///< identity across restarts and index changes; empty = the source has none
  std::string vendor;
  std::string model;
  std::optional<Watts> power;          ///< since this device's previous reading; nullopt = unknown
  std::optional<Joules> energy_total;  ///< cumulative, already unwrapped by its owner
  std::string counter_epoch;
  std::optional<Watts> power_limit;
  std::optional<double> util;  ///< 0..1
  std::optional<std::int64_t> memory_used_bytes;
  std::optional<Health> health;
  std::string source;
  Quality quality = Quality::measured;
  std::string reason;                        ///< why power is unknown; empty when known
  std::vector<Holder> holders;               ///< where the source knows them (sim, replay)
  std::optional<DeviceProcesses> processes;  ///< nullopt = the source doesn't list them
  SteadyTime at{};
};

}  // namespace tidewatt::metering
