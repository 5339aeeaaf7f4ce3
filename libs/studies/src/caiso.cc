#include "tidewatt/studies/caiso.h"

#include <array>
#include <vector>

namespace tidewatt::studies {
namespace {

constexpr std::size_t kDay = 24;
constexpr std::size_t kDays = 7;

/// Mean of each hour of the day over the week before, repeated.
std::vector<double> week_profile(std::span<const double> actual, std::size_t now, std::size_t length) {
  std::array<double, kDay> mean{};
  for (std::size_t hour = 0; hour < kDay; ++hour) {
    for (std::size_t day = 1; day <= kDays; ++day) mean[hour] += actual[now - day * kDay + hour];
    mean[hour] /= kDays;
  }
  std::vector<double> profile(length);
  for (std::size_t i = 0; i < length; ++i) profile[i] = mean[i % kDay];
  return profile;
}

}  // namespace

ForecastStudy forecast_study(std::span<const double> actual, std::span<const double> forecast,
                             std::size_t first, std::size_t last, std::size_t job, std::size_t slack) {
  ForecastStudy sum;
  const std::size_t length = job + slack;
  for (std::size_t start = first; start < last; ++start) {
    const auto paid = actual.subspan(start, length);
    sum.perfect += shift(paid, paid, job);
    sum.forecast += shift(forecast.subspan(start, length), paid, job);
    sum.profile += shift(week_profile(actual, start, length), paid, job);
  }
  return sum;
}

}  // namespace tidewatt::studies
