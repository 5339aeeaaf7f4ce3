// The file of `tidewatt continuum`.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/continuum/rules.h"
#include "tidewatt/units/time.h"

namespace tidewatt::cli {

enum class ContinuumMode { observe, suggest, automatic };

struct ContinuumService {
  std::string name, url;
  double price = 1;
  std::string load_metric;         ///< its samples' sum per second is the load; empty = unknown
  std::vector<double> load_above;  ///< [1/s] bounds between bins, rising
};

struct ContinuumKnob {
  std::string name, kind, target, parameter;
  std::vector<double> levels;  ///< from thrifty to generous
  std::vector<std::string> services;
  double switch_grams = 0;
};

struct ContinuumConfig {
  ContinuumMode mode = ContinuumMode::observe;
  std::string journal;
  std::string host_root;  ///< where /sys is looked for; "" = this machine
  Milliseconds period{10'000};
  std::string zone;         ///< with the server's signal
  std::string signal_file;  ///< or a CSV
  std::string signal_column = "gco2_per_kwh";
  std::string power_service, power_metric;  ///< a metric in watts; empty = unknown
  std::vector<double> power_w{10, 30, 50, 70, 90};
  std::optional<double> grams_per_violation;
  std::vector<std::pair<int, int>> try_hours;  ///< UTC [from, to)
  std::size_t guard_periods = 3, block_periods = 60;
  double delta = 0.05;
  std::vector<ContinuumService> services;
  std::vector<ContinuumKnob> knobs;
  bool by_rules = false;  ///< the rules decide; else they stand in where the engine may do nothing
  std::vector<continuum::Rule> rules;
};

/// @error invalid_input  names the key, and what to write
Result<ContinuumConfig> parse_continuum_config(const std::string& text);

}  // namespace tidewatt::cli
