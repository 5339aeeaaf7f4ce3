// The tables of a report for people.
#pragma once

#include <string>
#include <vector>

#include "tidewatt/reports/report.h"
#include "tidewatt/reports/text.h"

namespace tidewatt::reports {

/// A head and rows of equal length. Row and column 0 name the lines.
struct Table {
  std::string title;
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
  std::size_t total_row = 0;
};

struct Tables {
  std::vector<Table> tables;
  /// "Scope 2 market kg: no residual mix is stated": columns without a value in any line stand here alone,
  /// and the reasons of single cells behind "—".
  std::vector<std::string> unknown;
};

/// Lines, the total and what no task took. Carbon only where the report may show it.
Tables tables_of(const Report& report, Language language);

}  // namespace tidewatt::reports
