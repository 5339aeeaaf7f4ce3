// A source turns one look at the hardware into readings. One file per source; registration in
// src/registry.cc.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/metering/beat.h"
#include "tidewatt/units/time.h"

namespace tidewatt::sensors {

/// What one look at one device gave.
struct Reading {
  std::string domain;
  int index = 0;
  std::string uuid;
  std::string vendor;
  std::string model;
  std::optional<Watts> power;          ///< now; nullopt = unknown
  std::optional<Joules> energy_total;  ///< cumulative, already unwrapped by its owner
  std::string counter_epoch;
  std::optional<Watts> power_limit;
  std::optional<double> util;
  std::optional<std::int64_t> memory_used_bytes;
  std::optional<Health> health;
  std::string source;
  Quality quality = Quality::measured;
  std::string reason;           ///< why power is unknown
  std::vector<Holder> holders;  ///< where the source knows them (sim, replay)
  SteadyTime at{};
};

/// Not thread-safe: one thread reads a source. A device that fails doesn't take its neighbours along: it is
/// there, without power and with a reason.
class Source {
 public:
  virtual ~Source() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// @error when the source as a whole could not be read this time; its devices are then unknown
  virtual Result<std::vector<Reading>> read() = 0;
};

/// For `tidewatt power detect` and the settings page.
struct Detection {
  std::string source;  ///< "nvml", "rapl", ...
  bool usable = false;
  std::string summary;  ///< "2 packages, dram" or why not, in words a person can act on
  std::vector<std::string> devices;
};

}  // namespace tidewatt::sensors
