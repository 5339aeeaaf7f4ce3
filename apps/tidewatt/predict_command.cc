// tidewatt predict: the energy and time of a task's next epochs from its first ones.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "command.h"
#include "gzip_text.h"
#include "input.h"
#include "predict_plot.h"
#include "tidewatt/tasks/epoch_csv.h"
#include "tidewatt/tasks/prediction.h"

namespace tidewatt::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostHorizon = 1'000'000'000;
constexpr std::size_t kMostTrain = 10'000;  // an update looks at many epochs: this many take seconds
constexpr std::size_t kMostListed = 20;

struct PredictOptions {
  std::string epochs;
  std::vector<std::string> earlier;
  std::size_t train = 5;
  std::int64_t horizon = 100;
  std::size_t update_every = 2;
  std::string plot;
  bool json = false;
};

struct PredictAnswer {
  tasks::EpochTable table;
  std::size_t trained = 0;  ///< rows used to fit
  tasks::Prediction prediction;
  std::optional<Joules> actual;  ///< of the horizon, if the file holds it
  std::string floor_source;

  [[nodiscard]] std::span<const tasks::Epoch> fitted() const {
    return std::span{table.epochs}.first(trained);
  }
  [[nodiscard]] std::span<const tasks::Epoch> after() const {
    return std::span{table.epochs}.subspan(trained);
  }
  [[nodiscard]] std::optional<double> error_percent() const {
    if (!actual || actual->value() <= 0) return std::nullopt;
    return 100 * std::abs(prediction.energy / *actual - 1);
  }
  [[nodiscard]] bool actual_inside() const {
    return actual && prediction.low <= *actual && *actual <= prediction.high;
  }
};

Result<tasks::EpochTable> read_epochs(const std::string& path) {
  TW_TRY(const std::string text, read_text_or_gzip(path));
  auto table = tasks::read_epoch_csv(text);
  if (!table) return tl::unexpected(table.error().with_context(path));
  return table;
}

std::optional<Joules> energy_of_next(std::span<const tasks::Epoch> after, std::int64_t horizon) {
  if (after.size() < static_cast<std::size_t>(horizon)) return std::nullopt;
  Joules sum;
  for (const auto& epoch : after.first(static_cast<std::size_t>(horizon))) {
    if (!epoch.energy) return std::nullopt;
    sum += *epoch.energy;
  }
  return sum;
}

Result<PredictAnswer> predict(const PredictOptions& options) {
  PredictAnswer answer;
  TW_TRY(answer.table, read_epochs(options.epochs));
  answer.trained = std::min(options.train, answer.table.epochs.size());
  if (answer.trained < options.train)
    answer.table.notes.push_back(
        fmt::format("--train asks for {} rows, the file holds {}", options.train, answer.trained));

  tasks::PredictorOptions how;
  how.update_every = options.update_every;
  if (!options.earlier.empty()) {
    std::vector<std::vector<tasks::Epoch>> runs;
    for (const auto& path : options.earlier) {
      TW_TRY(auto run, read_epochs(path));
      runs.push_back(std::move(run.epochs));
    }
    TW_TRY(how.earlier, tasks::spread_of(runs, options.train, options.horizon));
  }
  answer.floor_source = how.earlier.source;
  auto said = tasks::predict_energy(answer.fitted(), options.horizon, how);
  if (!said) return tl::unexpected(said.error().with_context(options.epochs));
  answer.prediction = *std::move(said);
  answer.actual = energy_of_next(answer.after(), options.horizon);
  return answer;
}

Json optional_number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json model_json(const PredictAnswer& answer) {
  const auto& fit = answer.prediction.fit;
  Json out{{"kind", "linear_in_epochs"},
           {"fit", "recursive_least_squares"},
           {"steady_epoch_j", fit.steady_epoch.value()},
           {"evaluation", nullptr},
           {"warm_up_epochs", fit.warm_up_epochs},
           {"changed_at_epoch", nullptr},
           {"unusual_epochs", fit.unusual},
           {"epochs_known", fit.epochs_known},
           {"epochs_used", fit.epochs_used},
           {"updates", fit.updates},
           {"refits", fit.refits},
           {"spread_percent", 100 * fit.spread},
           {"degrees_of_freedom", fit.degrees},
           {"floor_percent", 100 * fit.floor},
           {"floor_source", answer.floor_source},
           {"interval_by", fit.floor_decides ? "floor" : "t_quantile"}};
  if (fit.changed_at) out["changed_at_epoch"] = *fit.changed_at;
  if (fit.evaluation)
    out["evaluation"] = {{"period_epochs", fit.evaluation->period},
                         {"remainder", fit.evaluation->remainder},
                         {"extra_j", fit.evaluation->extra_share * fit.steady_epoch.value()}};
  return out;
}

void print_predict_json(const PredictAnswer& answer) {
  const auto& said = answer.prediction;
  Json out{{"predicted_energy_j", said.energy.value()},
           {"interval_90_j", {said.low.value(), said.high.value()}},
           {"per_epoch_j", said.per_epoch().value()},
           {"predicted_seconds", said.seconds ? Json(said.seconds->value()) : Json(nullptr)},
           {"horizon", said.horizon},
           {"train", answer.trained},
           {"actual_energy_j", answer.actual ? Json(answer.actual->value()) : Json(nullptr)},
           {"error_percent", optional_number(answer.error_percent())},
           {"model", model_json(answer)},
           {"notes", answer.table.notes}};
  fmt::print("{}\n", out.dump(2, ' ', false, Json::error_handler_t::replace));
}

std::string readable(Joules energy) {
  const double wh = to_watt_hours(energy).value();
  return wh >= kPerKilo ? fmt::format("{:.4g} kWh", wh / kPerKilo) : fmt::format("{:.4g} Wh", wh);
}

std::string listed(const std::vector<std::int64_t>& numbers) {
  const auto shown = std::span{numbers}.first(std::min(numbers.size(), kMostListed));
  return fmt::format("{}{}", fmt::join(shown, ", "), numbers.size() > kMostListed ? ", ..." : "");
}

void print_predict_text(const PredictAnswer& answer) {
  const auto& said = answer.prediction;
  const auto& fit = said.fit;
  for (const auto& note : answer.table.notes) fmt::print("note: {}\n", note);
  fmt::print("next {} epochs   {} (90 %: {} to {})\n", said.horizon, readable(said.energy),
             readable(said.low), readable(said.high));
  fmt::print("per epoch        {:.6g} J{}\n", said.per_epoch().value(),
             said.seconds
                 ? fmt::format(", {:.4g} s", said.seconds->value() / static_cast<double>(said.horizon))
                 : ", time unknown");
  if (said.seconds) fmt::print("time             {:.6g} s\n", said.seconds->value());
  fmt::print("fitted to        {} of {} epochs", fit.epochs_used, fit.epochs_known);
  if (fit.warm_up_epochs > 0) fmt::print("; warm-up: the first {}", fit.warm_up_epochs);
  if (fit.changed_at) fmt::print("; level changed at epoch {}", *fit.changed_at);
  if (!fit.unusual.empty()) fmt::print("; unusual: {}", listed(fit.unusual));
  fmt::print("\n");
  if (fit.evaluation)
    fmt::print("evaluation       every {} epochs, {} each\n", fit.evaluation->period,
               readable(fit.steady_epoch * fit.evaluation->extra_share));
  fmt::print("interval by      {}\n",
             fit.floor_decides
                 ? fmt::format("the floor of {:.2f} % ({})", 100 * fit.floor, answer.floor_source)
                 : fmt::format("the spread of {:.2f} % an epoch", 100 * fit.spread));
  if (const auto error = answer.error_percent())
    fmt::print("it came to       {}: {:.2f} % off, {} the interval\n", readable(*answer.actual), *error,
               answer.actual_inside() ? "inside" : "outside");
}

Status write_predict_plot(const PredictOptions& options, const PredictAnswer& answer) {
  std::ofstream file{options.plot, std::ios::binary};
  file << prediction_svg(
      answer.fitted(), answer.after(), answer.prediction,
      fmt::format("The next {} epochs: {}", options.horizon, readable(answer.prediction.energy)));
  file.close();
  if (!file)
    return fail(ErrorCode::io, options.plot + ": can't be written", "name a file in a folder that exists");
  return {};
}

int run_predict(const PredictOptions& options) {
  const auto answer = predict(options);
  if (!answer) return report("predict", answer.error());
  if (!options.plot.empty())
    if (const auto written = write_predict_plot(options, *answer); !written)
      return report("predict", written.error());
  if (options.json)
    print_predict_json(*answer);
  else
    print_predict_text(*answer);
  return kOk;
}

}  // namespace

void add_predict_command(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "predict", "The energy and time of a task's next epochs from its first ones, with a 90 % interval");
  const auto options = std::make_shared<PredictOptions>();
  command
      ->add_option("--epochs", options->epochs,
                   "CSV with columns epoch,energy_j[,seconds], may be gzipped; - reads standard input")
      ->required();
  command
      ->add_option("--train", options->train, "Rows to fit to, from the first; later ones are only compared")
      ->check(CLI::Range(std::size_t{1}, kMostTrain))
      ->capture_default_str();
  command->add_option("--horizon", options->horizon, "How many epochs ahead")
      ->check(CLI::Range(std::int64_t{1}, kMostHorizon))
      ->capture_default_str();
  command->add_option("--update-every", options->update_every, "Epochs between two updates of the fit")
      ->check(CLI::Range(std::size_t{1}, kMostTrain))
      ->capture_default_str();
  command->add_option(
      "--earlier", options->earlier,
      "Epochs of an earlier run of the same task; repeat it. How far off these would have been "
      "makes the interval's floor");
  command->add_option("--plot", options->plot, "Write the prediction as an SVG to this file");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Example: tidewatt predict --epochs epochs.csv --train 5 --horizon 100 --json\n"
      "How it is done: docs/method/prediction.md");
  command->callback([options, &exit_code] { exit_code = run_predict(*options); });
}

}  // namespace tidewatt::cli
