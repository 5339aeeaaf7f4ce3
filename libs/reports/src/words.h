// What reports say, in each language. Texts with {} are fmt formats; a name or number is put in, never a
// word.
#pragma once

#include <string_view>

#include "tidewatt/reports/report.h"
#include "tidewatt/reports/text.h"

namespace tidewatt::reports {

struct Words {
  std::string_view code;  ///< BCP 47
  std::string_view title;
  std::string_view scope_cluster, scope_node, scope_team, scope_group, scope_task;
  std::string_view total, unattributed, unknown_title, figures, notes, energy, carbon, beside, money;
  std::string_view stated, no_source, no_year;
  std::string_view colon, comma, full_stop;

  std::string_view period, whole_hours, annual_factor, zone_factor, factor_text;
  std::string_view series, series_text, not_scope_2;
  std::string_view contracts, kwh_a_month, residual, upstream, losses;
  std::string_view pue, pue_text, pue_metered, pue_sums, components, platform, embodied, kg_a_device, life,
      tariff, carbon_price;
  std::string_view cue, cue_annual, cue_hourly, wue, per_it_kwh, litres_a_month;
  std::string_view battery, battery_text, sealed, sealed_text, being_made;

  std::string_view simulated, simulated_left_out, placeholder, hidden, factor_year, coverage, no_intensity;
  std::string_view not_sealed, adjusted, moved, shared, never_added, dash;

  std::string_view c_kwh, c_coverage, c_shared, c_adjustments;
  std::string_view c_annual, c_hourly, c_carbon_coverage, c_used, c_mean, c_s2_annual, c_s2_hourly,
      c_s2_market;
  std::string_view c_saved_average, c_saved_marginal;
  std::string_view c_upstream, c_losses, c_overhead_kwh, c_overhead_kg, c_embodied, c_sci, c_sci_token, c_cfe;
  std::string_view c_cost, c_peak, c_demand, c_carbon_cost;

  std::string_view f_days, f_days_name, f_intensity, f_cfe;
};

const Words& words_of(Language language);
std::string_view name_of(Scope scope, const Words& words);
/// A factor's kind or boundary: the code itself in English.
std::string_view said_of(std::string_view code, const Words& words);

}  // namespace tidewatt::reports
