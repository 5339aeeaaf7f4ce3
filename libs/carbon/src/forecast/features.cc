#include "features.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>

namespace tidewatt::carbon::forecast {
namespace {

constexpr int kLongProfileDays = 28;

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

FeatureView::FeatureView(const DayTable& table, Space space, Anchor anchor, bool with_weather, double scale)
    : table_{&table},
      space_{space},
      anchor_{anchor},
      with_weather_{with_weather && table.weather_columns > 0},
      scale_{scale},
      values_(table.level.size()),
      sums_((static_cast<std::size_t>(table.days) + 1) * kDayHours, 0.0) {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    values_[i] = space == Space::logarithm ? std::log(table.level[i]) : table.level[i] / scale;
    sums_[i + kDayHours] = sums_[i] + values_[i];
  }
}

std::array<double, kDayHours> FeatureView::profile_of(int day, int days) const {
  std::array<double, kDayHours> mean{};
  for (int h = 0; h < kDayHours; ++h)
    mean[static_cast<std::size_t>(h)] = (sums_[hour_index(day, h)] - sums_[hour_index(day - days, h)]) / days;
  return mean;
}

std::array<double, kDayHours> FeatureView::base(int day) const {
  return anchor_ == Anchor::last_week ? profile_of(day, kProfileDays) : std::array<double, kDayHours>{};
}

std::vector<double> FeatureView::features(int day) const {
  std::vector<double> out;
  out.reserve(192);
  const auto profile = profile_of(day, kProfileDays);
  const double middle = mean_of(profile);
  const auto from = base(day);
  for (int back = 1; back <= 2; ++back)
    for (int h = 0; h < kDayHours; ++h)
      out.push_back(value(day - back, h) - from[static_cast<std::size_t>(h)]);
  const double level = anchor_ == Anchor::last_week ? middle : 0;
  for (const double hour : profile) out.push_back(hour - level);
  const auto day_mean = [&](int at) {
    return mean_of(std::span{values_}.subspan(static_cast<std::size_t>(at) * kDayHours, kDayHours));
  };
  for (int back = kProfileDays; back >= 1; --back) out.push_back(day_mean(day - back) - middle);

  const auto long_profile = profile_of(day, std::min(kLongProfileDays, day));
  const double long_middle = mean_of(long_profile);
  out.push_back(middle - long_middle);
  for (std::size_t h = 0; h < kDayHours; h += 3)
    out.push_back(long_profile[h] - long_middle - (profile[h] - middle));

  const auto date =
      std::chrono::floor<std::chrono::days>(table_->begin + std::chrono::hours{day * kDayHours});
  const unsigned weekday = std::chrono::weekday{date}.c_encoding();
  for (unsigned one = 0; one < 7; ++one) out.push_back(one == weekday ? 1.0 : 0.0);
  const double year = 2 * std::numbers::pi * static_cast<double>(date.time_since_epoch().count()) / 365.2425;
  for (const double turn : {year, 2 * year}) {
    out.push_back(std::sin(turn));
    out.push_back(std::cos(turn));
  }
  if (with_weather_) add_weather(day, out);
  return out;
}

void FeatureView::add_weather(int day, std::vector<double>& out) const {
  const int issue = day * kDayHours;
  const auto mean_between = [&](int column, int from, int to) {
    double sum = 0;
    for (int hour = from; hour < to; ++hour) sum += table_->weather_at(column, hour);
    return sum / (to - from);
  };
  for (int column = 0; column < table_->weather_columns; ++column) {
    const double usual = mean_between(column, issue - kProfileDays * kDayHours, issue);
    out.push_back(usual);
    for (int hour = issue - kDayHours; hour < issue; hour += 6)
      out.push_back(mean_between(column, hour, hour + 6) - usual);
    double ahead = 0;
    int steps = 0;
    for (int hour = issue; hour + 3 <= issue + table_->weather_known_hours; hour += 3) {
      out.push_back(mean_between(column, hour, hour + 3) - usual);
      if (hour < issue + kDayHours) {
        ahead += out.back();
        ++steps;
      }
    }
    // Power goes with more than the first power of the wind.
    if (steps > 0) out.push_back(ahead / steps * (ahead / steps));
  }
}

double FeatureView::to_log(double prediction, double least_level) const {
  if (space_ == Space::logarithm) return prediction;
  return std::log(std::max(prediction * scale_, least_level));
}

}  // namespace tidewatt::carbon::forecast
