#include "engine.h"

#include <algorithm>
#include <cmath>

namespace tidewatt::carbon::forecast {
namespace {

constexpr std::array kProfileHalfLives{2.0, 5.0, 15.0};
constexpr int kRefitDays = 7;
// A log-normal's value of least expected relative error lies at exp(mean - variance); half of that way
// is gone, since errors have other tails and the variance is itself uncertain.
constexpr double kTowardsLeastRelativeError = 0.5;
// Rows that were mostly guessed teach nothing.
constexpr double kMostFilled = 0.25;

/// From quick to slow and from loose to strict; which of them are right is the stack's affair.
std::vector<RidgeSpec> week_specs() { return {{60, 100}, {365, 30}, {0, 10}, {0, 300}}; }
std::vector<RidgeSpec> long_run_specs() { return {{0, 100}, {0, 1000}, {0, 3000}}; }

double median_level(const DayTable& table, int days) {
  std::vector<double> levels(table.level.begin(),
                             table.level.begin() + static_cast<std::ptrdiff_t>(days) * kDayHours);
  const auto middle = levels.begin() + static_cast<std::ptrdiff_t>(levels.size() / 2);
  std::nth_element(levels.begin(), middle, levels.end());
  return *middle;
}

/// How far a day is from the day before, as a first idea of the errors.
double first_spread(const DayTable& table, int days) {
  double sum = 0;
  int count = 0;
  for (int i = kDayHours; i < days * kDayHours; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double off = std::log(table.level[at] / table.level[at - kDayHours]);
    sum += off * off;
    ++count;
  }
  return count > 0 ? std::sqrt(sum / count) : 0.2;
}

}  // namespace

Engine::Engine(const DayTable& table, int first_issue)
    : table_{&table}, first_issue_{first_issue}, next_refit_{first_issue} {
  if (first_issue >= kDaysForRegressions) {
    const double scale = median_level(table, first_issue);
    for (const auto space : {Space::logarithm, Space::level}) {
      add_family(space, Anchor::last_week, true, scale, week_specs());
      if (table.weather_columns > 0) add_family(space, Anchor::last_week, false, scale, {{0, 100}});
      add_family(space, Anchor::long_run, true, scale, long_run_specs());
    }
  }
  for (const double half_life : kProfileHalfLives) anomalies_.emplace_back(table, half_life);
  std::size_t members = anomalies_.size();
  for (const auto& family : families_) members += family.members;
  stacks_.assign(kBlocks, Stack{members});
  bands_.assign(kBlocks, Band{first_spread(table, first_issue)});
}

void Engine::add_family(Space space, Anchor anchor, bool with_weather, double scale,
                        std::vector<RidgeSpec> specs) {
  FeatureView view{*table_, space, anchor, with_weather, scale};
  std::vector<std::vector<double>> standard;
  for (int day = kProfileDays; day < first_issue_; ++day) standard.push_back(view.features(day));
  const std::size_t members = specs.size();
  families_.push_back(Family{std::move(view), RidgeBank{std::move(specs), standard, kHorizon}, members});
}

void Engine::train(int day) {
  for (; next_row_ + kBlocks <= day; ++next_row_) {
    const auto from = static_cast<std::ptrdiff_t>(std::max(next_row_ - 2, 0)) * kDayHours;
    const auto to = static_cast<std::ptrdiff_t>(next_row_ + kBlocks) * kDayHours;
    const auto filled = std::count(table_->filled.begin() + from, table_->filled.begin() + to, true);
    const double weight = static_cast<double>(filled) <= kMostFilled * static_cast<double>(to - from) ? 1 : 0;
    for (auto& family : families_) {
      const auto base = family.view.base(next_row_);
      std::array<double, kHorizon> target{};
      for (int h = 0; h < kHorizon; ++h)
        target[static_cast<std::size_t>(h)] = family.view.value(next_row_ + h / kDayHours, h % kDayHours) -
                                              base[static_cast<std::size_t>(h % kDayHours)];
      family.bank.add(family.view.features(next_row_), target, weight);
    }
  }
  if (day >= next_refit_) {
    for (auto& family : families_) family.bank.refit();
    next_refit_ = day + kRefitDays;
  }
}

void Engine::compare_with(int day) {
  const auto levels = table_->day(day);
  const auto first_hour = static_cast<std::ptrdiff_t>(day) * kDayHours;
  const auto filled =
      std::count(table_->filled.begin() + first_hour, table_->filled.begin() + first_hour + kDayHours, true);
  if (static_cast<double>(filled) > kMostFilled * kDayHours) return;
  for (const auto& issue : open_) {
    const auto block = static_cast<std::size_t>(day - issue.day);
    if (block >= kBlocks) continue;
    std::vector<std::vector<double>> errors(issue.members.size(), std::vector<double>(kDayHours));
    std::array<double, kDayHours> off{};
    std::array<BandHour, kDayHours> given{};
    for (std::size_t h = 0; h < kDayHours; ++h) {
      const std::size_t at = block * kDayHours + h;
      const double actual = std::log(levels[h]);
      for (std::size_t member = 0; member < issue.members.size(); ++member)
        errors[member][h] = issue.members[member][at] - actual;
      off[h] = actual - issue.forecast.centre[at];
      given[h] = issue.forecast.band[at];
    }
    stacks_[block].learn(errors);
    bands_[block].learn(off, given);
  }
}

void Engine::learn(int day) {
  for (int at = day_ + 1; at <= day; ++at)
    for (auto& method : anomalies_) method.learn(at);
  if (day_ >= first_issue_) compare_with(day - 1);
  day_ = day;
  train(day);
  for (auto& stack : stacks_) stack.solve();
  auto members = member_forecasts();
  const auto forecast = combine(members);
  open_.push_back({day, std::move(members), forecast});
  if (open_.size() > kBlocks) open_.pop_front();
}

std::vector<std::array<double, kHorizon>> Engine::member_forecasts() const {
  std::vector<std::array<double, kHorizon>> all;
  const auto recent_from =
      table_->level.begin() + static_cast<std::ptrdiff_t>(std::max(day_ - 28, 0)) * kDayHours;
  // A level can't fall far below all of the last four weeks.
  const double least =
      0.3 *
      *std::min_element(recent_from, table_->level.begin() + static_cast<std::ptrdiff_t>(day_) * kDayHours);
  for (const auto& family : families_) {
    const auto features = family.view.features(day_);
    const auto base = family.view.base(day_);
    for (std::size_t spec = 0; spec < family.members; ++spec) {
      const auto off = family.bank.predict(spec, features);
      auto& one = all.emplace_back();
      for (std::size_t h = 0; h < kHorizon; ++h)
        one[h] = family.view.to_log(off[h] + base[h % kDayHours], least);
    }
  }
  for (const auto& method : anomalies_) all.push_back(method.predict());
  return all;
}

DayForecast Engine::combine(const std::vector<std::array<double, kHorizon>>& members) const {
  DayForecast out;
  for (std::size_t block = 0; block < kBlocks; ++block) {
    const auto weights = stacks_[block].weights();
    const auto band = bands_[block].hours();
    const double lower = kTowardsLeastRelativeError * bands_[block].variance();
    for (std::size_t h = 0; h < kDayHours; ++h) {
      const std::size_t at = block * kDayHours + h;
      double centre = 0;
      for (std::size_t member = 0; member < members.size(); ++member)
        centre += weights[member] * members[member][at];
      out.centre[at] = centre;
      out.expected[at] = centre - lower;
      out.band[at] = band[h];
    }
  }
  return out;
}

DayForecast Engine::predict() const { return combine(member_forecasts()); }

}  // namespace tidewatt::carbon::forecast
