// What stands beside a report's figures: where they come from and what isn't in them.
#pragma once

#include <string>
#include <vector>

#include "tidewatt/reports/report.h"
#include "words.h"

namespace tidewatt::reports {

std::string title_of(const Report& report, const Words& words);

struct Fact {
  std::string name;
  std::string text;
};
/// Factor, series, contracts, PUE and so on, each with its source.
std::vector<Fact> facts_of(const Report& report, const Words& words);

/// What nobody may miss: simulated energy, a placeholder.
std::vector<std::string> warnings_of(const Report& report, const Words& words);
/// What a reader must know besides: coverage, a month that isn't sealed, adjustments.
std::vector<std::string> notes_of(const Report& report, const Words& words);

}  // namespace tidewatt::reports
