#include "tidewatt/planning/plan_file.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "json_fields.h"
#include "plan_times.h"
#include "signals.h"
#include "tidewatt/units/text.h"

namespace tidewatt::planning {
namespace {

constexpr double kAnyNumber = -1e300;
constexpr double kMostNumber = 1e15;
constexpr std::size_t kMostListEntries = 2 * Limits::kSlots;

constexpr std::array kPolicies = {
    std::pair{std::string_view{"immediate"}, Policy::immediate},
    std::pair{std::string_view{"wait_awhile"}, Policy::wait_awhile},
    std::pair{std::string_view{"wait_awhile_interrupting"}, Policy::wait_awhile_interrupting},
    std::pair{std::string_view{"threshold"}, Policy::threshold},
    std::pair{std::string_view{"elastic"}, Policy::elastic},
    std::pair{std::string_view{"spatial"}, Policy::spatial},
    std::pair{std::string_view{"joint"}, Policy::joint},
    std::pair{std::string_view{"optimal"}, Policy::optimal},
    std::pair{std::string_view{"robust"}, Policy::robust}};
constexpr std::array kTolerances = {std::pair{std::string_view{"immediate"}, Tolerance::immediate},
                                    std::pair{std::string_view{"daily"}, Tolerance::daily},
                                    std::pair{std::string_view{"weekly"}, Tolerance::weekly},
                                    std::pair{std::string_view{"monthly"}, Tolerance::monthly}};
constexpr std::array kPriorities = {std::pair{std::string_view{"critical"}, Priority::critical},
                                    std::pair{std::string_view{"high"}, Priority::high},
                                    std::pair{std::string_view{"normal"}, Priority::normal},
                                    std::pair{std::string_view{"low"}, Priority::low}};

/// The value of a word, or a refusal that lists the known ones.
template <class T, std::size_t N>
T choose(const std::array<std::pair<std::string_view, T>, N>& known, std::string_view word, T otherwise,
         JsonFields& fields, std::string_view key) {
  std::string names;
  for (const auto& [name, value] : known) {
    if (name == word) return value;
    names += (names.empty() ? "" : ", ") + std::string{name};
  }
  fields.refuse("bad_value", key, "\"" + shown(word) + "\" is none of " + names);
  return otherwise;
}

class PlanReader {
 public:
  explicit PlanReader(const PlanSurroundings& surroundings) : surroundings_(surroundings) {}

  Result<Problem> read(Element root) {
    JsonFields fields{root, root_, refusal_};
    if (!refusal_.happened()) read_all(fields);
    if (refusal_.happened()) return tl::unexpected(refusal_.error());
    return std::move(problem_);
  }

 private:
  void read_all(JsonFields& fields) {
    read_head(fields);
    read_zones(fields);
    if (refusal_.happened()) return;
    read_sites(fields);
    if (refusal_.happened()) return;
    read_jobs(fields);
    read_budgets(fields);
    read_weights(fields);
    fields.no_others();
    if (!refusal_.happened()) check_size();
  }

  void read_head(JsonFields& fields) {
    const auto schema = fields.find("schema");
    std::string_view name;
    if (!schema || schema->get(name) != simdjson::SUCCESS || name != "tidewatt-plan/1") {
      fields.refuse("bad_schema", "schema", "must be \"tidewatt-plan/1\"");
      return;
    }
    problem_.slot = fields.integer("slot_minutes", 60, 1, Minute{60} * 24 * 366);
    const auto start = fields.required_string("start");
    problem_.start = read_time(start, "", Repeated::earlier, fields.at("start"), surroundings_, refusal_).at;
    constexpr std::array kGranularities = {std::pair{std::string_view{"slot"}, false},
                                           std::pair{std::string_view{"minute"}, true}};
    problem_.by_minute =
        choose(kGranularities, fields.string("granularity", "slot"), false, fields, "granularity");
    problem_.policy = choose(kPolicies, fields.string("policy", "joint"), Policy::joint, fields, "policy");
    problem_.do_no_harm = fields.boolean("do_no_harm", problem_.policy == Policy::robust);
    if (const auto gaps = fields.find("signal_gaps")) {
      const auto path = fields.at("signal_gaps");
      JsonFields inner{*gaps, path, refusal_};
      fill_at_most_ = static_cast<std::size_t>(inner.integer("interpolate_max_slots", 2, 0, 1'000'000'000));
      inner.no_others();
    }
  }

  /// A number for all slots, or a list; null entries only where `may_be_null`.
  std::vector<std::optional<double>> per_slot(Element value, const JsonPath& path, double least,
                                              bool may_be_null) {
    std::vector<std::optional<double>> all;
    const auto one = [&](Element entry, const JsonPath& where) {
      if (may_be_null && entry.is_null()) {
        all.emplace_back(std::nullopt);
        return;
      }
      const double number = read_number(entry, where, refusal_, least);
      if (number > kMostNumber)
        refusal_.refuse("bad_value", where.text(), format_double(number) + " is above 1e15");
      all.emplace_back(number);
    };
    if (!value.is_array()) {
      one(value, path);
      return all;
    }
    const auto list = read_array(value, path, refusal_, kMostListEntries);
    if (!list) return all;
    if (list->size() == 0) refusal_.refuse("bad_value", path.text(), "is an empty list");
    std::size_t index = 0;
    all.reserve(list->size());
    for (const Element entry : *list) {
      one(entry, JsonPath{&path, {}, index++});
      if (refusal_.happened()) break;
    }
    return all;
  }

  Series read_series(Element value, const JsonPath& path) {
    Series series;
    const auto list = read_array(value, path, refusal_, Limits::kSlots);
    if (!list || list->size() == 0) return series;
    return per_slot(value, path, 0, true);
  }

  Series read_csv(std::string_view name, const JsonPath& path, Zone& zone) {
    const auto refuse = [&](const std::string& why) {
      refusal_.refuse("csv_unreadable", path.text(), "\"" + shown(name) + "\": " + why);
      return Series{};
    };
    if (name.empty() || name.front() == '/' || name.find('\0') != std::string_view::npos)
      return refuse("must be a path relative to the plan file");
    const auto text = surroundings_.read_csv(std::string{name});
    if (!text) return refuse(text.error().message);
    const auto series = series_from_csv(*text, problem_.start, problem_.slot, Limits::kSlots);
    if (!series) return refuse(series.error().message);
    if (problem_.do_no_harm) {
      auto past = past_from_csv(*text, problem_.start, problem_.slot);
      if (!past) return refuse(past.error().message);
      zone.past = std::move(*past);
    }
    return *series;
  }

  std::optional<ErrorRecord> read_error_record(JsonFields& zone) {
    const auto value = zone.find_not_null("error");
    if (!value) return std::nullopt;
    const auto path = zone.at("error");
    JsonFields fields{*value, path, refusal_};
    ErrorRecord record;
    const auto read_list = [&](std::string_view key, std::vector<double>& into) {
      const auto list = fields.require(key);
      if (!list) return;
      if (!list->is_array()) return fields.refuse("bad_type", key, "must be a list of numbers");
      for (const auto& number : per_slot(*list, fields.at(key), 0, false)) into.push_back(number.value_or(0));
    };
    read_list("lead_hours", record.lead_hours);
    read_list("std_g", record.std_g);
    record.rho = fields.number("rho", 0, 0);
    if (record.rho > 1) fields.refuse("bad_value", "rho", format_double(record.rho) + " is above 1");
    if (record.lead_hours.size() != record.std_g.size())
      fields.refuse("bad_value", "std_g", "must be as long as lead_hours");
    if (std::adjacent_find(record.lead_hours.begin(), record.lead_hours.end(), std::greater_equal<>{}) !=
        record.lead_hours.end())
      fields.refuse("bad_value", "lead_hours", "must rise");
    fields.no_others();
    return record;
  }

  void read_zones(JsonFields& fields) {
    const auto zones = fields.require("zones");
    if (!zones) return;
    const auto path = fields.at("zones");
    simdjson::dom::object object;
    if (zones->get(object) != simdjson::SUCCESS)
      return refusal_.refuse("bad_type", path.text(), "must be an object of zones");
    if (object.size() > Limits::kZones)
      return refusal_.refuse("too_large", path.text(),
                             "more than " + std::to_string(Limits::kZones) + " zones");
    {
      JsonFields unique{*zones, path, refusal_};
    }
    std::string_view kind_of_all;
    for (const auto field : object) {
      if (refusal_.happened()) return;
      const JsonPath where{&path, field.key, std::nullopt};
      const auto kind = read_zone(field.key, field.value, where);
      if (!kind_of_all.empty() && kind != kind_of_all)
        refusal_.refuse("mixed_signal_kinds", JsonPath{&where, "kind", std::nullopt}.text(),
                        "zones of average and of marginal intensity can't be compared; use one kind");
      kind_of_all = kind;
    }
    for (const auto& zone : problem_.zones) problem_.slots = std::max(problem_.slots, zone.ci.size());
  }

  /// @return the signal's kind
  std::string_view read_zone(std::string_view name, Element value, const JsonPath& path) {
    JsonFields fields{value, path, refusal_};
    Zone zone;
    zone.name = std::string{name};
    const auto list = fields.find("ci_g_per_kwh");
    const auto csv = fields.find("csv");
    if (list && csv) fields.refuse("bad_value", "csv", "stands beside ci_g_per_kwh; give one of them");
    if (!list && !csv) fields.refuse("missing_key", "ci_g_per_kwh", "is required, or csv in its place");
    Series series;
    if (list)
      series = read_series(*list, fields.at("ci_g_per_kwh"));
    else if (csv && !refusal_.happened())
      series = read_csv(read_string(*csv, fields.at("csv"), refusal_), fields.at("csv"), zone);
    fill_gaps(series, fill_at_most_, zone);
    if (const auto price = fields.find_not_null("price_per_kwh"))
      zone.price = per_slot(*price, fields.at("price_per_kwh"), kAnyNumber, true);
    zone.error = read_error_record(fields);
    constexpr std::array kKinds = {std::pair{std::string_view{"average"}, std::string_view{"average"}},
                                   std::pair{std::string_view{"marginal"}, std::string_view{"marginal"}}};
    const auto kind =
        choose(kKinds, fields.string("kind", "average"), std::string_view{"average"}, fields, "kind");
    fields.no_others();
    zone_index_.emplace(zone.name, problem_.zones.size());
    problem_.zones.push_back(std::move(zone));
    return kind;
  }

  void read_sites(JsonFields& fields) {
    const auto value = fields.require("sites");
    if (!value) return;
    const auto path = fields.at("sites");
    const auto list = read_array(*value, path, refusal_, Limits::kSites);
    if (!list) return;
    if (list->size() == 0) refusal_.refuse("bad_value", path.text(), "needs at least one site");
    std::size_t index = 0;
    for (const Element entry : *list) {
      if (refusal_.happened()) return;
      read_site(entry, JsonPath{&path, {}, index++});
    }
  }

  void read_site(Element value, const JsonPath& path) {
    JsonFields fields{value, path, refusal_};
    Site site;
    site.id = std::string{fields.required_string("id")};
    if (!site_index_.emplace(site.id, static_cast<int>(problem_.sites.size())).second)
      fields.refuse("duplicate_id", "id", "\"" + shown(site.id) + "\" is the id of an earlier site");
    const auto zone = std::string{fields.required_string("zone")};
    if (const auto found = zone_index_.find(zone); found != zone_index_.end())
      site.zone = found->second;
    else
      fields.refuse("unknown_zone", "zone", "\"" + shown(zone) + "\" is none of the plan's zones");
    site.pue = {1.0};
    if (const auto pue = fields.find("pue")) {
      site.pue.clear();
      for (const auto& entry : per_slot(*pue, fields.at("pue"), 1, false))
        site.pue.push_back(entry.value_or(1));
    }
    if (const auto cap = fields.find_not_null("power_cap_kw"))
      site.cap_kw = per_slot(*cap, fields.at("power_cap_kw"), 0, true);
    if (const auto events = fields.find_not_null("events")) read_events(*events, fields.at("events"), site);
    if (const auto thermal = fields.find_not_null("thermal"))
      site.thermal = read_thermal(*thermal, fields.at("thermal"));
    fields.number("idle_kw", 0, 0);
    if (const auto devices = fields.find_not_null("devices"))
      site.devices = read_integer(*devices, fields.at("devices"), refusal_, 0, 1'000'000'000);
    fields.no_others();
    problem_.sites.push_back(std::move(site));
  }

  void read_events(Element value, const JsonPath& path, Site& site) {
    const auto list = read_array(value, path, refusal_, Limits::kSlots);
    if (!list) return;
    std::size_t index = 0;
    for (const Element entry : *list) {
      const JsonPath where{&path, {}, index++};
      JsonFields fields{entry, where, refusal_};
      const auto from = read_time(fields.required_string("from"), "", Repeated::earlier, fields.at("from"),
                                  surroundings_, refusal_);
      const auto to = read_time(fields.required_string("to"), "", Repeated::later, fields.at("to"),
                                surroundings_, refusal_);
      if (!refusal_.happened() && to.at <= from.at) fields.refuse("bad_value", "to", "must be after from");
      Event event{minutes_down(from.at, problem_.start), minutes_up(to.at, problem_.start),
                  fields.required_number("available_power_kw", 0)};
      fields.no_others();
      if (refusal_.happened()) return;
      if (event.to > 0) site.events.push_back(event);
    }
  }

  Thermal read_thermal(Element value, const JsonPath& path) {
    JsonFields fields{value, path, refusal_};
    Thermal thermal;
    thermal.min_on = fields.integer("min_on_minutes", 0, 0, Limits::kMinutes);
    thermal.min_off = fields.integer("min_off_minutes", 0, 0, Limits::kMinutes);
    thermal.pump_kw = fields.number("pump_kw", 0, 0);
    thermal.pump_pre = fields.integer("pump_pre_minutes", 0, 0, Limits::kMinutes);
    thermal.pump_post = fields.integer("pump_post_minutes", 0, 0, Limits::kMinutes);
    if (const auto ramp = fields.find_not_null("ramp_kw_per_minute"))
      thermal.ramp_kw_per_minute = read_number(*ramp, fields.at("ramp_kw_per_minute"), refusal_, 0);
    if (const auto starts = fields.find_not_null("max_starts_per_hour"))
      thermal.max_starts_per_hour =
          read_integer(*starts, fields.at("max_starts_per_hour"), refusal_, 1, 1'000'000);
    fields.no_others();
    return thermal;
  }

  void read_jobs(JsonFields& fields) {
    const auto value = fields.require("jobs");
    if (!value) return;
    const auto path = fields.at("jobs");
    const auto list = read_array(*value, path, refusal_, Limits::kJobs);
    if (!list) return;
    problem_.jobs.reserve(list->size());
    job_ids_.reserve(list->size());
    std::size_t index = 0;
    for (const Element entry : *list) {
      read_job(entry, JsonPath{&path, {}, index++});
      if (refusal_.happened()) return;
    }
  }

  void read_job(Element value, const JsonPath& path) {
    JsonFields fields{value, path, refusal_};
    Job job;
    job.id = std::string{fields.required_string("id")};
    if (!job_ids_.insert(job.id).second)
      fields.refuse("duplicate_id", "id", "\"" + shown(job.id) + "\" is the id of an earlier job");
    read_window(fields, job);
    if (const auto elastic = fields.find_not_null("elastic"))
      job.elastic = read_elastic(*elastic, fields.at("elastic"));
    const bool fixed = !job.elastic;
    if (fixed) {
      job.duration = fields.required_integer("duration_minutes", 0, Limits::kMinutes);
      job.power_kw = fields.required_number("power_kw", 0);
    } else {
      job.duration = fields.integer("duration_minutes", 0, 0, Limits::kMinutes);
      job.power_kw = fields.number("power_kw", 0, 0);
    }
    job.interruptible = fields.boolean("interruptible", false);
    job.suspend_kwh = fields.number("suspend_kwh", 0, 0);
    job.resume_kwh = fields.number("resume_kwh", 0, 0);
    job.migration_kwh = fields.number("migration_kwh", 0, 0);
    job.move_gb = fields.number("move_gb", 0, 0);
    job.min_run = fields.integer("min_run_minutes", 0, 0, Limits::kMinutes);
    job.sites = read_job_sites(fields);
    if (const auto priority = fields.find("priority"))
      job.priority = choose(kPriorities, read_string(*priority, fields.at("priority"), refusal_),
                            Priority::normal, fields, "priority");
    if (const auto team = fields.find_not_null("team"))
      job.team = std::string{read_string(*team, fields.at("team"), refusal_)};
    job.devices = fields.integer("devices", 0, 0, 1'000'000'000);
    fields.no_others();
    if (!refusal_.happened()) problem_.jobs.push_back(std::move(job));
  }

  void read_window(JsonFields& fields, Job& job) {
    std::string zone;
    if (const auto named = fields.find_not_null("timezone")) {
      zone = std::string{read_string(*named, fields.at("timezone"), refusal_)};
      if (!refusal_.happened() && !surroundings_.has_zone(zone))
        fields.refuse("unknown_timezone", "timezone",
                      "\"" + shown(zone) + "\" is no IANA zone such as Europe/Berlin");
    }
    if (const auto release = fields.find("release")) {
      const auto path = fields.at("release");
      const auto time = read_time(read_string(*release, path, refusal_), zone, Repeated::earlier, path,
                                  surroundings_, refusal_);
      job.release = std::max<Minute>(0, minutes_up(time.at, problem_.start));
      if (time.repeated)
        job.notes.emplace_back("the release's local time exists twice: the earlier instant is meant");
    }
    if (const auto deadline = fields.find_not_null("deadline")) {
      const auto path = fields.at("deadline");
      const auto time = read_time(read_string(*deadline, path, refusal_), zone, Repeated::later, path,
                                  surroundings_, refusal_);
      job.deadline = minutes_down(time.at, problem_.start);
      if (time.repeated)
        job.notes.emplace_back("the deadline's local time exists twice: the later instant is meant");
    }
    if (const auto tolerance = fields.find_not_null("tolerance"))
      job.tolerance = choose(kTolerances, read_string(*tolerance, fields.at("tolerance"), refusal_),
                             Tolerance::immediate, fields, "tolerance");
  }

  std::vector<int> read_job_sites(JsonFields& fields) {
    const auto value = fields.find_not_null("sites");
    if (!value) return {0};
    const auto path = fields.at("sites");
    const auto list = read_array(*value, path, refusal_, Limits::kSites);
    std::vector<int> sites;
    if (!list) return {0};
    std::size_t index = 0;
    for (const Element entry : *list) {
      const JsonPath where{&path, {}, index++};
      const auto name = read_string(entry, where, refusal_);
      const auto found = site_index_.find(std::string{name});
      if (found == site_index_.end()) {
        refusal_.refuse("unknown_site", where.text(), "\"" + shown(name) + "\" is none of the plan's sites");
        return {0};
      }
      if (std::find(sites.begin(), sites.end(), found->second) == sites.end()) sites.push_back(found->second);
    }
    return sites.empty() ? std::vector<int>{0} : sites;
  }

  Elastic read_elastic(Element value, const JsonPath& path) {
    JsonFields fields{value, path, refusal_};
    Elastic elastic;
    elastic.work = fields.required_number("work", 0);
    const auto read_list = [&](std::string_view key, double least, std::vector<double>& into) {
      const auto list = fields.require(key);
      if (!list) return;
      const auto where = fields.at(key);
      if (!read_array(*list, where, refusal_, Limits::kReplicas)) return;
      for (const auto& number : per_slot(*list, where, least, false)) into.push_back(number.value_or(0));
    };
    read_list("throughput_per_hour", 0, elastic.throughput);
    read_list("power_kw", 0, elastic.power_kw);
    const auto counts = static_cast<std::int64_t>(elastic.power_kw.size());
    if (elastic.throughput.size() != elastic.power_kw.size())
      fields.refuse("bad_value", "throughput_per_hour", "must be as long as power_kw");
    if (refusal_.happened()) return elastic;
    elastic.min = static_cast<int>(fields.integer("min", 1, 1, counts));
    elastic.max = static_cast<int>(fields.integer("max", counts, elastic.min, counts));
    if (!refusal_.happened() && elastic.throughput[static_cast<std::size_t>(elastic.max - 1)] <= 0)
      fields.refuse("bad_value", "throughput_per_hour", "must be above 0 at max replicas");
    fields.no_others();
    return elastic;
  }

  void read_budgets(JsonFields& fields) {
    const auto value = fields.find_not_null("budgets");
    if (!value) return;
    const auto path = fields.at("budgets");
    JsonFields unique{*value, path, refusal_};
    simdjson::dom::object object;
    if (value->get(object) != simdjson::SUCCESS) return;
    for (const auto field : object)
      problem_.budgets[std::string{field.key}] =
          read_number(field.value, JsonPath{&path, field.key, std::nullopt}, refusal_, 0);
  }

  void read_weights(JsonFields& fields) {
    const auto value = fields.find_not_null("weights");
    if (!value) return;
    const auto path = fields.at("weights");
    JsonFields inner{*value, path, refusal_};
    Weights weights;
    weights.carbon = inner.number("carbon", 1, 0);
    weights.price = inner.number("price", 0, 0);
    weights.delay = inner.number("delay", 0, 0);
    weights.bytes = inner.number("bytes", 0, 0);
    inner.no_others();
    problem_.weights = weights;
  }

  void check_size() {
    if (problem_.jobs.size() * std::max<std::size_t>(1, problem_.slots) > Limits::kJobSlots)
      refusal_.refuse("too_large", "$.jobs",
                      std::to_string(problem_.jobs.size()) + " jobs times " + std::to_string(problem_.slots) +
                          " slots; the product is at most " + std::to_string(Limits::kJobSlots));
  }

  const PlanSurroundings& surroundings_;
  JsonPath root_;
  Refusal refusal_;
  Problem problem_;
  std::size_t fill_at_most_ = 2;
  std::unordered_map<std::string, std::size_t> zone_index_;
  std::unordered_map<std::string, int> site_index_;
  std::unordered_set<std::string> job_ids_;
};

}  // namespace

Result<Problem> parse_plan(std::string_view text, const PlanSurroundings& surroundings) {
  if (text.size() > Limits::kFileBytes)
    return fail(ErrorCode::invalid_input, "too_large: $: the file is larger than " +
                                              std::to_string(Limits::kFileBytes >> 20U) + " MiB");
  constexpr std::size_t kMostDepth = 32;
  simdjson::dom::parser parser{Limits::kFileBytes};
  if (const auto error = parser.allocate(std::max<std::size_t>(text.size(), 64), kMostDepth);
      error != simdjson::SUCCESS)
    return fail(ErrorCode::internal, simdjson::error_message(error));
  const simdjson::padded_string padded{text};
  Element root;
  if (const auto error = parser.parse(padded).get(root); error != simdjson::SUCCESS)
    return fail(ErrorCode::invalid_input, std::string{"bad_json: $: "} + simdjson::error_message(error));
  return PlanReader{surroundings}.read(root);
}

}  // namespace tidewatt::planning
