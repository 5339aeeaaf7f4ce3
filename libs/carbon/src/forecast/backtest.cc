#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine.h"
#include "issue.h"
#include "tidewatt/carbon/forecast.h"

namespace tidewatt::carbon {
namespace {

using forecast::DayTable;
using forecast::kBlocks;
using forecast::kDayHours;
using forecast::kHorizon;

/// A mean that says unknown when nothing was added.
struct Mean {
  double sum = 0;
  double count = 0;
  void add(double value, double weight = 1) {
    sum += value * weight;
    count += weight;
  }
  [[nodiscard]] std::optional<double> get(double unit = 1) const {
    if (count == 0) return std::nullopt;
    return unit * sum / count;
  }
};

struct Scores {
  std::array<Mean, kBlocks> mape;
  std::array<Mean, kBlocks> mae;
  std::array<Mean, kBlocks> inside;
};

using Levels = std::array<double, kHorizon>;

/// Adds what the forecast was worth, each day of it for itself.
/// @param actual  the hours after issue, as far as the series goes
void score(std::span<const std::optional<double>> actual, int hours, const Levels& said, const Levels* low,
           const Levels* high, Scores& scores) {
  for (std::size_t block = 0; block < kBlocks; ++block) {
    Mean relative;
    Mean absolute;
    for (std::size_t at = block * kDayHours; at < (block + 1) * kDayHours; ++at) {
      if (at >= actual.size() || at >= static_cast<std::size_t>(hours) || !actual[at]) continue;
      const double value = *actual[at];
      const double off = std::abs(said[at] - value);
      absolute.add(off);
      if (value > 0) relative.add(off / value);
      if (low != nullptr) scores.inside[block].add(value >= (*low)[at] && value <= (*high)[at] ? 1 : 0);
    }
    if (const auto mean = relative.get()) scores.mape[block].add(*mean);
    if (const auto mean = absolute.get()) scores.mae[block].add(*mean);
  }
}

Levels daily_repeat(const DayTable& table, int day) {
  Levels out{};
  for (std::size_t h = 0; h < kHorizon; ++h) out[h] = table.day(day - 1)[h % kDayHours];
  return out;
}

Levels persistence(const DayTable& table, int day) {
  Levels out{};
  out.fill(table.day(day - 1)[kDayHours - 1]);
  return out;
}

Levels weekly_profile(const DayTable& table, int day) {
  Levels out{};
  for (int h = 0; h < kHorizon; ++h) {
    Mean mean;
    for (int week = 1; week <= 4; ++week) {
      const int from = day + h / kDayHours - 7 * week;
      if (from >= 0) mean.add(table.day(from)[static_cast<std::size_t>(h % kDayHours)]);
    }
    out[static_cast<std::size_t>(h)] = mean.get().value_or(0);
  }
  return out;
}

void score_forecast(std::span<const std::optional<double>> actual, int hours,
                    const forecast::DayForecast& said, Scores& scores) {
  Levels expected{};
  Levels low{};
  Levels high{};
  for (std::size_t h = 0; h < kHorizon; ++h) {
    expected[h] = std::exp(said.expected[h]);
    low[h] = std::exp(said.centre[h] + said.band[h].low);
    high[h] = std::exp(said.centre[h] + said.band[h].high);
  }
  score(actual, hours, expected, &low, &high, scores);
}

std::vector<std::optional<double>> mape_of(const Scores& scores, int days) {
  std::vector<std::optional<double>> out;
  out.reserve(static_cast<std::size_t>(days));
  for (int day = 0; day < days; ++day) out.push_back(scores.mape[static_cast<std::size_t>(day)].get(100));
  return out;
}

}  // namespace

Result<BacktestResult> backtest(const HourlySeries& series, const WeatherTable* weather,
                                std::chrono::sys_days from, std::chrono::sys_days to, int hours,
                                const ForecastOptions& options) {
  if (hours < 1 || hours > kForecastHours)
    return fail(ErrorCode::invalid_input, fmt::format("a horizon of {} h", hours), "1 to 96 h are possible");
  if (from > to)
    return fail(ErrorCode::invalid_input, "the test ends before it starts", "swap its first and last day");
  if (series.end() <= UtcHour{from})
    return fail(ErrorCode::invalid_input, "the series ends before the test starts", "choose an earlier test");
  // Days of the table are UTC days here.
  const auto first_midnight = std::chrono::ceil<std::chrono::days>(series.begin);
  const auto skipped = static_cast<std::size_t>((UtcHour{first_midnight} - series.begin).count());
  const auto before = (UtcHour{from} - series.begin).count();
  TW_TRY_STATUS(
      forecast::check_history(series, static_cast<std::size_t>(std::max<std::int64_t>(before, 0)), options));

  const auto table = forecast::make_day_table(series, skipped, weather, options.weather_known_hours);
  const int first = static_cast<int>((from - first_midnight).count());
  const int last = std::min(static_cast<int>((to - first_midnight).count()), table.days);
  const std::span all{series.hours};

  Scores own;
  Scores repeat;
  Scores still;
  Scores weekly;
  BacktestResult result;
  int day = forecast::first_issue_before(first);
  auto engine = std::make_unique<forecast::Engine>(table, day);
  for (; day <= last; ++day) {
    // A young series grows up while it is tested.
    if (!engine->has_regressions() && day == 2 * forecast::Engine::kDaysForRegressions) {
      const int start = forecast::first_issue_before(day);
      engine = std::make_unique<forecast::Engine>(table, start);
      for (int again = start; again < day; ++again) engine->learn(again);
    }
    engine->learn(day);
    if (day < first) continue;
    const auto at = skipped + static_cast<std::size_t>(day) * kDayHours;
    if (at >= all.size()) break;
    const auto actual = all.subspan(at);
    score_forecast(actual, hours, engine->latest(), own);
    score(actual, hours, daily_repeat(table, day), nullptr, nullptr, repeat);
    score(actual, hours, persistence(table, day), nullptr, nullptr, still);
    score(actual, hours, weekly_profile(table, day), nullptr, nullptr, weekly);
    ++result.issued;
  }
  const int days = (hours + kDayHours - 1) / kDayHours;
  for (int index = 0; index < days; ++index) {
    const auto block = static_cast<std::size_t>(index);
    result.days.push_back(
        {index + 1, own.mape[block].get(100), own.mae[block].get(), own.inside[block].get()});
  }
  if (!result.days.front().mae)
    return fail(ErrorCode::invalid_input, "no hour of the test has a value to compare with",
                "choose a test within the series");
  result.daily_repeat = mape_of(repeat, days);
  result.persistence = mape_of(still, days);
  result.weekly_profile = mape_of(weekly, days);
  return result;
}

}  // namespace tidewatt::carbon
