// What the studies share: their data's tables, and how their answers are printed.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/units/time.h"

namespace tidewatt::cli {

struct StudyOptions {
  std::string data;
  bool json = false;
  std::string figure;  ///< file for a figure; empty: none
};

/// Rows of a CSV file by the names of its header; no quotes occur in these files.
struct StudyTable {
  std::string path;
  std::map<std::string, std::size_t, std::less<>> columns;
  std::vector<std::vector<std::string_view>> rows;
  std::string text;

  [[nodiscard]] Result<double> number(std::size_t row, std::string_view column) const;
  [[nodiscard]] std::string_view at(std::size_t row, std::string_view column) const;
  [[nodiscard]] Result<UtcTime> time(std::size_t row, std::string_view column) const;
  [[nodiscard]] Result<std::vector<double>> numbers(std::string_view column) const;
};

/// A CSV file, gzip or not, whose header must hold the columns `needed`.
Result<std::unique_ptr<StudyTable>> read_study_table(const std::string& path,
                                                     const std::vector<std::string>& needed);

/// Prints a study: JSON, or the rows as a table (columns with their digits) and the head below.
int print_study(const StudyOptions& options, const std::string& name, const nlohmann::json& head,
                const nlohmann::json& rows, const std::vector<std::pair<std::string, int>>& columns);

// The studies that have a file of their own.
Result<int> run_caiso_study(const StudyOptions& options);
Result<int> run_year_study(const StudyOptions& options);
Result<int> run_cooling_study(const StudyOptions& options);
Result<int> run_outage_study(const StudyOptions& options);

}  // namespace tidewatt::cli
