#include "figures.h"

#include <algorithm>
#include <string_view>

#include "tidewatt/carbon/signal_book.h"

namespace tidewatt::reports {
namespace {

constexpr double kGramsPerKilo = 1000;
constexpr double kKilosPerTonne = 1000;
constexpr double kWattHoursPerKwh = 1000;
constexpr WideMicrojoules kNothing{};

double hours_of(Milliseconds time) { return static_cast<double>(time.count()) / 3'600'000.0; }

Figure unknown(std::string_view reason) { return {std::nullopt, reason}; }
Figure known(double value) { return {value, {}}; }

/// Scaled; what is unknown stays so, with its reason.
Figure times(const Figure& figure, double factor) {
  return figure.value ? known(*figure.value * factor) : figure;
}

/// (E x I + M) per R; E with the overhead where it is known, I location-based.
void sci(Line& line, const Subject& subject, double device_hours) {
  line.tokens = subject.tokens;
  line.sci_with_overhead = line.overhead_kg.value.has_value();
  const auto per = [&](double units, std::string_view none) {
    if (!line.annual_kg.value) return line.annual_kg;
    if (units <= 0) return unknown(none);
    if (!line.embodied_kg.value) return line.embodied_kg;
    return known((*line.annual_kg.value + line.overhead_kg.value.value_or(0) + *line.embodied_kg.value) *
                 kGramsPerKilo / units);
  };
  line.sci_per_task_hour = per(device_hours, "no_device_time");
  line.sci_per_token = per(static_cast<double>(subject.tokens.value_or(0)),
                           subject.tokens ? "no_tokens" : subject.tokens_reason);
}

int year_of(UtcHour hour) {
  return static_cast<int>(std::chrono::year_month_day{std::chrono::floor<std::chrono::days>(hour)}.year());
}

}  // namespace

double kwh_of(WideMicrojoules energy) { return energy.to_watt_hours().value() / kWattHoursPerKwh; }
const ZoneSeries* series_of(const Policy& policy, const std::string& zone) {
  const auto found = policy.zones.find(zone);
  return found == policy.zones.end() ? nullptr : &found->second;
}

std::optional<double> at(const carbon::HourlySeries& series, UtcHour hour) {
  const auto index = (hour - series.begin).count();
  if (index < 0 || index >= static_cast<std::int64_t>(series.hours.size())) return std::nullopt;
  return series.hours[static_cast<std::size_t>(index)];
}

WideMicrojoules sum_of(const ByZone& zones, std::size_t* hours) {
  WideMicrojoules sum;
  for (const auto& [zone, booked] : zones)
    for (std::size_t i = 0; i < booked.energy.size(); ++i) {
      sum += booked.energy[i];
      if (hours != nullptr && booked.booked[i]) ++*hours;
    }
  return sum;
}

Annual annual_of(const ByZone& zones, const Window& window, const Policy& policy,
                 const carbon::CarbonView& view) {
  Annual out;
  if (!view.visible) {
    out.kg = unknown("no_factor_configured");
    return out;
  }
  WideMicrojoules general;
  std::map<std::pair<std::string, int>, WideMicrojoules> by_entry;
  for (const auto& [zone, booked] : zones) {
    const bool is_named = policy.zone_factors.names(zone);
    for (std::size_t i = 0; i < booked.energy.size(); ++i) {
      if (!is_named) {
        general += booked.energy[i];
      } else if (booked.energy[i] != kNothing) {
        by_entry[{zone, year_of(window.from + std::chrono::hours{static_cast<long>(i)})}] += booked.energy[i];
      }
    }
  }
  std::vector<std::pair<const carbon::Factor*, WideMicrojoules>> parts;
  if (general != kNothing || by_entry.empty()) parts.emplace_back(&policy.factor, general);
  for (const auto& [entry, energy] : by_entry) {
    const auto* factor = policy.zone_factors.find(entry.first, entry.second);
    if (factor == nullptr) {
      out.kg = unknown("no_factor_of_the_year");
      return out;
    }
    parts.emplace_back(factor, energy);
    out.of_zones.push_back({entry.first, *factor});
  }
  double grams = 0;
  for (const auto& [factor, energy] : parts) {
    const bool average =
        factor->kind == carbon::FactorKind::average || factor->kind == carbon::FactorKind::lifecycle_average;
    const auto& first = *parts.front().first;
    if (!average || factor->kind != first.kind || factor->gas != first.gas) {
      out.kg = unknown(average ? "factors_differ" : "factor_kind_not_average");
      return out;
    }
    out.scope2 = out.scope2 && factor->kind == carbon::FactorKind::average &&
                 (factor->boundary == carbon::SignalBoundary::direct ||
                  factor->boundary == carbon::SignalBoundary::co2_only);
    grams += carbon::by_annual_factor(WattHours{kwh_of(energy) * kWattHoursPerKwh}, *factor).emitted.value();
  }
  out.kg = known(grams / kGramsPerKilo);
  return out;
}

Result<Priced> hourly_of(const ByZone& zones, const Window& window, const Policy& policy,
                         const carbon::CarbonView& view) {
  Priced out;
  auto& sum = out.carbon;
  double grams = 0;
  double mean = 0;
  std::size_t mean_hours = 0;
  const carbon::SeriesIdentity* first = nullptr;
  std::string_view refused;
  for (const auto& [zone, booked] : zones) {
    std::vector<carbon::HourOfEnergy> hours;
    for (std::size_t i = 0; i < booked.energy.size(); ++i)
      if (booked.energy[i] != kNothing)
        hours.push_back(
            {window.from + std::chrono::hours{static_cast<long>(i)}, booked.energy[i].to_watt_hours()});
    const ZoneSeries* series = series_of(policy, zone);
    const bool marginal = series != nullptr && series->identity.kind == carbon::SignalKind::marginal;
    const bool other =
        series != nullptr && !marginal && first != nullptr && !carbon::same_series(*first, series->identity);
    if (marginal) refused = "marginal_series";
    if (other) refused = "series_differ";
    if (series == nullptr || marginal || other) {
      for (const auto& hour : hours) sum.uncovered_kwh += hour.energy.value() / kWattHoursPerKwh;
      sum.uncovered_hours += hours.size();
      continue;
    }
    first = &series->identity;
    if (!carbon::may_enter_scope_2(series->identity)) out.scope2 = false;
    TW_TRY(const auto footprint, carbon::by_hourly_signal(hours, series->identity, series->intensity));
    grams += footprint.emitted.value();
    sum.covered_kwh += footprint.covered.value() / kWattHoursPerKwh;
    sum.uncovered_kwh += footprint.without_intensity.value() / kWattHoursPerKwh;
    for (const auto& hour : hours)
      if (!at(series->intensity, hour.hour)) ++sum.uncovered_hours;
    for (const auto& value : series->intensity.hours)
      if (value) {
        mean += *value;
        ++mean_hours;
      }
  }
  const double all = sum.covered_kwh + sum.uncovered_kwh;
  if (all > 0) sum.carbon_coverage = sum.covered_kwh / all;
  if (sum.covered_kwh > 0) {
    sum.ci_used = grams / sum.covered_kwh;
    sum.ci_time_mean = mean_hours > 0 ? std::optional{mean / static_cast<double>(mean_hours)} : std::nullopt;
  }
  sum.kg = !view.visible                     ? unknown("no_factor_configured")
           : refused == "series_differ"      ? unknown(refused)
           : first == nullptr                ? unknown(refused.empty() ? "no_signal" : refused)
           : sum.covered_kwh <= 0 && all > 0 ? unknown("no_covered_hour")
                                             : known(grams / kGramsPerKilo);
  if (first == nullptr) out.scope2 = false;
  return out;
}

void scope_2(Line& line, const Annual& annual, const Priced& hourly, const Policy& policy,
             double contracted_share) {
  line.scope2_location_annual_kg =
      !line.annual_kg.value || annual.scope2 ? line.annual_kg : unknown("boundary_not_direct");
  line.scope2_location_hourly_kg = !line.hourly.kg.value ? line.hourly.kg
                                   : hourly.scope2       ? line.hourly.kg
                                                         : unknown("boundary_not_direct");
  const double contracted = policy.contracted_kwh_per_month ? contracted_share * line.kwh : 0;
  line.contracted_kwh = contracted;
  line.residual_kwh = line.kwh - contracted;
  if (!line.annual_kg.value && line.annual_kg.reason == "no_factor_configured")
    line.scope2_market_kg = line.annual_kg;
  else if (policy.contracts_hidden)
    line.scope2_market_kg = unknown("contracts_of_the_site");
  else if (line.residual_kwh <= 1e-9 * line.kwh)
    line.scope2_market_kg = known(0);
  else if (policy.residual_kg_per_kwh)
    line.scope2_market_kg = known(line.residual_kwh * policy.residual_kg_per_kwh->value);
  else
    line.scope2_market_kg = unknown("no_residual_mix");
}

void beside_scope_2(Line& line, const Subject& subject, const Policy& policy,
                    const carbon::CarbonView& view) {
  const bool hidden = !view.visible;
  const auto hide = [&](Figure figure) { return hidden ? unknown("no_factor_configured") : figure; };
  line.upstream_kg = hide(policy.upstream_kg_per_kwh ? known(line.kwh * policy.upstream_kg_per_kwh->value)
                                                     : unknown("no_upstream_factor"));
  // What is lost on the way was generated on top: kWh x loss / (1 − loss).
  line.losses_kg =
      hide(policy.grid_loss ? times(line.annual_kg, policy.grid_loss->value / (1 - policy.grid_loss->value))
                            : unknown("no_grid_loss"));
  line.domains = subject.domains;
  const double it = subject.platform_known ? kwh_of(subject.platform) : line.kwh;
  line.overhead_base = subject.platform_known ? "platform" : "components";
  line.overhead_kwh = policy.pue ? known(it * (policy.pue->value - 1)) : unknown("no_pue");
  line.overhead_kg = hide(!line.overhead_kwh.value ? line.overhead_kwh
                          : line.kwh > 0 ? times(line.annual_kg, *line.overhead_kwh.value / line.kwh)
                                         : known(0));
  const bool lives =
      policy.embodied_kg_per_device && policy.device_life_hours && *policy.device_life_hours > 0;
  const double device_hours = hours_of(subject.device_time);
  line.embodied_kg =
      hide(!lives ? unknown("no_embodied_factor")
           : subject.shared_devices
               ? unknown("shared_devices")
               : known(policy.embodied_kg_per_device->value * device_hours / *policy.device_life_hours));
  sci(line, subject, device_hours);
}

void money(Line& line, const ByZone& zones, const Window& window, const Policy& policy, bool one_site) {
  std::vector<double> kwh(window.hours(), 0.0);
  for (const auto& [zone, booked] : zones)
    for (std::size_t i = 0; i < booked.energy.size(); ++i) kwh[i] += kwh_of(booked.energy[i]);
  std::map<std::int64_t, double> peaks;
  for (std::size_t i = 0; i < kwh.size(); ++i) {
    auto& peak = peaks[ledger::month_of(window.from + std::chrono::hours{static_cast<long>(i)}).n];
    peak = std::max(peak, kwh[i]);
  }
  double sum_of_peaks = 0;
  for (const auto& [month, peak] : peaks) {
    sum_of_peaks += peak;
    line.peak_kw = std::max(line.peak_kw.value_or(0), peak);
  }
  line.energy_cost = unknown("no_tariff");
  if (policy.price_per_kwh) {
    line.energy_cost = known(0);
    for (std::size_t i = 0; i < kwh.size() && line.energy_cost.value; ++i) {
      if (kwh[i] == 0) continue;
      const auto price = policy.price_per_kwh(window.from + std::chrono::hours{static_cast<long>(i)});
      if (price)
        *line.energy_cost.value += kwh[i] * *price;
      else
        line.energy_cost = unknown("price_unknown");
    }
  }
  line.demand_cost = !policy.demand_per_kw_month ? unknown("no_demand_charge")
                     : !one_site                 ? unknown("demand_of_the_site_only")
                                                 : known(sum_of_peaks * *policy.demand_per_kw_month);
  const Figure& kg = line.annual_kg.value ? line.annual_kg : line.hourly.kg;
  line.carbon_cost_eur = times(kg, policy.carbon_price.value() / kKilosPerTonne);
}

/// Load of all lines by the hour, with each hour's clean share: weighted by where the energy was used.
std::vector<CfeHour> cfe_hours(const ByZone& zones, const Window& window, const Policy& policy,
                               double share_of_supply) {
  std::vector<CfeHour> hours(window.hours());
  for (std::size_t i = 0; i < hours.size(); ++i) {
    auto& hour = hours[i];
    hour.hour = window.from + std::chrono::hours{static_cast<long>(i)};
    hour.contracted_kwh = std::max(0.0, at(policy.supply_kwh, hour.hour).value_or(0)) * share_of_supply;
    double clean = 0;
    bool all_known = true;
    for (const auto& [zone, booked] : zones) {
      if (booked.energy.empty() || booked.energy[i] == kNothing) continue;
      const double kwh = std::max(0.0, kwh_of(booked.energy[i]));
      hour.load_kwh += kwh;
      const ZoneSeries* series = series_of(policy, zone);
      const auto share = series == nullptr ? std::nullopt : at(series->cfe_share, hour.hour);
      if (share)
        clean += kwh * *share;
      else
        all_known = false;
    }
    if (hour.load_kwh > 0 && all_known) hour.cfe_share = clean / hour.load_kwh;
  }
  return hours;
}

Figure cfe_figure(const CfeMatch& match, double load) {
  if (match.share) return known(*match.share);
  return unknown(load > 0 ? "no_cfe_series" : "no_load");
}

}  // namespace tidewatt::reports
