#include "level_shift.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

namespace tidewatt::carbon::forecast {
namespace {

constexpr std::size_t kDay = 24;
constexpr std::size_t kFortnight = 14;
constexpr std::size_t kFewestKnownHours = 12;
constexpr double kLeastFactor = 1.3;

struct Range {
  double least = 0;
  double most = 0;
  double mean = 0;
};

/// Of the known days; nullopt if less than half of them are known.
std::optional<Range> range_of(std::span<const std::optional<double>> days) {
  Range out;
  std::size_t known = 0;
  for (const auto& day : days) {
    if (!day) continue;
    out.least = known == 0 ? *day : std::min(out.least, *day);
    out.most = known == 0 ? *day : std::max(out.most, *day);
    out.mean += *day;
    ++known;
  }
  if (known * 2 < days.size()) return std::nullopt;
  out.mean /= static_cast<double>(known);
  return out;
}

std::vector<std::optional<double>> daily_means(const HourlySeries& series) {
  std::vector<std::optional<double>> days(series.hours.size() / kDay);
  for (std::size_t day = 0; day < days.size(); ++day) {
    double sum = 0;
    std::size_t known = 0;
    for (std::size_t hour = day * kDay; hour < (day + 1) * kDay; ++hour) {
      if (!series.hours[hour]) continue;
      sum += *series.hours[hour];
      ++known;
    }
    if (known >= kFewestKnownHours) days[day] = sum / static_cast<double>(known);
  }
  return days;
}

std::optional<double> factor_at(std::span<const std::optional<double>> days, std::size_t day) {
  const auto before = range_of(days.subspan(day - kFortnight, kFortnight));
  const auto after = range_of(days.subspan(day, kFortnight));
  if (!before || !after || before->mean <= 0 || after->mean <= 0) return std::nullopt;
  const bool apart = after->least > before->most || after->most < before->least;
  const double factor = after->mean / before->mean;
  if (!apart || std::max(factor, 1 / factor) < kLeastFactor) return std::nullopt;
  return factor;
}

}  // namespace

std::vector<LevelShift> level_shifts(const HourlySeries& series) {
  const auto days = daily_means(series);
  std::vector<LevelShift> shifts;
  std::size_t last = 0;
  for (std::size_t day = kFortnight; day + kFortnight <= days.size(); ++day) {
    const auto factor = factor_at(days, day);
    if (!factor) continue;
    const LevelShift shift{series.begin + std::chrono::hours{static_cast<long>(day * kDay)}, *factor};
    const auto size = [](double of) { return std::abs(std::log(of)); };
    if (shifts.empty() || day > last + kFortnight)
      shifts.push_back(shift);
    else if (size(shift.factor) > size(shifts.back().factor))
      shifts.back() = shift;
    last = day;
  }
  return shifts;
}

}  // namespace tidewatt::carbon::forecast
