// tidewatt forecast: a zone's carbon intensity for the next 96 hours, or how well that would have worked.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "command.h"
#include "forecast_plot.h"
#include "gzip_text.h"
#include "input.h"
#include "tidewatt/carbon/forecast.h"

namespace tidewatt::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ForecastCommandOptions {
  std::string series;
  std::string value;
  std::string weather;
  std::string horizon = "96h";
  std::string weather_known = "24h";
  bool backtest = false;
  std::string test_from;
  std::string test_to;
  std::string plot;
  bool json = false;
};

struct ForecastInput {
  carbon::HourlySeries series;
  std::optional<carbon::WeatherTable> weather;
  carbon::SeriesNotes notes;

  [[nodiscard]] const carbon::WeatherTable* table() const { return weather ? &*weather : nullptr; }
};

/// Whole hours up to 96; ends the parsing as a wrong use otherwise.
int whole_hours(const std::string& option, const std::string& text, int least) {
  const auto length = text == "0h" || text == "0" ? std::optional{Milliseconds{0}} : parse_duration(text);
  constexpr Milliseconds kHour = std::chrono::hours{1};
  if (!length || *length % kHour != Milliseconds{0} || *length < least * kHour ||
      *length > carbon::kForecastHours * kHour)
    usage_error(option, fmt::format("\"{}\" is not {} to 96 whole hours, such as 96h", text, least));
  return static_cast<int>(*length / kHour);
}

std::chrono::sys_days day_of(const std::string& option, const std::string& text) {
  if (text.empty()) usage_error(option, "is needed with --backtest: a day, such as 2023-07-01");
  const auto at = parse_rfc3339(text + "T00:00:00Z");
  if (!at || text.size() != 10)
    usage_error(option, fmt::format("\"{}\" is no day; days look like 2023-07-01", text));
  return std::chrono::floor<std::chrono::days>(*at);
}

Result<ForecastInput> read_input(const ForecastCommandOptions& options) {
  ForecastInput input;
  TW_TRY(const std::string text, read_text_or_gzip(options.series));
  auto read = carbon::read_series_csv(text, options.value);
  if (!read) return tl::unexpected(read.error().with_context(options.series));
  input.series = std::move(read->series);
  input.notes = std::move(read->notes);
  if (!options.weather.empty()) {
    TW_TRY(const std::string weather_text, read_text_or_gzip(options.weather));
    auto weather = carbon::read_weather_csv(weather_text);
    if (!weather) return tl::unexpected(weather.error().with_context(options.weather));
    input.weather = std::move(weather->table);
    input.notes.insert(input.notes.end(), weather->notes.begin(), weather->notes.end());
  }
  return input;
}

/// To so many steps per unit: dividing by a whole number gives the double that prints shortest.
double rounded(double value, double per_unit) { return std::round(value * per_unit) / per_unit; }

Json number(const std::optional<double>& value) {
  if (!value) return nullptr;
  return rounded(*value, 1e4);
}

Json numbers(const std::vector<std::optional<double>>& values) {
  auto out = Json::array();
  for (const auto& value : values) out.push_back(number(value));
  return out;
}

std::string percent(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f} %", *value) : "—";
}

std::string print(const Json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Costs {
  double train_seconds = 0;
  double forecast_ms = 0;
};

/// What one fit to all before the test, and one forecast, take here.
Result<Costs> measure(const ForecastInput& input, std::chrono::sys_days from, int hours,
                      const carbon::ForecastOptions& how) {
  auto history = input.series;
  history.hours.resize(static_cast<std::size_t>((UtcHour{from} - history.begin).count()));
  Costs costs;
  auto start = std::chrono::steady_clock::now();
  TW_TRY(const auto forecaster, carbon::Forecaster::fit(history, input.table(), how));
  costs.train_seconds = seconds_since(start);
  start = std::chrono::steady_clock::now();
  TW_TRY_STATUS(forecaster.predict(hours).map([](const auto&) {}));
  costs.forecast_ms = seconds_since(start) * 1000;
  return costs;
}

int run_backtest(const ForecastCommandOptions& options, int hours, const carbon::ForecastOptions& how) {
  const auto from = day_of("--test-from", options.test_from);
  const auto to = day_of("--test-to", options.test_to);
  const auto input = read_input(options);
  if (!input) return report("forecast", input.error());
  const auto result = carbon::backtest(input->series, input->table(), from, to, hours, how);
  if (!result) return report("forecast", result.error().with_context(options.series));
  const auto costs = measure(*input, from, hours, how);
  if (!costs) return report("forecast", costs.error().with_context(options.series));
  if (options.json) {
    auto days = Json::array();
    for (const auto& day : result->days)
      days.push_back({{"day", day.day},
                      {"mape", number(day.mape)},
                      {"mae", number(day.mae)},
                      {"coverage_80", number(day.coverage_80)}});
    Json out{{"days", std::move(days)},
             {"baselines",
              {{"daily_repeat", numbers(result->daily_repeat)},
               {"persistence", numbers(result->persistence)},
               {"weekly_profile", numbers(result->weekly_profile)}}},
             {"train_seconds", rounded(costs->train_seconds, 1e3)},
             {"forecast_ms", rounded(costs->forecast_ms, 1e3)},
             {"issued", result->issued},
             {"notes", input->notes}};
    fmt::print("{}\n", print(out));
    return kOk;
  }
  for (const auto& note : input->notes) fmt::print("note: {}\n", note);
  fmt::print("{:<4} {:>10} {:>12} {:>10} {:>14} {:>13} {:>15}\n", "day", "MAPE", "MAE g/kWh", "in band",
             "daily repeat", "persistence", "weekly profile");
  for (std::size_t i = 0; i < result->days.size(); ++i) {
    const auto& day = result->days[i];
    fmt::print("{:<4} {:>10} {:>12} {:>10} {:>14} {:>13} {:>15}\n", day.day, percent(day.mape),
               day.mae ? fmt::format("{:.2f}", *day.mae) : "—",
               day.coverage_80 ? fmt::format("{:.1f} %", *day.coverage_80 * 100) : "—",
               percent(result->daily_repeat[i]), percent(result->persistence[i]),
               percent(result->weekly_profile[i]));
  }
  fmt::print("{} forecasts issued; a fit takes {:.2f} s, a forecast {:.2f} ms\n", result->issued,
             costs->train_seconds, costs->forecast_ms);
  return kOk;
}

Status write_plot(const ForecastCommandOptions& options, const ForecastInput& input,
                  const carbon::Forecast& forecast) {
  std::ofstream file{options.plot, std::ios::binary};
  file << forecast_svg(input.series, forecast,
                       fmt::format("{}, issued {}", options.value, format_rfc3339_short(forecast.issued_at)));
  file.close();
  if (!file)
    return fail(ErrorCode::io, options.plot + ": can't be written", "name a file in a folder that exists");
  return {};
}

int run_forecast(const ForecastCommandOptions& options, int hours, const carbon::ForecastOptions& how) {
  const auto input = read_input(options);
  if (!input) return report("forecast", input.error());
  const auto forecast =
      carbon::Forecaster::fit(input->series, input->table(), how).and_then([&](const auto& fitted) {
        return fitted.predict(hours);
      });
  if (!forecast) return report("forecast", forecast.error().with_context(options.series));
  if (!options.plot.empty())
    if (const auto written = write_plot(options, *input, *forecast); !written)
      return report("forecast", written.error());
  const auto grams = [](GramsPerKwh value) { return rounded(value.value(), 1e2); };
  if (options.json) {
    auto points = Json::array();
    for (const auto& point : forecast->points)
      points.push_back({{"start", format_rfc3339_short(point.start)},
                        {"end", format_rfc3339_short(point.start + std::chrono::hours{1})},
                        {"gco2_per_kwh", grams(point.expected)},
                        {"p10", grams(point.p10)},
                        {"p50", grams(point.p50)},
                        {"p90", grams(point.p90)},
                        {"quality", "forecast"}});
    fmt::print("{}\n", print({{"issued_at", format_rfc3339_short(forecast->issued_at)},
                              {"points", std::move(points)},
                              {"notes", input->notes}}));
    return kOk;
  }
  for (const auto& note : input->notes) fmt::print("note: {}\n", note);
  fmt::print("{:<22} {:>10} {:>10} {:>10} {:>10}   gCO2/kWh\n", "start", "forecast", "p10", "p50", "p90");
  for (const auto& point : forecast->points)
    fmt::print("{:<22} {:>10.2f} {:>10.2f} {:>10.2f} {:>10.2f}\n", format_rfc3339_short(point.start),
               point.expected.value(), point.p10.value(), point.p50.value(), point.p90.value());
  return kOk;
}

int run(const ForecastCommandOptions& options) {
  const int hours = whole_hours("--horizon", options.horizon, 1);
  const carbon::ForecastOptions how{whole_hours("--weather-known", options.weather_known, 0)};
  if (options.backtest) {
    if (!options.plot.empty()) usage_error("--plot", "draws a forecast; leave out --backtest");
    return run_backtest(options, hours, how);
  }
  if (!options.test_from.empty() || !options.test_to.empty())
    usage_error(options.test_from.empty() ? "--test-to" : "--test-from", "goes with --backtest only");
  return run_forecast(options, hours, how);
}

}  // namespace

void add_forecast_command(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "forecast", "A zone's carbon intensity for the next hours from its history, with an 80 % band");
  const auto options = std::make_shared<ForecastCommandOptions>();
  command->add_option("--series", options->series, "CSV, may be gzipped; its first column is the UTC time")
      ->required();
  command->add_option("--value", options->value, "The column that holds gCO2/kWh")->required();
  command->add_option("--weather", options->weather,
                      "CSV of weather forecasts by the hour they hold for, one column each");
  command->add_option("--horizon", options->horizon, "How far ahead, 1h to 96h")->capture_default_str();
  command
      ->add_option(
          "--weather-known", options->weather_known,
          "How far beyond the issue time rows of --weather were known then; later rows aren't looked at")
      ->capture_default_str();
  command->add_flag("--backtest", options->backtest,
                    "Issue at 00:00 UTC of each day of the test, and compare with what came");
  command->add_option("--test-from", options->test_from, "First day of issue, such as 2023-07-01");
  command->add_option("--test-to", options->test_to, "Last day of issue");
  command->add_option("--plot", options->plot, "Write the forecast as an SVG to this file");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Example: tidewatt forecast --series zone.csv.gz --value ci --plot zone.svg\n"
      "         tidewatt forecast --series zone.csv.gz --value ci --backtest --test-from 2023-07-01 "
      "--test-to 2023-12-27");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace tidewatt::cli
