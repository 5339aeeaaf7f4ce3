#include "issue.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine.h"

namespace tidewatt::carbon::forecast {
namespace {

constexpr int kFewestDays = 8;
constexpr int kMostDays = 366 * 20;
constexpr int kWarmUpDays = 365;
constexpr std::size_t kRecentHours = 72;

}  // namespace

Status check_history(const HourlySeries& series, std::size_t hours, const ForecastOptions& options) {
  if (options.weather_known_hours < 0 || options.weather_known_hours > kForecastHours)
    return fail(ErrorCode::invalid_input,
                fmt::format("weather known {} h ahead", options.weather_known_hours),
                "0 to 96 h are possible");
  if (hours < (kFewestDays + 1) * kDayHours)
    return fail(ErrorCode::invalid_input, fmt::format("{} h of history", hours),
                "a forecast needs 9 days of it at least");
  if (hours > static_cast<std::size_t>(kMostDays) * kDayHours)
    return fail(ErrorCode::invalid_input, fmt::format("{} h of history", hours),
                "20 years of it at most can be used");
  const auto end = series.hours.begin() + static_cast<std::ptrdiff_t>(hours);
  const auto known = [](const std::optional<double>& value) { return value.has_value(); };
  if (static_cast<std::size_t>(std::count_if(series.hours.begin(), end, known)) * 2 < hours)
    return fail(ErrorCode::invalid_input, "more than half of the history's hours have no value",
                "give a series with fewer gaps, or start it later");
  if (std::none_of(end - kRecentHours, end, known))
    return fail(ErrorCode::invalid_input, "the last 3 days before the issue have no value",
                "give a series that reaches up to the time of issue");
  return {};
}

int first_issue_before(int days) {
  if (days <= 30) return kFewestDays;
  return std::max(days - kWarmUpDays, std::max(kFewestDays, std::min(90, days * 2 / 3)));
}

}  // namespace tidewatt::carbon::forecast
