// All methods together, led through the days in order: issue, wait, learn.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "anomaly.h"
#include "band.h"
#include "day_table.h"
#include "features.h"
#include "ridge.h"
#include "stack.h"

namespace tidewatt::carbon::forecast {

/// Logarithms of levels, hour by hour after issue.
struct DayForecast {
  std::array<double, kHorizon> centre{};
  std::array<double, kHorizon> expected{};
  std::array<BandHour, kHorizon> band{};  ///< around the centre
};

class Engine {
 public:
  /// @param first_issue  the first day at whose start a forecast is made (>= 8); days before it only train.
  ///                     `table` must outlive the engine.
  Engine(const DayTable& table, int first_issue);

  /// Learns from the days before `day`; days in order, from first_issue.
  void learn(int day);
  /// The forecast issued at the start of the day that was learnt last.
  [[nodiscard]] DayForecast predict() const;
  /// The same, as it was combined when the day was learnt.
  [[nodiscard]] const DayForecast& latest() const { return open_.back().forecast; }
  /// Regressions need some 60 rows: before, the engine only has the methods that need few days.
  [[nodiscard]] bool has_regressions() const { return !families_.empty(); }
  static constexpr int kDaysForRegressions = 72;

 private:
  struct Family {
    FeatureView view;
    RidgeBank bank;
    std::size_t members = 0;
  };
  struct Issue {
    int day = 0;
    std::vector<std::array<double, kHorizon>> members;
    DayForecast forecast;
  };
  void add_family(Space space, Anchor anchor, bool with_weather, double scale, std::vector<RidgeSpec> specs);
  void train(int day);
  [[nodiscard]] std::vector<std::array<double, kHorizon>> member_forecasts() const;
  void compare_with(int day);
  [[nodiscard]] DayForecast combine(const std::vector<std::array<double, kHorizon>>& members) const;

  const DayTable* table_;
  int first_issue_;
  int day_ = 0;
  int next_row_ = kProfileDays;
  int next_refit_;
  std::vector<Family> families_;
  std::vector<AnomalyMethod> anomalies_;
  std::vector<Stack> stacks_;
  std::vector<Band> bands_;
  std::deque<Issue> open_;  ///< the last four issues
};

}  // namespace tidewatt::carbon::forecast
