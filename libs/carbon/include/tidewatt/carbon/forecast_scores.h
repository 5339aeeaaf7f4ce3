// Who forecasts a zone better: each forecaster's record by day ahead, from what really came.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/units/time.h"

namespace tidewatt::carbon {

struct SaidPoint {
  UtcTime start;
  UtcTime end;
  double grams = 0;
};

class ForecastScores {
 public:
  static constexpr int kDays = 4;
  static constexpr int kFewestScored = 24;  ///< slots; fewer are no record
  static constexpr std::size_t kMostIssues = 16;

  /// A forecast as it was issued; one of a time already held is not taken again. Issues closer than 6 h to
  /// the last one are left out.
  void said(std::string_view forecaster, UtcTime issued_at, std::vector<SaidPoint> points);
  /// A slot's value, once: each issue that told it is scored by |said - actual| / actual. 0 scores nothing.
  void came(UtcTime start, double grams);

  struct Record {
    double error = 0;  ///< mean absolute relative error, recent slots count more
    int slots = 0;
  };
  /// @param day 1..4  @return nullopt without a record yet
  [[nodiscard]] std::optional<Record> record(std::string_view forecaster, int day) const;
  /// The one with the smaller error on that day ahead; `otherwise` while either has no record.
  [[nodiscard]] std::string better(std::string_view a, std::string_view b, int day,
                                   std::string_view otherwise) const;

 private:
  struct Issue {
    UtcTime at;
    std::vector<SaidPoint> points;
  };
  struct Forecaster {
    std::deque<Issue> issues;
    std::array<Record, kDays> records{};
  };
  std::map<std::string, Forecaster, std::less<>> forecasters_;
  std::optional<UtcTime> scored_to_;
};

}  // namespace tidewatt::carbon
