// Reports for programs: JSON and CSV, with all digits.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tidewatt/reports/text.h"
#include "tidewatt/units/text.h"

namespace tidewatt::reports {
namespace {

using Json = nlohmann::ordered_json;

Json factor_of(const carbon::Factor& factor) {
  return Json{
      {"value", factor.value.value()},          {"unit", carbon::unit_of(factor.gas)},
      {"gas", carbon::to_string(factor.gas)},   {"source", factor.source},
      {"configured", factor.configured},        {"year", factor.year ? Json(*factor.year) : Json(nullptr)},
      {"kind", carbon::to_string(factor.kind)}, {"boundary", carbon::to_string(factor.boundary)}};
}

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }
Json text(std::string_view value) { return value.empty() ? Json(nullptr) : Json(value); }
double kwh(WideMicrojoules energy) { return energy.to_watt_hours().value() / kPerKilo; }

/// {"value": .., "reason": ..}: a null says why.
Json figure(const Figure& value) {
  return Json{{"value", number(value.value)}, {"reason", value.value ? Json(nullptr) : text(value.reason)}};
}

Json stated(const std::optional<Stated>& value) {
  return value ? Json{{"value", value->value}, {"source", text(value->source)}} : Json(nullptr);
}

Json carbon_json(const Line& line) {
  const auto& hourly = line.hourly;
  return Json{{"annual_factor", Json{{"kgco2e", figure(line.annual_kg)}}},
              {"hourly_signal", Json{{"kgco2e", figure(hourly.kg)},
                                     {"carbon_coverage", number(hourly.carbon_coverage)},
                                     {"covered_kwh", hourly.covered_kwh},
                                     {"uncovered_kwh", hourly.uncovered_kwh},
                                     {"uncovered_hours", hourly.uncovered_hours},
                                     {"ci_used_g_per_kwh", number(hourly.ci_used)},
                                     {"ci_time_mean_g_per_kwh", number(hourly.ci_time_mean)}}},
              {"scope2", Json{{"location_based_annual_kgco2e", figure(line.scope2_location_annual_kg)},
                              {"location_based_hourly_kgco2e", figure(line.scope2_location_hourly_kg)},
                              {"market_based_kgco2e", figure(line.scope2_market_kg)},
                              {"contracted_kwh", line.contracted_kwh},
                              {"residual_kwh", line.residual_kwh}}},
              {"scope3_3", Json{{"upstream_kgco2e", figure(line.upstream_kg)},
                                {"losses_kgco2e", figure(line.losses_kg)}}},
              {"overhead", Json{{"energy_kwh", figure(line.overhead_kwh)},
                                {"kgco2e", figure(line.overhead_kg)},
                                {"base", line.overhead_base},
                                {"domains", line.domains}}},
              {"embodied", Json{{"kgco2e", figure(line.embodied_kg)}}},
              {"savings", Json{{"baseline", "at_once"},
                               {"attributional_kgco2e", figure(line.savings.attributional_kg)},
                               {"consequential_kgco2e", figure(line.savings.consequential_kg)},
                               {"moved_tasks", line.savings.tasks},
                               {"tasks_without_figure", line.savings.unknown_tasks}}},
              {"sci", Json{{"g_per_device_hour", figure(line.sci_per_task_hour)},
                           {"g_per_token", figure(line.sci_per_token)},
                           {"tokens", line.tokens ? Json(*line.tokens) : Json(nullptr)},
                           {"includes_overhead", line.sci_with_overhead}}}};
}

Json line_json(const Line& line, bool visible) {
  Json row{{"id", line.id},
           {"cluster", text(line.cluster)},
           {"energy_kwh", line.energy ? Json(line.kwh) : Json(nullptr)},
           {"energy_uj", line.energy ? Json(line.energy->to_string()) : Json(nullptr)},
           {"coverage", number(line.coverage)},
           {"gap_seconds", static_cast<double>(line.gap.count()) / kPerKilo},
           {"shared_kwh", line.shared_kwh},
           {"simulated_kwh", line.simulated_kwh},
           {"unattributed_kwh", line.unattributed_kwh}};
  if (visible) row["carbon"] = carbon_json(line);
  row["cfe_share"] = figure(line.cfe_share);
  row["money"] = Json{{"energy_cost", figure(line.energy_cost)},
                      {"peak_kw", number(line.peak_kw)},
                      {"demand_cost", figure(line.demand_cost)}};
  if (visible) row["money"]["carbon_cost_eur"] = figure(line.carbon_cost_eur);
  row["adjustments"] = Json(nullptr);
  if (line.adjustments) {
    row["adjustments"] = Json{{"energy_kwh", kwh(*line.adjustments)},
                              {"energy_uj", line.adjustments->to_string()},
                              {"hours", line.adjusted_hours}};
    if (visible) {
      row["adjustments"]["annual_factor_kgco2e"] = figure(line.adjustments_annual_kg);
      row["adjustments"]["hourly_signal_kgco2e"] = figure(line.adjustments_hourly_kg);
    }
  }
  return row;
}

Json cells(const std::array<std::optional<double>, 24>& values) {
  Json list = Json::array();
  for (const auto& value : values) list.push_back(number(value));
  return list;
}

/// Sums of the whole site are its own: who sees single tasks gets the ratio alone.
Json pue_json(const PueUse& pue) {
  const auto& meters = pue.meters;
  const bool sums = pue.metered && meters.sums_shown;
  return Json{{"value", number(pue.value.value)},
              {"reason", pue.value.value ? Json(nullptr) : text(pue.value.reason)},
              {"from", !pue.value.value ? Json(nullptr)
                       : pue.metered    ? Json("metered")
                                        : Json("stated")},
              {"not_metered_reason", pue.metered ? Json(nullptr) : text(meters.value.reason)},
              {"facility_kwh", sums ? Json(meters.facility_kwh) : Json(nullptr)},
              {"machines_kwh", sums ? Json(meters.machines_kwh) : Json(nullptr)},
              {"metered_hours", meters.hours}};
}

Json days_json(const Report& report) {
  Json list = Json::array();
  for (const auto& day : report.days) {
    Json row{{"day", format_rfc3339_short(start_of(day.begin)).substr(0, 10)},
             {"energy_kwh", number(day.kwh)}};
    if (report.view.visible) row["hourly_signal_kgco2e"] = number(day.hourly_kg);
    row["g_per_kwh"] = cells(day.ci);
    row["cfe_share"] = cells(day.cfe);
    list.push_back(std::move(row));
  }
  return list;
}

Json battery_json(const Report& report) {
  if (!report.battery) return nullptr;
  const auto& run = *report.battery;
  return Json{{"cfe_share_without", number(run.without.share)},
              {"cfe_share_with", number(run.with.share)},
              {"added_share", number(run.added_share)},
              {"charged_kwh", run.charged_kwh},
              {"delivered_kwh", run.delivered_kwh},
              {"cost", run.cost}};
}

Json stated_json(const Policy& policy) {
  return Json{{"contracted_kwh_per_month", stated(policy.contracted_kwh_per_month)},
              {"residual_kg_per_kwh", stated(policy.residual_kg_per_kwh)},
              {"upstream_kg_per_kwh", stated(policy.upstream_kg_per_kwh)},
              {"grid_loss", stated(policy.grid_loss)},
              {"pue", stated(policy.pue)},
              {"water_litres_per_month", stated(policy.water_litres_per_month)},
              {"embodied_kg_per_device", stated(policy.embodied_kg_per_device)},
              {"device_life_hours", number(policy.device_life_hours)},
              {"tariff", text(policy.tariff)},
              {"currency", policy.currency},
              {"demand_per_kw_month", number(policy.demand_per_kw_month)},
              {"carbon_price_eur_per_tonne", policy.carbon_price.value()}};
}

/// A field that a spreadsheet reads as text: quoted where needed, and never as a formula.
std::string csv_text(std::string value) {
  if (!value.empty() && std::string_view{"=+-@\t\r"}.find(value.front()) != std::string_view::npos)
    value.insert(0, "'");
  if (value.find_first_of(",\"\n\r") == std::string::npos) return value;
  std::string out = "\"";
  for (const char c : value) out += c == '"' ? std::string{"\"\""} : std::string{c};
  return out + "\"";
}

std::string csv_number(const std::optional<double>& value) {
  return value ? format_double(*value) : std::string{};
}

}  // namespace

std::string to_json(const Report& report) {
  const bool visible = report.view.visible;
  Json answer{{"schema", "tidewatt-report/1"},
              {"period", text(report.period)},
              {"from", format_rfc3339_short(start_of(report.window.from))},
              {"to", format_rfc3339_short(start_of(report.window.to))},
              {"scope", to_string(report.scope)},
              {"simulated", report.with_simulated ? "included" : "left_out"},
              {"sealed", report.sealed}};
  answer["seals"] = Json::array();
  for (const auto& seal : report.seals)
    answer["seals"].push_back(Json{{"month", ledger::to_string(seal.month)},
                                   {"sealed_at", format_rfc3339_short(seal.sealed_at)},
                                   {"rows", seal.rows},
                                   {"hash", text(seal.hash)}});
  if (visible) {
    answer["emission_factor"] = factor_of(report.factor);
    answer["zone_factors"] = Json::array();
    for (const auto& [zone, factor] : report.zone_factors) {
      auto entry = factor_of(factor);
      entry["zone"] = text(zone);
      answer["zone_factors"].push_back(std::move(entry));
    }
  } else {
    answer["carbon_hidden_reason"] = report.view.hidden_reason;
  }
  answer["series"] = Json::array();
  for (const auto& series : report.series)
    answer["series"].push_back(Json{{"zone", series.zone},
                                    {"kind", carbon::to_string(series.identity.kind)},
                                    {"boundary", carbon::to_string(series.identity.boundary)},
                                    {"basis", carbon::to_string(series.identity.basis)},
                                    {"known_hours", series.known_hours},
                                    {"window_hours", series.window_hours},
                                    {"may_enter_scope2", series.scope2}});
  answer["stated"] = stated_json(report.policy);
  answer["pue"] = pue_json(report.pue);
  answer["cue_kg_per_kwh"] = Json{{"annual_factor", figure(report.site.cue_annual_kg_per_kwh)},
                                  {"hourly_signal", figure(report.site.cue_hourly_kg_per_kwh)}};
  answer["wue_l_per_kwh"] = figure(report.site.wue_l_per_kwh);
  answer["lines"] = Json::array();
  for (const auto& line : report.lines) answer["lines"].push_back(line_json(line, visible));
  answer["total"] = line_json(report.total, visible);
  answer["unattributed_kwh"] = report.unattributed ? Json(kwh(*report.unattributed)) : Json(nullptr);
  answer["battery"] = battery_json(report);
  answer["days"] = days_json(report);
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_csv(const Report& report) {
  std::string out =
      "scope,id,cluster,from,to,energy_kwh,energy_uj,coverage,shared_kwh,simulated_kwh,adjustments_kwh,"
      "annual_factor_kg,hourly_signal_kg,carbon_coverage,uncovered_kwh,ci_used_g_per_kwh,scope2_location_"
      "annual_kg,"
      "scope2_location_hourly_kg,scope2_market_kg,scope3_upstream_kg,scope3_losses_kg,overhead_kwh,overhead_"
      "kg,"
      "embodied_kg,sci_g_per_device_hour,sci_g_per_token,tokens,cfe_share,saved_attributional_kg,saved_"
      "consequential_kg,moved_tasks,energy_cost,demand_cost,currency,"
      "carbon_cost_eur,factor_"
      "kg_per_kwh,"
      "factor_source\n";
  const auto add = [&](const Line& line, const std::string& scope, const std::string& name) {
    out += csv_text(scope) + "," + csv_text(name) + "," + csv_text(line.cluster) + "," +
           format_rfc3339_short(start_of(report.window.from)) + "," +
           format_rfc3339_short(start_of(report.window.to));
    const auto put = [&out](const std::string& cell) { out += "," + cell; };
    put(line.energy ? format_double(line.kwh) : "");
    put(line.energy ? line.energy->to_string() : "");
    put(csv_number(line.coverage));
    put(format_double(line.shared_kwh));
    put(format_double(line.simulated_kwh));
    put(line.adjustments ? format_double(kwh(*line.adjustments)) : "0");
    for (const auto& value : {line.annual_kg.value,
                              line.hourly.kg.value,
                              line.hourly.carbon_coverage,
                              std::optional{line.hourly.uncovered_kwh},
                              line.hourly.ci_used,
                              line.scope2_location_annual_kg.value,
                              line.scope2_location_hourly_kg.value,
                              line.scope2_market_kg.value,
                              line.upstream_kg.value,
                              line.losses_kg.value,
                              line.overhead_kwh.value,
                              line.overhead_kg.value,
                              line.embodied_kg.value,
                              line.sci_per_task_hour.value,
                              line.sci_per_token.value,
                              line.tokens ? std::optional{static_cast<double>(*line.tokens)} : std::nullopt,
                              line.cfe_share.value,
                              line.savings.attributional_kg.value,
                              line.savings.consequential_kg.value,
                              std::optional{static_cast<double>(line.savings.tasks)},
                              line.energy_cost.value,
                              line.demand_cost.value})
      put(csv_number(value));
    put(csv_text(report.policy.currency));
    put(csv_number(line.carbon_cost_eur.value));
    put(report.view.visible ? format_double(report.factor.value.value()) : "");
    put(report.view.visible ? csv_text(report.factor.source) : "");
    out += "\n";
  };
  const std::string scope{to_string(report.scope)};
  for (const auto& line : report.lines) add(line, scope, line.id);
  add(report.total, "total", "");
  return out;
}

std::optional<Format> format_from(std::string_view text) {
  if (text == "json") return Format::json;
  if (text == "csv") return Format::csv;
  if (text == "md") return Format::markdown;
  if (text == "html") return Format::html;
  return std::nullopt;
}

std::string_view media_type(Format format) {
  switch (format) {
    case Format::json:
      return "application/json";
    case Format::csv:
      return "text/csv; charset=utf-8";
    case Format::markdown:
      return "text/markdown; charset=utf-8";
    case Format::html:
      return "text/html; charset=utf-8";
  }
  return "application/json";
}

std::string_view file_ending(Format format) {
  switch (format) {
    case Format::json:
      return "json";
    case Format::csv:
      return "csv";
    case Format::markdown:
      return "md";
    case Format::html:
      return "html";
  }
  return "json";
}

std::optional<Language> language_from(std::string_view text) {
  if (text == "en") return Language::en;
  if (text == "zh") return Language::zh;
  return std::nullopt;
}

std::string to_text(const Report& report, Format format, Language language) {
  switch (format) {
    case Format::json:
      return to_json(report);
    case Format::csv:
      return to_csv(report);
    case Format::markdown:
      return to_markdown(report, language);
    case Format::html:
      return to_html(report, language);
  }
  return to_json(report);
}

}  // namespace tidewatt::reports
