#include "tidewatt/carbon/forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine.h"
#include "issue.h"

namespace tidewatt::carbon {

struct Forecaster::State {
  forecast::DayTable table;
  std::unique_ptr<forecast::Engine> engine;
  UtcHour issued_at{};
};

Forecaster::Forecaster(std::unique_ptr<State> state) : state_{std::move(state)} {}
Forecaster::Forecaster(Forecaster&&) noexcept = default;
Forecaster& Forecaster::operator=(Forecaster&&) noexcept = default;
Forecaster::~Forecaster() = default;

Result<Forecaster> Forecaster::fit(const HourlySeries& history, const WeatherTable* weather,
                                   const ForecastOptions& options) {
  TW_TRY_STATUS(forecast::check_history(history, history.hours.size(), options));
  auto state = std::make_unique<State>();
  const std::size_t first_hour = history.hours.size() % forecast::kDayHours;
  state->table = forecast::make_day_table(history, first_hour, weather, options.weather_known_hours);
  state->issued_at = history.end();
  const int days = state->table.days;
  const int first_issue = forecast::first_issue_before(days);
  state->engine = std::make_unique<forecast::Engine>(state->table, first_issue);
  for (int day = first_issue; day <= days; ++day) state->engine->learn(day);
  return Forecaster{std::move(state)};
}

Result<Forecast> Forecaster::predict(int hours) const {
  if (hours < 1 || hours > kForecastHours)
    return fail(ErrorCode::invalid_input, fmt::format("a horizon of {} h", hours), "1 to 96 h are possible");
  const auto said = state_->engine->predict();
  Forecast out{UtcTime{state_->issued_at}, {}};
  for (int h = 0; h < hours; ++h) {
    const auto at = static_cast<std::size_t>(h);
    const auto value = [](double logarithm) { return GramsPerKwh{std::exp(logarithm)}; };
    const auto& band = said.band[at];
    out.points.push_back({state_->issued_at + std::chrono::hours{h}, value(said.expected[at]),
                          value(said.centre[at] + band.low), value(said.centre[at] + band.middle),
                          value(said.centre[at] + band.high)});
  }
  return out;
}

}  // namespace tidewatt::carbon
