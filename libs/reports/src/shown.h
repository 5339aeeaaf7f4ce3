// How figures and texts are shown in reports for people.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/reports/report.h"

namespace tidewatt::reports {

/// Three significant digits, integer part never cut, what isn't zero never as 0: 12,345 · 41.2 · 0.0003
std::string shown(double value);
/// "—" where unknown
std::string shown(const std::optional<double>& value);
std::string shown(const Figure& figure);
std::string shown_percent(const std::optional<double>& share);
std::string day_text(UtcHour day);
std::string from_to(const Window& window);
std::string title_of(const Report& report);

/// A statement beside the figures: where they come from and what isn't in them.
struct Fact {
  std::string name;
  std::string text;
};
/// Factor, series, contracts, PUE and so on, each with its source.
std::vector<Fact> facts_of(const Report& report);
/// What a reader must know: placeholder, coverage, simulated energy, a month that isn't sealed, adjustments,
/// reasons of "—".
std::vector<std::string> notes_of(const Report& report);

/// The table of lines, the total and what no task took: a head and rows of equal length.
struct Table {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
};
Table energy_table(const Report& report);
Table carbon_table(const Report& report);
Table beside_table(const Report& report);
Table money_table(const Report& report);

}  // namespace tidewatt::reports
