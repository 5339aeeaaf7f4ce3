#include "statements.h"

#include <fmt/format.h>

#include <utility>

#include "figures.h"
#include "shown.h"
#include "tidewatt/carbon/signal_book.h"
#include "tidewatt/ledger/account.h"
#include "tidewatt/units/text.h"

namespace tidewatt::reports {
namespace {

template <class... Values>
std::string said(std::string_view format, Values&&... values) {
  return fmt::format(fmt::runtime(format), values...);
}

std::string source_or_none(const Stated& figure, const Words& words) {
  return figure.source.empty() ? std::string{words.no_source} : figure.source;
}

std::string stated(const Stated& figure, std::string_view unit, const Words& words) {
  return said(words.stated, shown_whole(figure.value), unit.empty() ? "" : fmt::format(" {}", unit),
              source_or_none(figure, words));
}

std::string identity_text(const carbon::SeriesIdentity& identity, const Words& words) {
  return fmt::format("{1}{0}{2}{0}{3}", words.comma, said_of(carbon::to_string(identity.kind), words),
                     said_of(carbon::to_string(identity.boundary), words),
                     said_of(carbon::to_string(identity.basis), words));
}

std::string list_of(const std::set<std::string>& items, const Words& words) {
  std::string out;
  for (const auto& item : items) out += (out.empty() ? "" : std::string{words.comma}) + item;
  return out;
}

std::string factor_text(const carbon::Factor& factor, const Words& words) {
  return said(words.factor_text, format_double(factor.value.value()), carbon::unit_of(factor.gas),
              factor.source, factor.year ? std::to_string(*factor.year) : std::string{words.no_year},
              said_of(carbon::to_string(factor.kind), words),
              said_of(carbon::to_string(factor.boundary), words));
}

void add_contracts(const Policy& policy, const Words& words, std::vector<Fact>& facts) {
  const auto add = [&](std::string_view name, std::string text) {
    facts.push_back({std::string{name}, std::move(text)});
  };
  if (policy.contracted_kwh_per_month)
    add(words.contracts, stated(*policy.contracted_kwh_per_month, words.kwh_a_month, words));
  if (policy.residual_kg_per_kwh) add(words.residual, stated(*policy.residual_kg_per_kwh, "kg/kWh", words));
  if (policy.upstream_kg_per_kwh) add(words.upstream, stated(*policy.upstream_kg_per_kwh, "kg/kWh", words));
  if (policy.grid_loss)
    add(words.losses, said(words.stated, shown_percent(policy.grid_loss->value), "",
                           source_or_none(*policy.grid_loss, words)));
}

std::string pue_text(const Report& report, const Words& words) {
  const auto& pue = report.pue;
  if (!pue.metered) return stated(*report.policy.pue, "", words);
  const auto hours = said(words.pue_metered, shown(pue.value.value), pue.meters.hours, report.window.hours());
  return pue.meters.sums_shown
             ? hours + said(words.pue_sums, shown(pue.meters.facility_kwh), shown(pue.meters.machines_kwh))
             : hours;
}

void add_beside(const Report& report, const Words& words, std::vector<Fact>& facts) {
  const auto& policy = report.policy;
  const auto add = [&](std::string_view name, std::string text) {
    facts.push_back({std::string{name}, std::move(text)});
  };
  if (report.pue.value.value)
    add(words.pue, said(words.pue_text, pue_text(report, words),
                        report.total.overhead_base == "components"
                            ? said(words.components, list_of(report.total.domains, words))
                            : std::string{words.platform}));
  std::string cue;
  for (const auto& [name, figure] : {std::pair{words.cue_annual, &report.site.cue_annual_kg_per_kwh},
                                     std::pair{words.cue_hourly, &report.site.cue_hourly_kg_per_kwh}})
    if (figure->value && report.view.visible)
      cue += fmt::format("{}{} kg/kWh ({})", cue.empty() ? "" : ", ", shown(figure->value), name);
  if (!cue.empty()) add(words.cue, fmt::format("{} {}", cue, words.per_it_kwh));
  if (report.site.wue_l_per_kwh.value)
    add(words.wue, fmt::format("{} L/kWh {}; {}", shown(report.site.wue_l_per_kwh), words.per_it_kwh,
                               stated(*policy.water_litres_per_month, words.litres_a_month, words)));
  if (policy.embodied_kg_per_device)
    add(words.embodied,
        stated(*policy.embodied_kg_per_device, words.kg_a_device, words) +
            (policy.device_life_hours ? said(words.life, shown_whole(*policy.device_life_hours)) : ""));
  if (policy.price_per_kwh) add(words.tariff, policy.tariff + " " + policy.currency + "/kWh");
  add(words.carbon_price, shown_whole(policy.carbon_price.value()) + " EUR/t");
  if (report.battery) {
    const auto& battery = *policy.battery;
    add(words.battery,
        said(words.battery_text, shown_whole(battery.capacity_kwh), shown_whole(battery.power_kw),
             shown_percent(battery.round_trip_efficiency), shown_percent(report.battery->without.share),
             shown_percent(report.battery->with.share), shown(report.battery->delivered_kwh),
             shown(report.battery->cost), policy.currency));
  }
}

}  // namespace

std::string title_of(const Report& report, const Words& words) {
  const auto& window = report.window;
  const auto period = report.period.empty() ? format_rfc3339_short(start_of(window.from)) + " – " +
                                                  format_rfc3339_short(start_of(window.to))
                                            : report.period;
  return said(words.title, period, name_of(report.scope, words));
}

std::vector<Fact> facts_of(const Report& report, const Words& words) {
  std::vector<Fact> facts;
  facts.push_back(
      {std::string{words.period}, said(words.whole_hours, format_rfc3339_short(start_of(report.window.from)),
                                       format_rfc3339_short(start_of(report.window.to)))});
  if (report.view.visible) {
    facts.push_back({std::string{words.annual_factor}, factor_text(report.factor, words)});
    for (const auto& [zone, factor] : report.zone_factors)
      facts.push_back({said(words.zone_factor, zone), factor_text(factor, words)});
  }
  for (const auto& series : report.series)
    facts.push_back({said(words.series, series.zone),
                     said(words.series_text, identity_text(series.identity, words), series.known_hours,
                          series.window_hours, series.scope2 ? std::string_view{} : words.not_scope_2)});
  add_contracts(report.policy, words, facts);
  add_beside(report, words, facts);
  for (const auto& seal : report.seals)
    facts.push_back({said(words.sealed, ledger::to_string(seal.month)),
                     said(words.sealed_text, format_rfc3339_short(seal.sealed_at), seal.rows,
                          seal.hash.empty() ? std::string{words.being_made} : seal.hash)});
  return facts;
}

std::vector<std::string> warnings_of(const Report& report, const Words& words) {
  std::vector<std::string> warnings;
  if (report.with_simulated) warnings.emplace_back(words.simulated);
  if (report.view.placeholder) warnings.emplace_back(words.placeholder);
  return warnings;
}

std::vector<std::string> notes_of(const Report& report, const Words& words) {
  std::vector<std::string> notes;
  const auto& total = report.total;
  if (!report.with_simulated && total.simulated_kwh > 0)
    notes.push_back(said(words.simulated_left_out, shown(total.simulated_kwh)));
  if (!report.view.visible) notes.emplace_back(words.hidden);
  if (report.factor.configured && report.factor.year) {
    const auto year = static_cast<int>(
        std::chrono::year_month_day{std::chrono::floor<std::chrono::days>(report.window.from)}.year());
    if (*report.factor.year != year) notes.push_back(said(words.factor_year, *report.factor.year, year));
  }
  if (total.coverage && !total.whole)
    notes.push_back(said(words.coverage, ledger::coverage_text(*total.coverage, false)));
  if (total.hourly.uncovered_hours > 0 && total.hourly.carbon_coverage)
    notes.push_back(
        said(words.no_intensity, total.hourly.uncovered_hours, shown(total.hourly.uncovered_kwh)));
  if (!report.sealed) notes.emplace_back(words.not_sealed);
  if (total.adjustments)
    notes.push_back(said(words.adjusted, shown(kwh_of(*total.adjustments)), total.adjusted_hours,
                         shown(total.adjustments_annual_kg), shown(total.adjustments_hourly_kg)));
  if (report.view.visible && total.savings.tasks > 0)
    notes.push_back(said(words.moved, total.savings.tasks, total.savings.unknown_tasks));
  if (total.shared_kwh > 0) notes.push_back(said(words.shared, shown(total.shared_kwh)));
  notes.emplace_back(words.never_added);
  return notes;
}

}  // namespace tidewatt::reports
