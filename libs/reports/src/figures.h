// The figures of one line, each by itself. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tidewatt/reports/report.h"

namespace tidewatt::reports {

using ByZone = std::map<std::string, HourlyEnergy>;

double kwh_of(WideMicrojoules energy);
/// @param hours  if not null: how many zone-hours were booked is added to it
WideMicrojoules sum_of(const ByZone& zones, std::size_t* hours = nullptr);
/// nullptr: the zone has none
const ZoneSeries* series_of(const Policy& policy, const std::string& zone);
std::optional<double> at(const carbon::HourlySeries& series, UtcHour hour);

/// Energy by its zone's and year's factor, else by the general one.
struct Annual {
  Figure kg;
  bool scope2 = true;               ///< every factor in it may enter Scope 2
  std::vector<FactorUse> of_zones;  ///< by zone and year
};
Annual annual_of(const ByZone& zones, const Window& window, const Policy& policy,
                 const carbon::CarbonView& view);

/// Zones whose series differ in kind, boundary or basis can't be added up: then there is no figure.
struct Priced {
  HourlyCarbon carbon;
  bool scope2 = true;  ///< every series in it may enter Scope 2
};
Result<Priced> hourly_of(const ByZone& zones, const Window& window, const Policy& policy,
                         const carbon::CarbonView& view);

/// These fill what their name says; `line` has its energy and both methods' figures.
/// @param contracted_share  of its energy, by contracts
void scope_2(Line& line, const Annual& annual, const Priced& hourly, const Policy& policy,
             double contracted_share);
void beside_scope_2(Line& line, const Subject& subject, const Policy& policy, const carbon::CarbonView& view);
/// @param one_site  a demand charge is of the whole
void money(Line& line, const ByZone& zones, const Window& window, const Policy& policy, bool one_site);

/// The load by the hour, with each hour's clean share: weighted by where the energy was used.
/// @param share_of_supply  of the contracted supply
std::vector<CfeHour> cfe_hours(const ByZone& zones, const Window& window, const Policy& policy,
                               double share_of_supply);
Figure cfe_figure(const CfeMatch& match, double load);

}  // namespace tidewatt::reports
