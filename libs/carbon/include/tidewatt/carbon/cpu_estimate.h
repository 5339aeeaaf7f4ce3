// The power a CPU probably draws at some utilisation. An estimate: its own series and chart, in no total.
#pragma once

#include <optional>

#include "tidewatt/units/quantity.h"

namespace tidewatt::carbon {

/// A straight line from idle to full load.
struct CpuPowerModel {
  Watts idle;
  Watts max;
};

/// The model the operator configured; nullopt (no estimate) unless both ends are known, positive and in
/// order.
std::optional<CpuPowerModel> cpu_power_model(std::optional<Watts> idle, std::optional<Watts> max);

/// idle + (max - idle) x utilisation; nullopt when the utilisation is unknown or outside 0..1.
std::optional<Watts> estimate_cpu_power(const CpuPowerModel& model, std::optional<double> utilisation);

}  // namespace tidewatt::carbon
