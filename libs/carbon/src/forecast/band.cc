#include "band.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tidewatt::carbon::forecast {
namespace {

constexpr double kSpreadHalfLife = 20;
constexpr double kPriorDays = 2;
constexpr std::size_t kKeptDays = 90;
constexpr std::size_t kFewDays = 10;
constexpr double kNormalTenth = 1.2816;
constexpr double kTail = 0.1;
// How fast the tails follow the share of hours that fell outside.
constexpr double kTailGain = 0.02;
constexpr double kLeastTail = 0.01;
constexpr double kMostTail = 0.3;

double quantile(std::vector<double>& values, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

}  // namespace

Band::Band(double first_spread) : first_square_{first_spread * first_spread} {}

double Band::spread(std::size_t hour) const {
  // Neighbouring hours share what they know.
  double sum = 0;
  double count = 0;
  const std::size_t from = hour == 0 ? 0 : hour - 1;
  for (std::size_t h = from; h <= std::min<std::size_t>(hour + 1, kDayHours - 1); ++h) {
    sum += squares_[h];
    count += weight_;
  }
  return std::sqrt((sum + kPriorDays * first_square_) / (count + kPriorDays)) + 1e-6;
}

double Band::variance() const {
  double sum = 0;
  for (const double square : squares_) sum += square;
  return (sum + kPriorDays * kDayHours * first_square_) / ((weight_ + kPriorDays) * kDayHours);
}

std::array<BandHour, kDayHours> Band::hours() const {
  BandHour unit{-kNormalTenth, 0, kNormalTenth};
  if (scaled_.size() >= kFewDays) {
    std::vector<double> all;
    all.reserve(scaled_.size() * kDayHours);
    for (const auto& day : scaled_) all.insert(all.end(), day.begin(), day.end());
    unit = {quantile(all, tail_low_), quantile(all, 0.5), quantile(all, 1 - tail_high_)};
  }
  std::array<BandHour, kDayHours> out{};
  for (std::size_t h = 0; h < kDayHours; ++h) {
    const double by = spread(h);
    out[h] = {unit.low * by, unit.middle * by, unit.high * by};
  }
  return out;
}

void Band::learn(const std::array<double, kDayHours>& errors, const std::array<BandHour, kDayHours>& given) {
  auto& scaled = scaled_.emplace_back();
  double below = 0;
  double above = 0;
  const double keep = std::exp2(-1 / kSpreadHalfLife);
  for (std::size_t h = 0; h < kDayHours; ++h) {
    scaled[h] = errors[h] / spread(h);
    below += errors[h] < given[h].low ? 1.0 / kDayHours : 0.0;
    above += errors[h] > given[h].high ? 1.0 / kDayHours : 0.0;
  }
  for (std::size_t h = 0; h < kDayHours; ++h) squares_[h] = squares_[h] * keep + errors[h] * errors[h];
  weight_ = weight_ * keep + 1;
  if (scaled_.size() > kKeptDays) scaled_.pop_front();
  tail_low_ = std::clamp(tail_low_ + kTailGain * (kTail - below), kLeastTail, kMostTail);
  tail_high_ = std::clamp(tail_high_ + kTailGain * (kTail - above), kLeastTail, kMostTail);
}

}  // namespace tidewatt::carbon::forecast
