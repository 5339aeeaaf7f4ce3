// Rules: the baseline beside the engine, and what stands in when it may do nothing.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/units/time.h"

namespace tidewatt::continuum {

/// "load.shop < 10 for 30m": true when it has held for so long without a break.
struct Condition {
  std::string signal;
  bool above = false;  ///< signal > value, else signal < value
  double value = 0;
  Milliseconds lasting{};  ///< 0 = at once
};

/// @error invalid_input  what is wrong, and what to write
Result<Condition> parse_condition(std::string_view text);

struct Rule {
  std::vector<Condition> when;                           ///< all of them
  std::vector<std::pair<std::size_t, std::size_t>> set;  ///< knob, level; the other knobs stay
};

/// Remembers since when each condition holds. The first rule that applies is the one.
class RuleBook {
 public:
  explicit RuleBook(std::vector<Rule> rules);
  /// @param signals  by name; an unknown one fulfils no condition @param levels  what is set
  /// @return what should be set; nullopt = no rule applies
  std::optional<std::vector<std::size_t>> step(const std::map<std::string, std::optional<double>>& signals,
                                               UtcTime now, std::span<const std::size_t> levels);

 private:
  std::vector<Rule> rules_;
  std::vector<std::vector<std::optional<UtcTime>>> since_;
};

}  // namespace tidewatt::continuum
