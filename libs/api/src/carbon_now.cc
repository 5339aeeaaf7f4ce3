#include "carbon_now.h"

#include "tidewatt/carbon/signals.h"

namespace tidewatt::api {

Json hourly_signal_now(const Core& core, const std::string& zone, std::optional<Watts> power) {
  const auto status = core.options.signals ? core.options.signals->zone(zone) : std::nullopt;
  if (!status) return nullptr;
  const auto& identity = status->identity;
  const auto& decision = status->decision;
  Json out{
      {"zone", zone},
      {"kind", to_string(identity.kind)},
      {"boundary", to_string(identity.boundary)},
      {"basis", to_string(identity.basis)},
      {"state", to_string(decision.step)},
      {"degraded_reason", decision.degraded_reason.empty() ? Json(nullptr) : Json(decision.degraded_reason)},
      {"age_seconds", decision.age ? seconds(*decision.age) : Json(nullptr)}};
  const bool average = identity.kind == carbon::SignalKind::average;
  const auto& value = decision.value;
  out["quality"] = value ? Json(to_string(value->point.quality)) : Json(nullptr);
  out["provider"] = value ? Json(value->provider) : Json(nullptr);
  out["intensity_g_per_kwh"] = value ? Json(value->point.intensity.value()) : Json(nullptr);
  out["grams_per_hour"] =
      value && average && power ? Json((*power * value->point.intensity).value()) : Json(nullptr);
  out["reason"] = !value ? Json("signal_off") : !average ? Json("marginal_series") : Json(nullptr);
  return out;
}

}  // namespace tidewatt::api
