// The language in which a service states what it promises: one line, one objective.
//
//   p99(latency_ms) <= 150 over 5m weight 3 tier gold
//   rate(stalls) < 0.1% over 5m
//   mean(throughput) >= 100/s over 1m
//
// Statistic and window have no default, so that nobody has to guess "mean or p99?".
#pragma once

#include <string>
#include <string_view>

#include "tidewatt/base/result.h"
#include "tidewatt/units/time.h"

namespace tidewatt::devol {

inline constexpr std::size_t kLongestObjective = 300;  ///< bytes

enum class Statistic {
  mean,
  least,       ///< min(...)
  greatest,    ///< max(...)
  percentile,  ///< p50(...), p99(...), p99.9(...): nearest rank
  rate,        ///< with %: share of the samples that are not 0; with /s: sum of the samples per second
};
enum class Relation { at_most, below, at_least, above };
/// What stands behind the number. A metric's own unit stands in its name (latency_ms).
enum class ThresholdUnit { plain, percent, per_second };
/// Promises in the order in which they are kept when not all can be.
enum class Tier { gold, silver, bronze };

struct Objective {
  Statistic statistic = Statistic::mean;
  double percentile = 0;  ///< [1, 100]; only for Statistic::percentile
  std::string metric;     ///< [A-Za-z_][A-Za-z0-9_.]*
  Relation relation = Relation::at_most;
  double threshold = 0;  ///< as written: 0.1 for 0.1%
  ThresholdUnit unit = ThresholdUnit::plain;
  Milliseconds window{};
  double weight = 1;  ///< above 0, at most 1000
  Tier tier = Tier::silver;

  friend bool operator==(const Objective&, const Objective&) = default;
};

/// @error invalid_input  "column N: ..." with what to write there as the hint
Result<Objective> parse_objective(std::string_view text);
/// One spelling for equal objectives; parse_objective reads it back as the same.
std::string to_text(const Objective& objective);
std::string_view to_string(Tier tier);

}  // namespace tidewatt::devol
