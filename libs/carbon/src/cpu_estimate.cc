#include "tidewatt/carbon/cpu_estimate.h"

#include <cmath>

namespace tidewatt::carbon {

std::optional<CpuPowerModel> cpu_power_model(std::optional<Watts> idle, std::optional<Watts> max) {
  if (!idle || !max) return std::nullopt;
  if (!std::isfinite(idle->value()) || !std::isfinite(max->value())) return std::nullopt;
  if (idle->value() < 0 || max->value() <= 0 || *max < *idle) return std::nullopt;
  return CpuPowerModel{*idle, *max};
}

std::optional<Watts> estimate_cpu_power(const CpuPowerModel& model, std::optional<double> utilisation) {
  if (!utilisation || !(*utilisation >= 0 && *utilisation <= 1)) return std::nullopt;
  return model.idle + (model.max - model.idle) * *utilisation;
}

}  // namespace tidewatt::carbon
