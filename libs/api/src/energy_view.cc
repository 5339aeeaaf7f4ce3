#include "energy_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tidewatt/metering/beat.h"
#include "tidewatt/units/text.h"

namespace tidewatt::api {
namespace {

using ledger::WideMeasures;
constexpr WideMicrojoules kNothing{};
constexpr double kGoodCoverage = 0.99;

void widen(std::optional<UtcTime>& first, std::optional<UtcTime>& last,
           const std::optional<UtcTime>& other_first, const std::optional<UtcTime>& other_last) {
  if (other_first && (!first || *other_first < *first)) first = other_first;
  if (other_last && (!last || *other_last > *last)) last = other_last;
}

DomainTotal& domain_of(std::vector<DomainTotal>& domains, std::string_view domain, bool in_total) {
  const auto place = std::find_if(domains.begin(), domains.end(), [&](const DomainTotal& known) {
    return known.domain == domain && known.in_total == in_total;
  });
  if (place != domains.end()) return *place;
  return domains.emplace_back(DomainTotal{std::string{domain}, in_total, {}, Milliseconds{0}});
}

/// Energies of all in-total domains; seconds of the one with the largest gap.
void sum_up(Totals& totals) {
  WideMeasures sum;
  const DomainTotal* worst = nullptr;
  const DomainTotal* most_partial = nullptr;
  Milliseconds shared_time{0};
  for (const auto& domain : totals.domains) {
    if (!domain.in_total) continue;
    const auto& m = domain.measures;
    sum += m;
    shared_time = std::max(shared_time, m.shared_time);
    if (most_partial == nullptr || m.partial > most_partial->measures.partial) most_partial = &domain;
    if (worst == nullptr || m.gap > worst->measures.gap ||
        (m.gap == worst->measures.gap && m.covered > worst->measures.covered))
      worst = &domain;
  }
  if (worst == nullptr) return;
  sum.covered = worst->measures.covered;
  sum.gap = worst->measures.gap;
  sum.partial = most_partial->measures.partial;
  sum.shared_time = shared_time;
  totals.sum = sum;
  totals.open_gap = worst->open_gap;
  totals.seconds_of = worst->domain;
  totals.partial_of = most_partial->domain;
}

void add_notes(Json& notes, const TimeRange* range, const Totals& totals) {
  if (!totals.sum) {
    notes.push_back(note("no_data", "no sample was booked in this range: the energy is unknown, not zero"));
    return;
  }
  const WideMeasures& sum = *totals.sum;
  if (!totals.energy() && totals.rows == 0)
    notes.push_back(note("no_data", "no sample was booked in this range: the energy is unknown, not zero"));
  else if (!totals.energy())
    notes.push_back(note(
        "baseline", "only first samples were booked: the energy is known from the next one on, not zero"));
  if (const auto share = totals.coverage(); share && *share < kGoodCoverage)
    notes.push_back(
        note("gap",
             fmt::format("{} of the time is covered, {} s are gaps: real energy is higher than shown",
                         ledger::coverage_text(sum.covered, sum.gap, sum.partial), sum.gap.count() / 1000),
             Json{{"coverage_percent", std::floor(*share * 1000.0 + 1e-7) / 10.0},
                  {"gap_seconds", seconds(sum.gap)}}));
  if (totals.open_gap.count() > 0)
    notes.push_back(note("open_gap",
                         fmt::format("{} s of the gaps are open: nothing was heard since, and a hardware "
                                     "counter may still bridge them",
                                     totals.open_gap.count() / 1000),
                         Json{{"open_gap_seconds", seconds(totals.open_gap)}}));
  if (sum.partial.count() > 0)
    notes.push_back(note("partial",
                         fmt::format("in {} s some known device was unknown or only partly sampled",
                                     format_double(static_cast<double>(sum.partial.count()) / 1000.0)),
                         Json{{"partial_seconds", seconds(sum.partial)}}));
  if (sum.shared_time.count() > 0)
    notes.push_back(note(
        "shared_card", "part of it is an estimated share of cards that several tasks held (experimental)",
        Json{{"shared_seconds", seconds(sum.shared_time)}, {"shared_energy_uj", sum.shared.to_string()}}));
  if (sum.simulated > kNothing)
    notes.push_back(note("simulated", "simulated power: no real energy was used",
                         Json{{"simulated_uj", sum.simulated.to_string()}}));
  if (sum.spread > kNothing)
    notes.push_back(note("spread", "part of it bridges more than an hour and is spread evenly over the hours",
                         Json{{"spread_uj", sum.spread.to_string()}}));
  if (totals.adjustments != kNothing)
    notes.push_back(note("adjustments",
                         "part of it came after its month was sealed: it is counted, beside the sealed rows",
                         Json{{"adjustments_uj", totals.adjustments.to_string()}}));
  for (const auto& domain : totals.domains)
    if (!domain.in_total && (domain.domain == kDomainPlatform || domain.domain == metering::kDomainPdu))
      notes.push_back(note("platform_not_added",
                           "the whole-machine meter contains the components and is not added to them",
                           Json{{"energy_uj", domain.measures.energy.to_string()}}));
  if (range != nullptr && range->snapped())
    notes.push_back(note("total_hours", "totals are of whole UTC hours",
                         Json{{"from", format_rfc3339_short(start_of(range->from))},
                              {"to", format_rfc3339_short(start_of(range->to))}}));
}

Json method_json(const WideMeasures& measures) {
  const WideMicrojoules integrated = measures.energy - measures.counter;
  return Json{{"counter_kwh", kwh(measures.counter)},
              {"counter_uj", measures.counter.to_string()},
              {"integrated_kwh", kwh(integrated)},
              {"integrated_uj", integrated.to_string()}};
}

std::string_view quality_of(const WideMeasures& measures) {
  if (measures.simulated == kNothing) return "measured";
  return measures.simulated == measures.energy ? "simulated" : "mixed";
}

/// What the energy consists of. Where it is unknown, so are its parts.
void add_parts(Json& answer, const EnergySubject& subject, const WideMeasures* sum) {
  const auto part = [&](const std::string& name, WideMicrojoules WideMeasures::* amount) {
    answer[name + "_kwh"] = sum != nullptr ? Json(kwh(sum->*amount)) : Json(nullptr);
    answer[name + "_uj"] = sum != nullptr ? Json((sum->*amount).to_string()) : Json(nullptr);
  };
  answer["method"] = sum != nullptr ? method_json(*sum) : Json(nullptr);
  answer["quality"] = sum != nullptr ? Json(quality_of(*sum)) : Json(nullptr);
  answer["simulated_uj"] = sum != nullptr ? Json(sum->simulated.to_string()) : Json(nullptr);
  answer["spread_uj"] = sum != nullptr ? Json(sum->spread.to_string()) : Json(nullptr);
  part("shared_energy", &WideMeasures::shared);
  if (subject.unattributed) part("unattributed", &WideMeasures::unattributed);
}

}  // namespace

std::optional<WideMicrojoules> known_energy(const WideMeasures& measures) {
  const bool known = measures.covered.count() > 0 || measures.energy != kNothing;
  return known ? std::optional{measures.energy} : std::nullopt;
}
std::optional<WideMicrojoules> Totals::energy() const { return sum ? known_energy(*sum) : std::nullopt; }
std::optional<double> Totals::coverage() const {
  return sum ? coverage_of(sum->covered, sum->gap) : std::nullopt;
}
bool Totals::in_total(std::string_view domain) const {
  return std::any_of(domains.begin(), domains.end(),
                     [&](const DomainTotal& known) { return known.in_total && known.domain == domain; });
}

Totals totals_of(std::span<const ledger::Account> accounts) {
  std::vector<std::string> listed;
  for (const auto& account : accounts) listed.push_back(account.key.domain);
  const auto rule = metering::node_total(listed, metering::Wanted::attributable);
  Totals totals;
  for (const auto& account : accounts) {
    const std::string& domain = account.key.domain;
    const bool in_total = std::find(rule.parts.begin(), rule.parts.end(), domain) != rule.parts.end();
    DomainTotal& total = domain_of(totals.domains, domain, in_total);
    total.measures += account.totals;
    total.open_gap += account.open_gap;
    if (in_total) totals.rows += account.rows;
    if (in_total) totals.adjustments += account.adjustments.energy;
    if (in_total)
      widen(totals.first_sample_at, totals.last_sample_at, account.first_sample_at, account.last_sample_at);
  }
  sum_up(totals);
  std::sort(totals.domains.begin(), totals.domains.end(),
            [](const DomainTotal& a, const DomainTotal& b) { return a.domain < b.domain; });
  return totals;
}

void add(Totals& sum, const Totals& other) {
  if (other.sum) {
    if (!sum.sum) sum.sum.emplace();
    *sum.sum += *other.sum;
  }
  sum.rows += other.rows;
  sum.adjustments += other.adjustments;
  sum.open_gap += other.open_gap;
  widen(sum.first_sample_at, sum.last_sample_at, other.first_sample_at, other.last_sample_at);
  for (const auto& domain : other.domains) {
    DomainTotal& total = domain_of(sum.domains, domain.domain, domain.in_total);
    total.measures += domain.measures;
    total.open_gap += domain.open_gap;
  }
  std::sort(sum.domains.begin(), sum.domains.end(), [](const DomainTotal& a, const DomainTotal& b) {
    return std::pair{std::string_view{a.domain}, !a.in_total} <
           std::pair{std::string_view{b.domain}, !b.in_total};
  });
}

std::map<SubjectKey, Totals> totals_by_subject(const std::vector<ledger::Account>& accounts) {
  std::map<SubjectKey, std::vector<ledger::Account>> grouped;
  for (const auto& account : accounts) grouped[{account.key.cluster, account.key.id}].push_back(account);
  std::map<SubjectKey, Totals> totals;
  for (const auto& [key, group] : grouped) totals.emplace(key, totals_of(group));
  return totals;
}

std::pair<std::string, int> split_part(std::string_view part) {
  const auto slash = part.rfind('/');
  if (slash == std::string_view::npos) return {std::string{part}, 0};
  const auto index = parse_int64(part.substr(slash + 1));
  return {std::string{part.substr(0, slash)}, index ? static_cast<int>(*index) : 0};
}

Json amount_json(std::optional<WideMicrojoules> energy) {
  return Json{{"energy_kwh", energy ? Json(kwh(*energy)) : Json(nullptr)},
              {"energy_uj", energy ? Json(energy->to_string()) : Json(nullptr)}};
}

Json energy_json(const Core& core, const Call& call, const EnergySubject& subject, const TimeRange* range,
                 const Totals& totals) {
  const auto energy = totals.energy();
  const WideMeasures* sum = totals.sum ? &*totals.sum : nullptr;
  const auto told = [sum](Milliseconds WideMeasures::* time) {
    return sum != nullptr ? seconds(sum->*time) : Json(nullptr);
  };
  Json answer{{"scope", subject.scope}, {"id", subject.id}, {"cluster", subject.cluster}};
  answer["from"] =
      range != nullptr ? Json(format_rfc3339_short(start_of(range->from))) : time(totals.first_sample_at);
  answer["to"] =
      range != nullptr ? Json(format_rfc3339_short(start_of(range->to))) : time(totals.last_sample_at);
  answer.update(amount_json(energy));
  answer["coverage"] = number(totals.coverage());
  answer["covered_seconds"] = told(&WideMeasures::covered);
  answer["gap_seconds"] = told(&WideMeasures::gap);
  answer["open_gap_seconds"] = sum != nullptr ? seconds(totals.open_gap) : Json(nullptr);
  answer["partial_seconds"] = told(&WideMeasures::partial);
  answer["shared_seconds"] = told(&WideMeasures::shared_time);
  answer["attribution"] = !subject.attribution ? Json(nullptr)
                          : energy             ? Json(ledger::attribution_of(*sum))
                                               : Json("unknown");
  add_parts(answer, subject, energy ? sum : nullptr);
  if (totals.adjustments != kNothing) {
    answer["adjustments_kwh"] = kwh(totals.adjustments);
    answer["adjustments_uj"] = totals.adjustments.to_string();
  }
  answer["rows"] = totals.rows;
  answer["first_sample_at"] = time(totals.first_sample_at);
  answer["last_sample_at"] = time(totals.last_sample_at);
  Json domains = Json::array();
  for (const auto& domain : totals.domains) {
    Json row{{"domain", domain.domain}};
    row.update(amount_json(known_energy(domain.measures)));
    row["coverage"] = coverage(domain.measures.covered, domain.measures.gap);
    row["gap_seconds"] = seconds(domain.measures.gap);
    row["partial_seconds"] = seconds(domain.measures.partial);
    row["in_total"] = domain.in_total;
    domains.push_back(std::move(row));
  }
  answer["domains"] = std::move(domains);
  Json notes = Json::array();
  add_notes(notes, range, totals);
  add_carbon(answer, &notes, core, call, energy);
  answer["notes"] = std::move(notes);
  return answer;
}

}  // namespace tidewatt::api
