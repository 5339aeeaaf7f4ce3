// What a missing figure's reason means.
#include <array>
#include <utility>

#include "tidewatt/reports/report.h"

namespace tidewatt::reports {

std::string_view text_of(std::string_view reason) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kTexts{{
      {"no_factor_configured", "no emission factor is configured"},
      {"factor_kind_not_average", "the factor in force is no average of a grid"},
      {"marginal_series", "the zone's series is marginal: it serves decisions, not inventories"},
      {"series_differ", "the zones' series differ in kind, boundary or basis and can't be added"},
      {"no_signal", "no zone of the energy has an hourly series"},
      {"no_covered_hour", "no hour with energy has a known intensity"},
      {"boundary_not_direct", "its boundary isn't stated as direct or CO2 only, so it can't enter Scope 2"},
      {"no_residual_mix", "contracts don't cover all, and no residual mix is stated"},
      {"no_upstream_factor", "no upstream factor is stated"},
      {"no_grid_loss", "no grid loss is stated"},
      {"no_pue", "no PUE is stated"},
      {"no_embodied_factor", "no embodied carbon of devices is stated"},
      {"shared_devices", "devices were shared: whose part of their making it is isn't known"},
      {"no_device_time", "no accelerator was held"},
      {"no_usage_reported", "no tokens or requests were reported"},
      {"no_tariff", "no tariff is configured"},
      {"price_unknown", "the tariff has no price for an hour with energy"},
      {"no_demand_charge", "no demand charge is configured"},
  }};
  for (const auto& [code, text] : kTexts)
    if (code == reason) return text;
  if (reason == "demand_of_the_site_only") return "a demand charge is of the whole site";
  if (reason == "contracts_of_the_site") return "contracts are of the whole site";
  if (reason == "no_cfe_series")
    return "no series of the grid's clean share, and contracts don't cover the load";
  if (reason == "no_load") return "there was no load";
  return reason;
}

}  // namespace tidewatt::reports
