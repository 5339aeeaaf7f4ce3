// The periods of reports: a month, a quarter, a year, in UTC.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/ledger/seal.h"
#include "tidewatt/units/time.h"

namespace tidewatt::reports {

/// Whole hours [from, to).
struct Window {
  UtcHour from;
  UtcHour to;
  [[nodiscard]] std::size_t hours() const { return static_cast<std::size_t>((to - from).count()); }
  [[nodiscard]] bool holds(UtcHour hour) const { return hour >= from && hour < to; }
};

struct Period {
  std::string text;  ///< as given: "2026-11", "2026-Q4", "2026"
  ledger::Month first;
  int months = 1;
  [[nodiscard]] Window window() const;
};

/// nullopt for anything but YYYY-MM, YYYY-Qn and YYYY in 1970-9999.
std::optional<Period> parse_period(std::string_view text);

}  // namespace tidewatt::reports
