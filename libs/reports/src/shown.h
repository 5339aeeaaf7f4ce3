// How figures are shown in reports for people.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tidewatt/reports/report.h"

namespace tidewatt::reports {

inline constexpr std::string_view kUnknown = "—";

/// Three significant digits, integer part never cut, what isn't zero never as 0: 12,345 · 41.2 · 0.0003
std::string shown(double value);
/// "—" where unknown
std::string shown(const std::optional<double>& value);
std::string shown(const Figure& figure);
/// A stated number, as stated: 200,000 · 0.38
std::string shown_whole(double value);
std::string shown_percent(const std::optional<double>& share);
std::string day_text(UtcHour day);

}  // namespace tidewatt::reports
