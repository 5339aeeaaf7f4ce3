#include "anomaly.h"

#include <algorithm>
#include <cmath>

namespace tidewatt::carbon::forecast {
namespace {

constexpr std::array<double, 8> kDecayPerHour{0.8, 0.88, 0.92, 0.95, 0.97, 0.98, 0.99, 0.995};
constexpr int kLastHours = 3;
constexpr int kHalfDay = 12;
constexpr double kLossHalfLife = 30;

}  // namespace

AnomalyMethod::AnomalyMethod(const DayTable& table, double half_life_days)
    : table_{&table}, gain_{1 - std::exp2(-1 / half_life_days)} {}

double AnomalyMethod::with_decay(std::size_t decay, int hour) const {
  return profile_[static_cast<std::size_t>(hour % kDayHours)] +
         distance_ * std::pow(kDecayPerHour[decay], hour + 1);
}

void AnomalyMethod::learn(int day) {
  const auto levels = table_->day(day - 1);
  std::array<double, kDayHours> logs{};
  for (std::size_t h = 0; h < kDayHours; ++h) logs[h] = std::log(levels[h]);

  const double keep = std::exp2(-1 / kLossHalfLife);
  for (auto& of_decay : loss_)
    for (double& loss : of_decay) loss *= keep;
  // The day that has just ended was day 1 of the youngest forecast, day 4 of the oldest.
  for (std::size_t age = 0; age < open_.size(); ++age) {
    const auto& said = open_[open_.size() - 1 - age];
    for (std::size_t decay = 0; decay < kDecays; ++decay)
      for (std::size_t h = 0; h < kDayHours; ++h) {
        const std::size_t at = age * kDayHours + h;
        loss_[decay][at] += std::abs(std::expm1(said[decay][at] - logs[h]));
      }
  }

  // A plain mean until there are enough days for the slow one.
  const double gain = std::max(gain_, 1.0 / (learnt_ + 1));
  for (std::size_t h = 0; h < kDayHours; ++h) profile_[h] += gain * (logs[h] - profile_[h]);
  distance_ = 0;
  for (std::size_t h = kDayHours - kLastHours; h < kDayHours; ++h)
    distance_ += (logs[h] - profile_[h]) / kLastHours;
  ++learnt_;

  auto& said = open_.emplace_back();
  for (std::size_t decay = 0; decay < kDecays; ++decay)
    for (int h = 0; h < kHorizon; ++h) said[decay][static_cast<std::size_t>(h)] = with_decay(decay, h);
  if (open_.size() > kBlocks) open_.pop_front();
}

std::array<double, kHorizon> AnomalyMethod::predict() const {
  std::array<double, kHorizon> out{};
  for (int from = 0; from < kHorizon; from += kHalfDay) {
    std::size_t best = 0;
    double least = 0;
    for (std::size_t decay = 0; decay < kDecays; ++decay) {
      double loss = 0;
      for (int h = from; h < from + kHalfDay; ++h) loss += loss_[decay][static_cast<std::size_t>(h)];
      if (decay == 0 || loss < least) {
        least = loss;
        best = decay;
      }
    }
    for (int h = from; h < from + kHalfDay; ++h) out[static_cast<std::size_t>(h)] = with_decay(best, h);
  }
  return out;
}

}  // namespace tidewatt::carbon::forecast
