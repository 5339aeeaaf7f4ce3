#include "tidewatt/reports/report.h"

#include <algorithm>

#include "figures.h"
#include "moved.h"

namespace tidewatt::reports {
namespace {

constexpr double kGramsPerKilo = 1000;
constexpr WideMicrojoules kNothing{};

void merge(ByZone& into, const ByZone& from) {
  for (const auto& [zone, booked] : from) {
    auto& place = into[zone];
    if (place.energy.empty()) {
      place = booked;
      continue;
    }
    for (std::size_t i = 0; i < booked.energy.size(); ++i) {
      place.energy[i] += booked.energy[i];
      if (booked.booked[i]) place.booked[i] = true;
    }
  }
}

Result<Line> line_of(const Subject& subject, const Booked& booked, const Policy& policy,
                     const carbon::CarbonView& view, double contracted_share, double share_of_supply,
                     bool one_site) {
  Line line;
  line.id = subject.id;
  line.cluster = subject.cluster;
  if (!subject.by_zone.empty()) line.energy = sum_of(subject.by_zone);
  line.kwh = kwh_of(line.energy.value_or(kNothing));
  const auto seconds = subject.covered + subject.gap;
  if (seconds.count() > 0)
    line.coverage = static_cast<double>(subject.covered.count()) / static_cast<double>(seconds.count());
  line.gap = subject.gap;
  line.whole = subject.gap.count() == 0 && subject.partial.count() == 0;
  line.shared_kwh = kwh_of(subject.shared);
  line.simulated_kwh = kwh_of(subject.simulated);
  line.unattributed_kwh = kwh_of(subject.unattributed);
  const auto annual = annual_of(subject.by_zone, booked.window, policy, view);
  line.annual_kg = annual.kg;
  TW_TRY(const auto hourly, hourly_of(subject.by_zone, booked.window, policy, view));
  line.hourly = hourly.carbon;
  scope_2(line, annual, hourly, policy, contracted_share);
  beside_scope_2(line, subject, policy, view);
  money(line, subject.by_zone, booked.window, policy, one_site);
  const auto load = cfe_hours(subject.by_zone, booked.window, policy, share_of_supply);
  TW_TRY(const auto match, match_hourly(load));
  line.cfe_share = cfe_figure(match, line.kwh);
  if (!subject.adjustments.empty()) {
    line.adjustments = sum_of(subject.adjustments, &line.adjusted_hours);
    line.adjustments_annual_kg = annual_of(subject.adjustments, booked.window, policy, view).kg;
    TW_TRY(const auto late, hourly_of(subject.adjustments, booked.window, policy, view));
    line.adjustments_hourly_kg = late.carbon.kg;
  }
  return line;
}

/// Carbon of lines without tokens must not be divided by the tokens of others.
void add_up_tokens(Subject& all, const std::vector<Subject>& subjects) {
  std::size_t known = 0;
  std::int64_t sum = 0;
  for (const auto& subject : subjects) {
    if (subject.tokens) ++known;
    sum += subject.tokens.value_or(0);
  }
  if (known > 0 && known == subjects.size())
    all.tokens = sum;
  else if (known > 0)
    all.tokens_reason = "tokens_of_some_lines";
  else if (!subjects.empty())
    all.tokens_reason = subjects.front().tokens_reason;
}

/// All lines as one, reckoned as a line is; it can only differ from their sum by rounding of doubles.
Subject everything(const Booked& booked) {
  Subject all;
  all.id = "total";
  all.platform_known = !booked.subjects.empty();
  for (const auto& subject : booked.subjects) {
    merge(all.by_zone, subject.by_zone);
    merge(all.adjustments, subject.adjustments);
    all.shared += subject.shared;
    all.simulated += subject.simulated;
    all.unattributed += subject.unattributed;
    all.platform += subject.platform;
    all.platform_known = all.platform_known && subject.platform_known;
    all.covered += subject.covered;
    all.gap += subject.gap;
    all.partial += subject.partial;
    all.device_time += subject.device_time;
    all.shared_devices = all.shared_devices || subject.shared_devices;
    all.domains.insert(subject.domains.begin(), subject.domains.end());
  }
  add_up_tokens(all, booked.subjects);
  return all;
}

PueUse pue_of(const Booked& booked, const Policy& stated) {
  PueUse out;
  out.meters = booked.pue;
  out.metered = booked.pue.value.value.has_value();
  out.value = out.metered  ? booked.pue.value
              : stated.pue ? Figure{stated.pue->value, {}}
                           : Figure{std::nullopt, booked.pue.value.reason};
  return out;
}

/// CUE = PUE x carbon per kWh, as The Green Grid defines it.
Figure cue_of(const Figure& kg, double kwh, const Figure& pue) {
  if (!kg.value) return kg;
  if (!pue.value) return {std::nullopt, "no_pue"};
  if (kwh <= 0) return {std::nullopt, "no_load"};
  return {*kg.value / kwh * *pue.value, {}};
}

SiteUse site_use_of(const Report& report, const Policy& policy, double whole_kwh, double months) {
  SiteUse out;
  const auto& total = report.total;
  out.cue_annual_kg_per_kwh = out.cue_hourly_kg_per_kwh = {std::nullopt, "no_factor_configured"};
  if (report.view.visible) {
    out.cue_annual_kg_per_kwh = cue_of(total.annual_kg, total.kwh, report.pue.value);
    out.cue_hourly_kg_per_kwh = cue_of(total.hourly.kg, total.hourly.covered_kwh, report.pue.value);
  }
  out.wue_l_per_kwh = policy.water_hidden              ? Figure{std::nullopt, "water_of_the_site"}
                      : !policy.water_litres_per_month ? Figure{std::nullopt, "no_water"}
                      : whole_kwh <= 0
                          ? Figure{std::nullopt, "no_load"}
                          : Figure{policy.water_litres_per_month->value * months / whole_kwh, {}};
  return out;
}

double months_in(const Window& window) {
  double months = 0;
  for (auto month = ledger::month_of(window.from); month.begin() < window.to; month = month.next()) {
    const auto from = std::max(window.from, month.begin());
    const auto to = std::min(window.to, month.end());
    months +=
        static_cast<double>((to - from).count()) / static_cast<double>((month.end() - month.begin()).count());
  }
  return months;
}

bool wholly_sealed(const Booked& booked) {
  for (auto month = ledger::month_of(booked.window.from); month.begin() < booked.window.to;
       month = month.next()) {
    if (month.begin() < booked.window.from || month.end() > booked.window.to) return false;
    const bool sealed = std::any_of(booked.seals.begin(), booked.seals.end(),
                                    [&](const auto& seal) { return seal.month == month; });
    if (!sealed) return false;
  }
  return true;
}

std::vector<Day> days_of(const Subject& all, const Booked& booked, const Policy& policy,
                         const carbon::CarbonView& view, const CfeMatch& match) {
  std::vector<Day> days;
  for (std::size_t i = 0; i < booked.window.hours(); ++i) {
    const auto hour = booked.window.from + std::chrono::hours{static_cast<long>(i)};
    const auto day = std::chrono::floor<std::chrono::days>(hour);
    if (days.empty() || days.back().begin != UtcHour{day}) days.push_back({UtcHour{day}, {}, {}, {}, {}});
    auto& row = days.back();
    const auto of_day = static_cast<std::size_t>((hour - UtcHour{day}).count());
    double kwh = 0;
    double grams = 0;
    bool priced = false;
    for (const auto& [zone, energy] : all.by_zone) {
      if (energy.energy.empty() || !energy.booked[i]) continue;
      row.kwh = row.kwh.value_or(0) + kwh_of(energy.energy[i]);
      const ZoneSeries* series = series_of(policy, zone);
      const bool average = series != nullptr && series->identity.kind == carbon::SignalKind::average;
      const auto intensity = average ? at(series->intensity, hour) : std::nullopt;
      if (!intensity) continue;
      priced = true;
      kwh += kwh_of(energy.energy[i]);
      grams += kwh_of(energy.energy[i]) * *intensity;
    }
    if (kwh > 0) row.ci.at(of_day) = grams / kwh;
    if (priced && view.visible) row.hourly_kg = row.hourly_kg.value_or(0) + grams / kGramsPerKilo;
    row.cfe.at(of_day) = match.hourly[i];
  }
  return days;
}

}  // namespace

std::string_view to_string(Scope scope) {
  switch (scope) {
    case Scope::cluster:
      return "cluster";
    case Scope::node:
      return "node";
    case Scope::team:
      return "team";
    case Scope::task_group:
      return "task_group";
    case Scope::task:
      return "task";
  }
  return "cluster";
}

std::optional<Scope> scope_from(std::string_view text) {
  for (const auto scope : {Scope::cluster, Scope::node, Scope::team, Scope::task_group, Scope::task})
    if (to_string(scope) == text) return scope;
  return std::nullopt;
}

Result<Report> make_report(const Booked& booked, const Policy& stated, const carbon::CarbonView& view) {
  Report report;
  report.pue = pue_of(booked, stated);
  Policy policy = stated;
  if (report.pue.metered) policy.pue = Stated{*report.pue.value.value, "metered"};
  report.window = booked.window;
  report.scope = booked.scope;
  report.view = view;
  report.factor = policy.factor;
  report.seals = booked.seals;
  report.sealed = wholly_sealed(booked);
  report.with_simulated = policy.with_simulated;
  report.policy = stated;
  const Subject all = everything(booked);
  report.zone_factors = annual_of(all.by_zone, booked.window, policy, view).of_zones;
  const double total = kwh_of(sum_of(all.by_zone));
  // Contracts are of the whole organisation: each line has its part by energy, and no more than it used.
  const double contracted =
      policy.contracted_kwh_per_month ? policy.contracted_kwh_per_month->value * months_in(booked.window) : 0;
  const double whole =
      std::max(total, booked.whole ? kwh_of(*booked.whole) : total + kwh_of(booked.unattributed));
  const double contracted_share = whole > 0 ? std::min(1.0, contracted / whole) : 0;
  for (const auto& subject : booked.subjects) {
    const double share = whole > 0 ? kwh_of(sum_of(subject.by_zone)) / whole : 0;
    TW_TRY(auto line,
           line_of(subject, booked, policy, view, contracted_share, share, booked.scope == Scope::cluster));
    line.savings = savings_of(booked, &subject, policy, view);
    report.lines.push_back(std::move(line));
  }
  const double supply_share = whole > 0 ? total / whole : 0;
  TW_TRY(report.total, line_of(all, booked, policy, view, contracted_share, supply_share,
                               booked.scope == Scope::cluster || booked.scope == Scope::node));
  report.site = site_use_of(report, policy, whole, months_in(booked.window));
  report.total.savings = savings_of(booked, nullptr, policy, view);
  if (booked.scope != Scope::cluster && booked.scope != Scope::node && booked.unattributed != kNothing)
    report.unattributed = booked.unattributed;
  const auto load = cfe_hours(all.by_zone, booked.window, policy, supply_share);
  TW_TRY(const auto match, match_hourly(load));
  report.days = days_of(all, booked, policy, view, match);
  if (policy.battery) {
    TW_TRY(report.battery, run_battery(load, *policy.battery));
  }
  for (const auto& [zone, booked_there] : all.by_zone)
    if (const ZoneSeries* series = series_of(policy, zone))
      report.series.push_back({zone, series->identity,
                               static_cast<std::size_t>(std::count_if(
                                   series->intensity.hours.begin(), series->intensity.hours.end(),
                                   [](const auto& value) { return value.has_value(); })),
                               booked.window.hours(), carbon::may_enter_scope_2(series->identity)});
  return report;
}

}  // namespace tidewatt::reports
