// tidewatt study NAME --data DIR: published studies on their own data.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "../command.h"
#include "../input.h"
#include "study_table.h"
#include "tidewatt/studies/eurosys24.h"
#include "tidewatt/studies/gaia.h"
#include "tidewatt/studies/wait_awhile.h"
#include "tidewatt/units/text.h"
#include "tidewatt/units/time.h"

namespace tidewatt::cli {
namespace {

using Json = nlohmann::json;
using namespace studies;

Result<int> run_eurosys24(const StudyOptions& options) {
  const auto folder = options.data + "/traces/carbon-123zones-2022";
  std::map<std::pair<std::string, std::size_t>, Eurosys24Row> published;
  if (std::filesystem::exists(folder + "/eurosys24_slack24.csv")) {
    TW_TRY(const auto table,
           read_study_table(folder + "/eurosys24_slack24.csv",
                            {"zone", "job_hours", "mean_slack_0", "mean_non_interrupt", "mean_interrupt"}));
    for (std::size_t row = 0; row < table->rows.size(); ++row) {
      TW_TRY(const auto job, table->number(row, "job_hours"));
      Eurosys24Row one;
      TW_TRY(one.at_once, table->number(row, "mean_slack_0"));
      TW_TRY(one.one_window, table->number(row, "mean_non_interrupt"));
      TW_TRY(one.interrupting, table->number(row, "mean_interrupt"));
      published[{std::string{table->at(row, "zone")}, static_cast<std::size_t>(job)}] = one;
    }
  }
  std::vector<std::string> zones;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure))
    if (const auto name = entry.path().filename().string(); name.ends_with(".csv.gz"))
      zones.push_back(name.substr(0, name.size() - 7));
  if (failure || zones.empty())
    return fail(ErrorCode::not_found, "there is no series ZONE.csv.gz in " + folder,
                "--data names the folder that holds traces/");
  std::ranges::sort(zones);
  constexpr std::size_t kSlack = 24;
  auto rows = Json::array();
  double largest = 0;
  std::size_t compared = 0;
  for (const auto& zone : zones) {
    TW_TRY(const auto table, read_study_table(folder + "/" + zone + ".csv.gz", {"gco2_per_kwh"}));
    TW_TRY(const auto hours, table->numbers("gco2_per_kwh"));
    for (const std::size_t job : {1U, 6U, 12U, 24U, 48U, 96U}) {
      const auto row = eurosys24(hours, job, kSlack);
      rows.push_back({{"zone", zone},
                      {"job_hours", job},
                      {"at_once_g", row.at_once},
                      {"one_window_g", row.one_window},
                      {"interrupting_g", row.interrupting}});
      const auto found = published.find({zone, job});
      if (found == published.end()) continue;
      ++compared;
      largest = std::max({largest, std::abs(row.at_once - found->second.at_once),
                          std::abs(row.one_window - found->second.one_window),
                          std::abs(row.interrupting - found->second.interrupting)});
    }
  }
  Json head{{"zones", zones.size()}, {"slack_hours", kSlack}, {"compared_with_published", compared}};
  head["largest_difference_g"] = compared > 0 ? Json(largest) : Json(nullptr);
  return print_study(
      options, "eurosys24", head, rows,
      {{"zone", 0}, {"job_hours", 0}, {"at_once_g", 4}, {"one_window_g", 4}, {"interrupting_g", 4}});
}

Result<int> run_gaia(const StudyOptions& options) {
  const auto folder = options.data + "/traces/gaia";
  TW_TRY(const auto zone, read_study_table(folder + "/AU-SA_2022.csv.gz", {"gco2_per_kwh"}));
  TW_TRY(const auto hours, zone->numbers("gco2_per_kwh"));
  TW_TRY(const auto trace, read_study_table(folder + "/pai_1k.csv.gz", {"arrival_time", "length", "cpus"}));
  std::vector<GaiaJob> jobs;
  for (std::size_t row = 0; row < trace->rows.size(); ++row) {
    GaiaJob job;
    TW_TRY(job.arrival_seconds, trace->number(row, "arrival_time"));
    TW_TRY(job.length_seconds, trace->number(row, "length"));
    TW_TRY(job.cpus, trace->number(row, "cpus"));
    const double end = static_cast<double>(kGaiaHours) * 3600;
    if (job.arrival_seconds < 0 || job.arrival_seconds >= end || job.length_seconds < 0 ||
        job.length_seconds > end)
      return fail(ErrorCode::invalid_input,
                  fmt::format("{}: row {} lies outside of 720 hours", trace->path, row + 2));
    jobs.push_back(job);
  }
  auto rows = Json::array();
  for (const std::size_t start : {0U, 500U, 1000U, 1500U, 2000U, 2500U, 3000U, 3500U, 4000U, 4500U, 5000U,
                                  5500U, 6000U, 6500U, 7000U, 7500U, 8000U}) {
    if (start + kGaiaHours > hours.size()) continue;
    const auto row = gaia(std::span{hours}.subspan(start, kGaiaHours), jobs);
    rows.push_back({{"start_hour", start},
                    {"nowait_cost", row.at_once_cost},
                    {"lowest_slot", row.lowest_slot},
                    {"lowest_window", row.lowest_window},
                    {"carbon_time", row.carbon_time},
                    {"ecovisor", row.ecovisor},
                    {"wait_awhile", row.wait_awhile},
                    {"oracle_window", row.oracle_window}});
  }
  const Json head{{"jobs", jobs.size()}, {"zone", "AU-SA 2022"}};
  return print_study(options, "gaia", head, rows,
                     {{"start_hour", 0},
                      {"nowait_cost", 6},
                      {"lowest_slot", 6},
                      {"lowest_window", 6},
                      {"carbon_time", 6},
                      {"ecovisor", 6},
                      {"wait_awhile", 6},
                      {"oracle_window", 6}});
}

/// Half-hour slots: the minutes 0 and 30 of a finer series.
struct HalfHours {
  UtcTime begin;
  std::vector<double> values;
};

Result<HalfHours> half_hours(const std::string& path) {
  TW_TRY(const auto table, read_study_table(path, {}));
  // Two columns, whatever they are called.
  std::string time_name;
  std::string value_name;
  for (const auto& [name, place] : table->columns) {
    if (place == 0) time_name = name;
    if (place == 1) value_name = name;
  }
  HalfHours out;
  for (std::size_t row = 0; row < table->rows.size(); ++row) {
    TW_TRY(const auto at, table->time(row, time_name));
    const auto minute = std::chrono::floor<std::chrono::minutes>(at.time_since_epoch()).count() % 30;
    if (minute != 0) continue;
    TW_TRY(const auto value, table->number(row, value_name));
    if (out.values.empty()) out.begin = at;
    const auto slot = (at - out.begin) / std::chrono::minutes{30};
    if (slot != static_cast<std::int64_t>(out.values.size()))
      return fail(ErrorCode::invalid_input,
                  fmt::format("{}: row {}: a half hour is missing before it", path, row + 2));
    out.values.push_back(value);
  }
  return out;
}

Result<std::vector<WaitingJob>> waiting_jobs(const StudyTable& table, const std::string& deadline,
                                             UtcTime begin) {
  constexpr std::chrono::minutes kSlot{30};
  std::vector<WaitingJob> jobs;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    TW_TRY(const auto start, table.time(row, "start_utc"));
    TW_TRY(const auto until, table.time(row, deadline));
    TW_TRY(const auto minutes, table.number(row, "duration_minutes"));
    if (start < begin || until < start || minutes <= 0)
      return fail(ErrorCode::invalid_input,
                  fmt::format("{}: row {}: times out of order", table.path, row + 2));
    jobs.push_back({static_cast<std::size_t>((start - begin) / kSlot), static_cast<std::size_t>(minutes / 30),
                    static_cast<std::size_t>((until - begin) / kSlot)});
  }
  return jobs;
}

Result<int> run_wait_awhile(const StudyOptions& options) {
  struct Published {
    std::string zone;
    double one_window, interrupting;
  };
  // Wiesner et al., Middleware 2021: machine-learning jobs, next workday, forecast with 5 % error.
  const std::vector<Published> published{{"DE", 5.91, 7.93}, {"GB", 6.56, 9.03}};
  constexpr double kError = 0.05;
  constexpr std::uint64_t kSeeds = 10;
  TW_TRY(const auto trace, read_study_table(options.data + "/planning/studies/ml_jobs_2020.csv.gz",
                                            {"start_utc", "duration_minutes", "deadline_next_workday_utc",
                                             "deadline_semi_weekly_utc"}));
  auto rows = Json::array();
  double largest = 0;
  for (const auto& given : published) {
    TW_TRY(const auto series,
           half_hours(options.data + "/traces/carbon/lets_wait_awhile/" + given.zone + "_ci_2020.csv.gz"));
    for (const std::string deadline : {"next_workday", "semi_weekly"}) {
      TW_TRY(const auto jobs, waiting_jobs(*trace, "deadline_" + deadline + "_utc", series.begin));
      const auto perfect = wait_awhile_study(series.values, jobs, 0, 0);
      double slots = 0;
      for (const auto& job : jobs) slots += static_cast<double>(job.length);
      double one_window = 0;
      double interrupting = 0;
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const auto noisy = wait_awhile_study(series.values, jobs, kError, seed);
        one_window += saved_percent(noisy.at_once, noisy.one_window) / static_cast<double>(kSeeds);
        interrupting += saved_percent(noisy.at_once, noisy.interrupting) / static_cast<double>(kSeeds);
      }
      Json row{{"zone", given.zone},
               {"deadline", deadline},
               {"baseline_g_per_kwh", perfect.at_once / slots},
               {"one_window_percent", saved_percent(perfect.at_once, perfect.one_window)},
               {"interrupting_percent", saved_percent(perfect.at_once, perfect.interrupting)},
               {"one_window_5_percent_error", one_window},
               {"interrupting_5_percent_error", interrupting},
               {"published_one_window", nullptr},
               {"published_interrupting", nullptr}};
      if (deadline == "next_workday") {
        row["published_one_window"] = given.one_window;
        row["published_interrupting"] = given.interrupting;
        largest = std::max(
            {largest, std::abs(one_window - given.one_window), std::abs(interrupting - given.interrupting)});
      }
      rows.push_back(std::move(row));
    }
  }
  return print_study(
      options, "wait-awhile",
      Json{{"jobs", trace->rows.size()}, {"seeds", kSeeds}, {"largest_difference_points", largest}}, rows,
      {{"zone", 0},
       {"deadline", 0},
       {"baseline_g_per_kwh", 2},
       {"one_window_percent", 2},
       {"interrupting_percent", 2},
       {"one_window_5_percent_error", 2},
       {"interrupting_5_percent_error", 2},
       {"published_one_window", 2},
       {"published_interrupting", 2}});
}

}  // namespace

void add_study_command(CLI::App& app, int& exit_code) {
  auto* group = app.add_subcommand("study", "Published studies of moving work, computed again on their data");
  group->require_subcommand(1);
  group->footer(
      "Example: tidewatt study gaia --data ~/study-data\n"
      "The folder holds traces/ and planning/ as docs/studies/shifting.md says.");
  const auto add = [&](const char* name, const char* what, Result<int> (*run)(const StudyOptions&)) {
    auto* command = group->add_subcommand(name, what);
    const auto options = std::make_shared<StudyOptions>();
    command->add_option("--data", options->data, "The folder of the studies' data")->required();
    command->add_flag("--json", options->json, "Print JSON");
    if (std::string_view{name} == "year")
      command->add_option("--figure", options->figure, "Write the figure, SVG, to this file");
    command->footer(fmt::format("Example: tidewatt study {} --data ~/study-data --json", name));
    command->callback([options, run, name, &exit_code] {
      const auto done = run(*options);
      exit_code = done ? *done : report(fmt::format("study {}", name), done.error());
    });
  };
  add("eurosys24", "Limits of waiting up to 24 hours, by zone and length (EuroSys 2024)", run_eurosys24);
  add("gaia", "Six policies that don't know a job's length (ASPLOS 2024)", run_gaia);
  add("wait-awhile", "A year of machine-learning jobs with deadlines (Middleware 2021)", run_wait_awhile);
  add("caiso", "Waiting by a real day-ahead forecast, California, and by the rule to do no harm",
      run_caiso_study);
  add("year", "A year of a cluster's jobs in five zones: what waiting saves, by length and slack",
      run_year_study);
  add("cooling", "A million slots of five minutes under a cooling loop's limits", run_cooling_study);
  add("outage", "72 hours without a signal: deadlines and saving", run_outage_study);
}

}  // namespace tidewatt::cli
