// tidewatt study caiso: a forecast that was really made, and the rule to do no harm.
#include "tidewatt/studies/caiso.h"

#include <algorithm>
#include <string>

#include "study_table.h"

namespace tidewatt::cli {
namespace {

using Json = nlohmann::json;
using namespace studies;

constexpr double kAllowedLossPercent = -0.05;
constexpr double kWantedShare = 0.95;

struct Worst {
  double saved = 0, share = 1, over_profile = 0;
  bool kept = true;
  std::size_t cells = 0;
};

/// One row: a year, a job and a slack, in one window or in pieces.
Json row_of(const std::string& year, const WaitCell& cell, const ForecastStudy& sums, bool pieces,
            Worst& worst) {
  const auto part = pieces ? &Shifted::interrupting : &Shifted::one_window;
  const auto saved = [&](const Shifted& sum) { return saved_percent(sum.at_once, sum.*part); };
  const double naive = saved(sums.forecast);
  const double ruled = saved(sums.no_harm);
  const bool harmed = ruled < kAllowedLossPercent;
  const bool too_little = naive > 0 && ruled < kWantedShare * naive;
  worst.saved = worst.cells == 0 ? ruled : std::min(worst.saved, ruled);
  if (naive > 0) worst.share = std::min(worst.share, ruled / naive);
  worst.over_profile += ruled - saved(sums.profile);
  worst.kept = worst.kept && !harmed && !too_little;
  ++worst.cells;
  const auto waits = pieces ? sums.waits_interrupting : sums.waits_one_window;
  return {{"year", year},
          {"job_hours", cell.job},
          {"slack_hours", cell.slack},
          {"kind", pieces ? "interrupting" : "one_window"},
          {"perfect_percent", saved(sums.perfect)},
          {"forecast_percent", naive},
          {"profile_percent", saved(sums.profile)},
          {"no_harm_percent", ruled},
          {"waits_percent", 100 * static_cast<double>(waits) / static_cast<double>(sums.starts)}};
}

}  // namespace

Result<int> run_caiso_study(const StudyOptions& options) {
  const auto path = options.data + "/traces/carbon-caiso-forecast/CISO_2019_2022.csv.gz";
  TW_TRY(const auto table, read_study_table(path, {"start_utc", "gco2_per_kwh", "forecast_gco2_per_kwh"}));
  TW_TRY(const auto actual, table->numbers("gco2_per_kwh"));
  TW_TRY(const auto forecast, table->numbers("forecast_gco2_per_kwh"));
  std::vector<WaitCell> cells;
  for (const std::size_t job : {1U, 4U, 12U, 24U})
    for (const std::size_t slack : {6U, 12U, 24U, 48U}) cells.push_back({job, slack});
  constexpr std::size_t kLongest = 24 + 48;
  constexpr std::size_t kWeek = std::size_t{7} * 24;
  if (actual.size() < 3 * kWeek)
    return fail(ErrorCode::invalid_input, path + ": three weeks of hours are needed at least");
  auto rows = Json::array();
  Worst worst;
  for (std::size_t begin = 0; begin < actual.size();) {
    const auto year = std::string{table->at(begin, "start_utc").substr(0, 4)};
    auto end = begin;
    while (end < actual.size() && table->at(end, "start_utc").starts_with(year)) ++end;
    const auto first = std::max(begin, kWeek);
    if (first + kLongest < end) {
      const auto sums = forecast_study(actual, forecast, first, end, cells);
      for (const bool pieces : {false, true})
        for (std::size_t i = 0; i < cells.size(); ++i)
          rows.push_back(row_of(year, cells[i], sums[i], pieces, worst));
    }
    begin = end;
  }
  const Json head{{"kept", worst.kept},
                  {"worst_no_harm_percent", worst.saved},
                  {"least_share_of_forecast", worst.share},
                  {"mean_points_over_profile", worst.over_profile / static_cast<double>(worst.cells)}};
  return print_study(options, "caiso", head, rows,
                     {{"year", 0},
                      {"job_hours", 0},
                      {"slack_hours", 0},
                      {"kind", 0},
                      {"perfect_percent", 2},
                      {"forecast_percent", 2},
                      {"profile_percent", 2},
                      {"no_harm_percent", 2},
                      {"waits_percent", 0}});
}

}  // namespace tidewatt::cli
