// tidewatt study year, tidewatt study outage: a year of a cluster's jobs in several zones, and days without a
// signal.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "study_table.h"
#include "tidewatt/studies/shifting.h"
#include "tidewatt/studies/simulator.h"
#include "year_figure.h"

namespace tidewatt::cli {
namespace {

using Json = nlohmann::json;
using namespace studies;

constexpr std::array kZones = {"AU-SA", "DE", "GB", "PL", "US-CAL-CISO"};
constexpr std::array kSlackHours = {6.0, 24.0, 168.0};
constexpr std::array kLengthNames = {"<1 h", "1-4 h", "4-12 h", "12-24 h", ">24 h"};
constexpr std::array kLengthEnds = {1.0, 4.0, 12.0, 24.0};
/// Of a running job: one in two thousand hours.
constexpr double kFailuresPerHour = 1.0 / 2000;
/// The cap lies this much above the mean load, and never below the largest job.
constexpr double kCapOverMean = 2;

struct PolicyRun {
  const char* name;
  WaitPolicy policy;
  bool perfect;
};
constexpr std::array kPolicies = {PolicyRun{"one_window", WaitPolicy::one_window, false},
                                  PolicyRun{"pieces", WaitPolicy::pieces, false},
                                  PolicyRun{"one_window_perfect", WaitPolicy::one_window, true},
                                  PolicyRun{"pieces_perfect", WaitPolicy::pieces, true}};

Result<std::vector<double>> zone_hours(const StudyOptions& options, const std::string& zone) {
  TW_TRY(const auto table, read_study_table(options.data + "/traces/carbon-123zones-2022/" + zone + ".csv.gz",
                                            {"gco2_per_kwh"}));
  return table->numbers("gco2_per_kwh");
}

Result<std::vector<SimulatedJob>> trace_jobs(const StudyOptions& options) {
  const auto path = options.data + "/traces/gaia/pai-100k.csv.gz";
  TW_TRY(const auto table, read_study_table(path, {"arrival_time", "length", "cpus"}));
  std::vector<SimulatedJob> jobs;
  for (std::size_t row = 0; row < table->rows.size(); ++row) {
    SimulatedJob job;
    TW_TRY(job.arrival_hours, table->number(row, "arrival_time"));
    TW_TRY(job.length_hours, table->number(row, "length"));
    TW_TRY(job.cpus, table->number(row, "cpus"));
    constexpr double kMostHours = 24.0 * 366;
    if (job.arrival_hours < 0 || job.arrival_hours > kMostHours || job.length_hours <= 0 ||
        job.length_hours > kMostHours || job.cpus <= 0)
      return fail(ErrorCode::invalid_input, fmt::format("{}: row {} is no job of a year", path, row + 2));
    while (job.cell < kLengthEnds.size() && job.length_hours >= kLengthEnds[job.cell]) ++job.cell;
    jobs.push_back(job);
  }
  std::ranges::stable_sort(jobs, {}, &SimulatedJob::arrival_hours);
  return jobs;
}

double cap_of(const std::vector<SimulatedJob>& jobs, std::size_t hours) {
  double work = 0;
  double largest = 0;
  for (const auto& job : jobs) {
    work += job.length_hours * job.cpus;
    largest = std::max(largest, job.cpus);
  }
  return std::max(largest, kCapOverMean * work / static_cast<double>(hours));
}

/// One cell's waiting beside run-now under the same caps. Rows of zones can be added up.
struct CellSum {
  SimulatedCell now, waits;

  void add(const SimulatedCell& of_now, const SimulatedCell& of_waits) {
    add_to(now, of_now);
    add_to(waits, of_waits);
  }
  static void add_to(SimulatedCell& sum, const SimulatedCell& part) {
    sum.jobs += part.jobs;
    sum.cpu_hours += part.cpu_hours;
    sum.carbon += part.carbon;
    sum.wait_hours += part.wait_hours;
    sum.wait_p95_hours = std::max(sum.wait_p95_hours, part.wait_p95_hours);
    sum.late += part.late;
    sum.late_unfailed += part.late_unfailed;
    sum.pauses += part.pauses;
  }
  [[nodiscard]] Json row(const std::string& zone, const std::string& length, double slack,
                         const std::string& policy) const {
    const auto jobs = static_cast<double>(waits.jobs);
    return {{"zone", zone},
            {"length", length},
            {"slack_hours", slack},
            {"policy", policy},
            {"jobs", waits.jobs},
            {"run_now_g_per_kwh", now.carbon / now.cpu_hours},
            {"saved_percent", saved_percent(now.carbon, waits.carbon)},
            {"wait_mean_hours", waits.wait_hours / jobs},
            {"wait_p95_hours", waits.wait_p95_hours},
            {"run_now_wait_mean_hours", now.wait_hours / jobs},
            {"late", waits.late},
            {"late_without_failure", waits.late_unfailed},
            {"run_now_late", now.late},
            {"pauses_per_job", static_cast<double>(waits.pauses) / jobs}};
  }
};

/// Sums per length, and over all lengths in the last.
using Lengths = std::array<CellSum, kLengthNames.size() + 1>;

void add_lengths(Lengths& sums, const SimulationResult& now, const SimulationResult& waits) {
  for (std::size_t c = 0; c < std::min(now.cells.size(), waits.cells.size()); ++c) {
    sums[c].add(now.cells[c], waits.cells[c]);
    sums.back().add(now.cells[c], waits.cells[c]);
  }
}

void add_rows(Json& rows, const Lengths& sums, const std::string& zone, double slack, const char* policy) {
  for (std::size_t c = 0; c < sums.size(); ++c)
    if (sums[c].waits.jobs > 0)
      rows.push_back(sums[c].row(zone, c < kLengthNames.size() ? kLengthNames[c] : "all", slack, policy));
}

}  // namespace

Result<int> run_year_study(const StudyOptions& options) {
  TW_TRY(const auto jobs, trace_jobs(options));
  auto rows = Json::array();
  std::map<std::pair<double, std::string>, Lengths> over_zones;
  double cap = 0;
  double peak = 0;
  std::size_t failures = 0;
  std::size_t left_out = 0;
  for (const std::string zone : kZones) {
    TW_TRY(const auto hours, zone_hours(options, zone));
    cap = cap_of(jobs, hours.size());
    for (const double slack : kSlackHours) {
      SimulationSettings settings;
      settings.slack_hours = slack;
      settings.cap_cpus = cap;
      settings.failures_per_hour = kFailuresPerHour;
      const auto now = simulate(hours, jobs, settings);
      left_out = std::max(left_out, now.left_out);
      for (const auto& run : kPolicies) {
        settings.policy = run.policy;
        settings.perfect = run.perfect;
        const auto waits = simulate(hours, jobs, settings);
        peak = std::max({peak, now.peak_cpus, waits.peak_cpus});
        failures += waits.failures;
        Lengths sums;
        add_lengths(sums, now, waits);
        add_lengths(over_zones[{slack, run.name}], now, waits);
        add_rows(rows, sums, zone, slack, run.name);
      }
      fmt::print(stderr, "{}: {} h of slack done\n", zone, slack);
    }
  }
  auto means = Json::array();
  for (const auto& [key, sums] : over_zones) add_rows(means, sums, "all", key.first, key.second.c_str());
  if (!options.figure.empty()) TW_TRY_STATUS(write_year_figure(options.figure, means));
  Json head{{"trace", "Alibaba PAI, 100k jobs of a year"},
            {"zones", std::vector<std::string>(kZones.begin(), kZones.end())},
            {"cap_cpus", cap},
            {"peak_cpus", peak},
            {"failures", failures},
            {"left_out_most", left_out}};
  if (options.json) head["by_zone"] = rows;
  return print_study(options, "year", head, means,
                     {{"length", 0},
                      {"slack_hours", 0},
                      {"policy", 0},
                      {"jobs", 0},
                      {"saved_percent", 2},
                      {"wait_mean_hours", 2},
                      {"wait_p95_hours", 1},
                      {"run_now_wait_mean_hours", 2},
                      {"late", 0},
                      {"late_without_failure", 0},
                      {"run_now_late", 0},
                      {"pauses_per_job", 2}});
}

Result<int> run_outage_study(const StudyOptions& options) {
  constexpr std::size_t kOutageHours = 72;
  constexpr std::size_t kFirst = 24 * 42;
  constexpr std::size_t kEvery = 24 * 14 + 5;  // so that they begin at different hours of the day
  auto rows = Json::array();
  for (const std::string zone : {"US-CAL-CISO", "DE"}) {
    TW_TRY(const auto hours, zone_hours(options, zone));
    SimulationSettings settings;
    settings.slack_hours = 24;
    std::vector<SimulatedJob> jobs;
    for (auto from = kFirst; from + kOutageHours + 48 < hours.size(); from += kEvery) {
      settings.outages.push_back({from, from + kOutageHours});
      for (auto hour = from; hour < from + kOutageHours; ++hour)
        jobs.push_back({static_cast<double>(hour), 4, 1, 0});
    }
    const auto now = simulate(hours, jobs, settings);
    for (const auto policy : {WaitPolicy::one_window, WaitPolicy::pieces}) {
      settings.policy = policy;
      settings.perfect = false;
      const auto out = simulate(hours, jobs, settings);
      auto with_signal = settings;
      with_signal.outages.clear();
      const auto in = simulate(hours, jobs, with_signal);
      settings.perfect = true;
      const auto perfect = simulate(hours, jobs, settings);
      if (now.cells.empty()) return fail(ErrorCode::invalid_input, zone + ": the series is too short");
      const auto saved = [&](const SimulationResult& result) {
        return saved_percent(now.cells[0].carbon, result.cells[0].carbon);
      };
      rows.push_back({{"zone", zone},
                      {"kind", policy == WaitPolicy::pieces ? "interrupting" : "one_window"},
                      {"outages", settings.outages.size()},
                      {"jobs", out.cells[0].jobs},
                      {"deadlines_missed", out.cells[0].late},
                      {"waiting_for_the_signal", out.cells[0].undecided},
                      {"perfect_percent", saved(perfect)},
                      {"with_signal_percent", saved(in)},
                      {"in_outage_percent", saved(out)},
                      {"points_below_perfect", saved(perfect) - saved(out)}});
    }
  }
  return print_study(options, "outage",
                     Json{{"outage_hours", kOutageHours}, {"job_hours", 4}, {"slack_hours", 24}}, rows,
                     {{"zone", 0},
                      {"kind", 0},
                      {"outages", 0},
                      {"jobs", 0},
                      {"deadlines_missed", 0},
                      {"waiting_for_the_signal", 0},
                      {"perfect_percent", 2},
                      {"with_signal_percent", 2},
                      {"in_outage_percent", 2},
                      {"points_below_perfect", 2}});
}

}  // namespace tidewatt::cli
