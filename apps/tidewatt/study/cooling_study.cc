// tidewatt study cooling: a million slots under a cooling loop's limits.
#include "tidewatt/studies/cooling.h"

#include "study_table.h"

namespace tidewatt::cli {

Result<int> run_cooling_study(const StudyOptions& options) {
  const auto path = options.data + "/traces/carbon/watttime_caiso_north/moer_5min_2023.csv.gz";
  TW_TRY(const auto table, read_study_table(path, {"moer_caiso_north"}));
  TW_TRY(const auto ci, table->numbers("moer_caiso_north"));
  constexpr std::size_t kDays = 3473;  // a million slots of five minutes
  const auto study = studies::cooling_study(ci, kDays, 1);
  if (study.slots == 0)
    return fail(ErrorCode::invalid_input, path + ": a day of five minutes' slots is needed");
  const auto broken = study.short_on + study.short_off + study.many_starts + study.steep;
  nlohmann::json row{{"slots", study.slots},
                     {"jobs", study.jobs},
                     {"violations", broken},
                     {"late", study.late},
                     {"not_run", study.not_run},
                     {"above_unconstrained_percent", 100 * (study.carbon_g / study.unconstrained_g - 1)},
                     {"saved_percent", 100 * (1 - study.carbon_g / study.run_now_g)},
                     {"saved_unconstrained_percent", 100 * (1 - study.unconstrained_g / study.run_now_g)},
                     {"chip_most_c", study.chip_most_c},
                     {"steepest_c_per_minute", study.steepest_c_per_minute}};
  const nlohmann::json head{{"short_on", study.short_on},
                            {"short_off", study.short_off},
                            {"many_starts", study.many_starts},
                            {"steep", study.steep}};
  return print_study(options, "cooling", head, nlohmann::json::array({row}),
                     {{"slots", 0},
                      {"jobs", 0},
                      {"violations", 0},
                      {"late", 0},
                      {"not_run", 0},
                      {"above_unconstrained_percent", 3},
                      {"saved_percent", 2},
                      {"saved_unconstrained_percent", 2},
                      {"chip_most_c", 1},
                      {"steepest_c_per_minute", 2}});
}

}  // namespace tidewatt::cli
