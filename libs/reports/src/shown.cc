#include "shown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tidewatt/carbon/signal_book.h"
#include "tidewatt/ledger/account.h"
#include "tidewatt/units/text.h"

namespace tidewatt::reports {
namespace {

constexpr std::string_view kUnknown = "—";
constexpr double kPercent = 100;

std::string grouped(std::string digits) {
  const auto end = std::min(digits.find('.'), digits.size());
  const std::size_t begin = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = end; at > begin + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string stated(const Stated& figure, std::string_view unit) {
  return fmt::format("{} {} ({})", format_double(figure.value), unit,
                     figure.source.empty() ? "no source stated" : figure.source);
}

const std::string& name_of(const Line& line) { return line.id; }

template <class Cells>
Table table_of(const Report& report, std::vector<std::string> head, Cells cells) {
  Table table{std::move(head), {}};
  for (const auto& line : report.lines) table.rows.push_back(cells(line, name_of(line)));
  table.rows.push_back(cells(report.total, "total"));
  return table;
}

void reasons_of(const Line& line, std::set<std::string>& into) {
  for (const auto* figure :
       {&line.annual_kg, &line.hourly.kg, &line.scope2_location_annual_kg, &line.scope2_location_hourly_kg,
        &line.scope2_market_kg, &line.upstream_kg, &line.losses_kg, &line.overhead_kg, &line.embodied_kg,
        &line.sci_per_task_hour, &line.sci_per_token, &line.energy_cost, &line.demand_cost, &line.cfe_share})
    if (!figure->value && !figure->reason.empty()) into.insert(std::string{text_of(figure->reason)});
}

}  // namespace

std::string shown(double value) {
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size < 1e-6) return value < 0 ? "-<0.000001" : "<0.000001";
  const int digits = std::max(0, 2 - static_cast<int>(std::floor(std::log10(size))));
  return grouped(fmt::format("{:.{}f}", value, std::min(digits, 8)));
}

std::string shown(const std::optional<double>& value) {
  return value ? shown(*value) : std::string{kUnknown};
}
std::string shown(const Figure& figure) { return shown(figure.value); }

std::string shown_percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f}%", *share * kPercent) : std::string{kUnknown};
}

std::string day_text(UtcHour day) { return format_rfc3339_short(start_of(day)).substr(0, 10); }

std::string from_to(const Window& window) {
  return format_rfc3339_short(start_of(window.from)) + " to " + format_rfc3339_short(start_of(window.to));
}

std::string title_of(const Report& report) {
  return fmt::format("Energy and carbon {}, by {}",
                     report.period.empty() ? from_to(report.window) : report.period,
                     to_string(report.scope) == "task_group" ? "task group" : to_string(report.scope));
}

std::vector<Fact> facts_of(const Report& report) {
  std::vector<Fact> facts;
  const auto& policy = report.policy;
  facts.push_back({"Period", from_to(report.window) + ", whole UTC hours"});
  if (report.view.visible) {
    const auto& factor = report.factor;
    facts.push_back({"Annual factor",
                     fmt::format("{} {} · {} · year {} · kind {} · boundary {}",
                                 format_double(factor.value.value()), carbon::unit_of(factor.gas),
                                 factor.source, factor.year ? std::to_string(*factor.year) : "not stated",
                                 carbon::to_string(factor.kind), carbon::to_string(factor.boundary))});
  }
  for (const auto& series : report.series)
    facts.push_back(
        {"Hourly series " + series.zone,
         fmt::format("{}; {} of {} hours known{}", carbon::describe(series.identity), series.known_hours,
                     series.window_hours, series.scope2 ? "" : "; not for Scope 2")});
  if (policy.contracted_kwh_per_month)
    facts.push_back({"Contracts", stated(*policy.contracted_kwh_per_month, "kWh a month")});
  if (policy.residual_kg_per_kwh)
    facts.push_back({"Residual mix", stated(*policy.residual_kg_per_kwh, "kg/kWh")});
  if (policy.upstream_kg_per_kwh)
    facts.push_back({"Upstream (life cycle − direct)", stated(*policy.upstream_kg_per_kwh, "kg/kWh")});
  if (policy.grid_loss)
    facts.push_back(
        {"Grid losses",
         fmt::format("{} ({})", shown_percent(policy.grid_loss->value),
                     policy.grid_loss->source.empty() ? "no source stated" : policy.grid_loss->source)});
  if (policy.pue) {
    std::string domains;
    for (const auto& domain : report.total.domains) domains += (domains.empty() ? "" : ", ") + domain;
    facts.push_back(
        {"PUE", fmt::format("{}, on the {} energy{}", stated(*policy.pue, ""), report.total.overhead_base,
                            report.total.overhead_base == "components" ? " (" + domains + ")" : "")});
  }
  if (policy.embodied_kg_per_device)
    facts.push_back(
        {"Embodied", stated(*policy.embodied_kg_per_device, "kg a device") +
                         (policy.device_life_hours
                              ? fmt::format(", over {} h of life", format_double(*policy.device_life_hours))
                              : "")});
  if (policy.price_per_kwh) facts.push_back({"Tariff", policy.tariff + " " + policy.currency + "/kWh"});
  facts.push_back({"Internal carbon price", format_double(policy.carbon_price.value()) + " EUR/t"});
  if (report.battery) {
    const auto& battery = *policy.battery;
    facts.push_back(
        {"Battery",
         fmt::format("{} kWh, {} kW, round trip {}; clean share {} without it, {} with it; delivered {} "
                     "kWh, cost {} {}",
                     format_double(battery.capacity_kwh), format_double(battery.power_kw),
                     shown_percent(battery.round_trip_efficiency),
                     shown_percent(report.battery->without.share), shown_percent(report.battery->with.share),
                     shown(report.battery->delivered_kwh), shown(report.battery->cost), policy.currency)});
  }
  for (const auto& seal : report.seals)
    facts.push_back({"Sealed " + ledger::to_string(seal.month),
                     fmt::format("{}, {} rows, SHA-256 {}", format_rfc3339_short(seal.sealed_at), seal.rows,
                                 seal.hash.empty() ? "being made" : seal.hash)});
  return facts;
}

std::vector<std::string> notes_of(const Report& report) {
  std::vector<std::string> notes;
  const auto& total = report.total;
  if (report.with_simulated)
    notes.emplace_back("SIMULATED: this report counts simulated energy. It is worth no claim.");
  else if (total.simulated_kwh > 0)
    notes.push_back(fmt::format("{} kWh of simulated energy are left out.", shown(total.simulated_kwh)));
  if (report.view.placeholder)
    notes.emplace_back(
        "Placeholder factor, not authoritative, not for publication: no emission factor is configured.");
  if (!report.view.visible)
    notes.emplace_back("Carbon is hidden: no emission factor is configured. Energy isn't affected.");
  if (report.factor.configured && report.factor.year) {
    const auto year = static_cast<int>(
        std::chrono::year_month_day{std::chrono::floor<std::chrono::days>(report.window.from)}.year());
    if (*report.factor.year != year)
      notes.push_back(fmt::format("The factor is of {}, the period is of {}.", *report.factor.year, year));
  }
  if (total.coverage && !total.whole)
    notes.push_back(fmt::format("{} of the time is covered: real energy is higher than shown.",
                                ledger::coverage_text(*total.coverage, false)));
  if (total.hourly.uncovered_hours > 0 && total.hourly.carbon_coverage)
    notes.push_back(fmt::format("{} hours with {} kWh have no known intensity; they are in no hourly figure.",
                                total.hourly.uncovered_hours, shown(total.hourly.uncovered_kwh)));
  if (!report.sealed) notes.emplace_back("Not sealed: these figures may still change.");
  if (total.adjustments)
    notes.push_back(
        fmt::format("{} kWh came after the seal, for {} hours: {} kg by factor, {} kg by hour. They are in "
                    "no other figure.",
                    shown(total.adjustments->to_watt_hours().value() / kPerKilo), total.adjusted_hours,
                    shown(total.adjustments_annual_kg), shown(total.adjustments_hourly_kg)));
  if (total.shared_kwh > 0)
    notes.push_back(fmt::format("{} kWh are estimated shares of shared devices.", shown(total.shared_kwh)));
  notes.emplace_back(
      "The two methods stand beside each other and are never added. Marginal intensities are in none.");
  std::set<std::string> reasons;
  reasons_of(total, reasons);
  for (const auto& line : report.lines) reasons_of(line, reasons);
  for (const auto& reason : reasons) notes.push_back("“—”: " + reason + ".");
  return notes;
}

Table energy_table(const Report& report) {
  const std::string scope =
      report.scope == Scope::task_group ? "task group" : std::string{to_string(report.scope)};
  auto table = table_of(
      report, {scope, "kWh", "coverage", "shared kWh", "adjustments kWh"},
      [](const Line& line, const std::string& name) -> std::vector<std::string> {
        return {name, line.energy ? shown(line.kwh) : std::string{kUnknown},
                line.coverage ? ledger::coverage_text(*line.coverage, line.whole) : std::string{kUnknown},
                shown(line.shared_kwh),
                line.adjustments ? shown(line.adjustments->to_watt_hours().value() / kPerKilo) : "0"};
      });
  if (report.unattributed)
    table.rows.push_back({"unattributed (in no line)",
                          shown(report.unattributed->to_watt_hours().value() / kPerKilo), "", "", ""});
  return table;
}

Table carbon_table(const Report& report) {
  return table_of(
      report,
      {"", "annual factor kg", "hourly signal kg", "carbon coverage", "g/kWh used", "g/kWh time mean",
       "Scope 2 location, annual kg", "Scope 2 location, hourly kg", "Scope 2 market kg"},
      [](const Line& line, const std::string& name) -> std::vector<std::string> {
        return {name,
                shown(line.annual_kg),
                shown(line.hourly.kg),
                shown_percent(line.hourly.carbon_coverage),
                shown(line.hourly.ci_used),
                shown(line.hourly.ci_time_mean),
                shown(line.scope2_location_annual_kg),
                shown(line.scope2_location_hourly_kg),
                shown(line.scope2_market_kg)};
      });
}

Table beside_table(const Report& report) {
  return table_of(report,
                  {"", "Scope 3.3 upstream kg", "Scope 3.3 losses kg", "overhead (PUE) kWh", "overhead kg",
                   "embodied kg", "SCI g per device-hour", "CFE"},
                  [](const Line& line, const std::string& name) -> std::vector<std::string> {
                    return {name,
                            shown(line.upstream_kg),
                            shown(line.losses_kg),
                            shown(line.overhead_kwh),
                            shown(line.overhead_kg),
                            shown(line.embodied_kg),
                            shown(line.sci_per_task_hour),
                            shown_percent(line.cfe_share.value)};
                  });
}

Table money_table(const Report& report) {
  const std::string& currency = report.policy.currency;
  return table_of(report,
                  {"", "energy " + currency, "peak kW (hourly mean)", "demand " + currency, "carbon EUR"},
                  [](const Line& line, const std::string& name) -> std::vector<std::string> {
                    return {name, shown(line.energy_cost), shown(line.peak_kw), shown(line.demand_cost),
                            shown(line.carbon_cost_eur)};
                  });
}

}  // namespace tidewatt::reports
