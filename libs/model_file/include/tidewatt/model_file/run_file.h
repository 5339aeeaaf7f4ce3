// Model files: a generative model, options and recorded episodes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/inference/agent.h"

namespace tidewatt::model_file {

enum class Selection { deterministic, stochastic };
enum class Sampling { marginal, full };  ///< per factor, or over whole policies

/// One recorded step: what was seen, and what was done (nullopt: the run chooses).
struct Step {
  std::vector<std::optional<std::size_t>> outcomes;  ///< per modality; empty when distributions are given
  std::vector<std::vector<double>> distributions;    ///< per modality; an empty one is missing
  std::optional<std::vector<std::size_t>> action;

  /// Views into this step.
  [[nodiscard]] std::vector<inference::Observation> observations() const;
};

struct RunFile {
  std::string id;
  inference::Model model;
  inference::Options options;
  Selection selection = Selection::deterministic;
  Sampling sampling = Sampling::marginal;
  std::vector<std::vector<Step>> episodes;
};

/// A model for timing: observations are used one after the other, again and again.
struct BenchFile {
  inference::Model model;
  inference::Options options;
  std::vector<Step> steps;
};

/// @error invalid_input  names the field, the offending value and what would be right; one line
Result<RunFile> read_run(std::string_view text, inference::Mode mode);
Result<BenchFile> read_bench(std::string_view text, inference::Mode mode);

/// Runs every episode. @return JSON in the form of the file: {"episodes":[{"steps":[...]}]}
std::string run_report(const RunFile& file);

/// Whether the text is a list of unit functions ("tidewatt-aif-unit/1") instead of a model.
bool is_unit_file(std::string_view text);
/// Computes each function of such a list. @return {"tests":[{"fn":...,"out":...}]}
Result<std::string> unit_report(std::string_view text);

}  // namespace tidewatt::model_file
