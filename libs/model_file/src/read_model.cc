#include <fmt/format.h>

#include <algorithm>

#include "json_reader.h"
#include "tidewatt/model_file/run_file.h"

namespace tidewatt::model_file {
namespace {

using inference::Mode;
using inference::Model;
using inference::Options;
using inference::Table;
using nlohmann::json;

constexpr std::size_t kMostPolicies = std::size_t{1} << 20;
constexpr std::size_t kLongestPolicy = 64;
constexpr std::size_t kMostPolicyNumbers = std::size_t{1} << 24;
constexpr std::size_t kMostSteps = 1'000'000;

Result<std::vector<Table>> read_tables(const json& model, const char* name, std::vector<Array>* arrays) {
  const auto* value = find(model, name);
  if (value == nullptr) return std::vector<Table>{};
  if (!value->is_array()) return bad(name, shown(*value) + " is not a list of arrays");
  std::vector<Table> tables;
  for (std::size_t i = 0; i < value->size(); ++i) {
    TW_TRY(auto array, to_array((*value)[i], fmt::format("{}[{}]", name, i)));
    tables.push_back(array.data);
    if (arrays != nullptr) arrays->push_back(std::move(array));
  }
  return tables;
}

/// The written shape must be what the lists ask for, axis by axis: an array of the right size with its axes
/// in another order would be read wrongly.
Status check_axes(const char* name, std::size_t i, const Array& array, const std::vector<std::size_t>& want) {
  if (array.shape != want)
    return bad(fmt::format("{}[{}].shape", name, i),
               "doesn't follow from num_obs, num_states, num_controls and the factor lists");
  return {};
}

Status check_shapes(const inference::Shape& shape, const char* name, const std::vector<Array>& arrays) {
  const bool is_a = name[std::char_traits<char>::length(name) - 1] == 'A';
  const bool is_b = name[std::char_traits<char>::length(name) - 1] == 'B';
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (i >= (is_a ? shape.modalities() : shape.factors()))
      return bad(name, "more arrays than the model has");
    std::vector<std::size_t> want{is_a ? shape.outcomes[i] : shape.states[i]};
    if (is_a)
      for (const auto f : shape.sees[i]) want.push_back(f < shape.factors() ? shape.states[f] : 0);
    if (is_b) {
      for (const auto f : shape.drivers[i]) want.push_back(f < shape.factors() ? shape.states[f] : 0);
      want.push_back(shape.controls[i]);
    }
    TW_TRY_STATUS(check_axes(name, i, arrays[i], want));
  }
  return {};
}

/// num_obs and num_states stand in the file, or follow from the arrays' first axes.
Result<std::vector<std::size_t>> sizes_of(const json& model, const char* name,
                                          const std::vector<Array>& arrays) {
  if (const auto* value = find(model, name)) return to_counts(*value, name, 65535);
  std::vector<std::size_t> sizes;
  for (const auto& array : arrays) {
    if (array.shape.empty()) return bad(name, "missing, and it does not follow from the arrays");
    sizes.push_back(array.shape[0]);
  }
  return sizes;
}

Status read_model(const json& from, Model& model) {
  std::vector<Array> a, b, a_counts, b_counts, c;
  TW_TRY(model.a, read_tables(from, "A", &a));
  TW_TRY(model.b, read_tables(from, "B", &b));
  TW_TRY(model.a_counts, read_tables(from, "pA", &a_counts));
  TW_TRY(model.b_counts, read_tables(from, "pB", &b_counts));
  TW_TRY(model.c, read_tables(from, "C", &c));
  TW_TRY(model.d, read_tables(from, "D", nullptr));
  TW_TRY(model.d_counts, read_tables(from, "pD", nullptr));
  auto& shape = model.shape;
  TW_TRY(shape.outcomes, sizes_of(from, "num_obs", a.empty() ? a_counts : a));
  TW_TRY(shape.states, sizes_of(from, "num_states", b.empty() ? b_counts : b));
  const auto* controls = find(from, "num_controls");
  if (controls == nullptr) return bad("num_controls", "missing");
  TW_TRY(shape.controls, to_counts(*controls, "num_controls", 65535));
  const auto* sees = find(from, "A_factor_list");
  const auto* drivers = find(from, "B_factor_list");
  if (sees != nullptr) {
    TW_TRY(shape.sees, to_lists(*sees, "A_factor_list"));
  } else {  // dense
    std::vector<std::size_t> all;
    for (std::size_t f = 0; f < shape.factors(); ++f) all.push_back(f);
    shape.sees.assign(shape.modalities(), all);
  }
  if (drivers != nullptr) {
    TW_TRY(shape.drivers, to_lists(*drivers, "B_factor_list"));
  } else {
    for (std::size_t f = 0; f < shape.factors(); ++f) shape.drivers.push_back({f});
  }
  if (shape.sees.size() != shape.modalities()) return bad("A_factor_list", "not one list per modality");
  if (shape.drivers.size() != shape.factors() || shape.controls.size() != shape.factors())
    return bad("B_factor_list", "not one list and one number of controls per factor");
  TW_TRY_STATUS(check_shapes(shape, "A", a));
  TW_TRY_STATUS(check_shapes(shape, "pA", a_counts));
  TW_TRY_STATUS(check_shapes(shape, "B", b));
  TW_TRY_STATUS(check_shapes(shape, "pB", b_counts));
  if (model.c.empty())
    for (const auto outcomes : shape.outcomes) model.c.emplace_back(outcomes, 0.0);
  if (const auto* e = find(from, "E")) {
    TW_TRY(auto array, to_array(*e, "E"));
    model.e = std::move(array.data);
  }
  return {};
}

Status read_policies(const json& file, std::size_t length, Model& model) {
  auto& policies = model.policies;
  const auto* given = find(file, "policies");
  if (given == nullptr) {
    auto all = inference::all_policies(model.shape, length, kMostPolicies);
    if (!all)
      return bad("policies",
                 fmt::format("missing, and all sequences of {} steps are more than {}; list those to weigh",
                             length, kMostPolicies));
    policies = std::move(*all);
    return {};
  }
  TW_TRY(const auto array, to_array(*given, "policies"));
  if (array.shape.size() != 3 || array.shape[0] > kMostPolicies || array.shape[1] > kLongestPolicy ||
      array.data.size() > kMostPolicyNumbers)
    return bad("policies.shape", "not policies x steps x factors, at most 2^20 x 64");
  if (array.shape[1] != length)
    return bad("policies.shape", fmt::format("{} steps, policy_len says {}", array.shape[1], length));
  policies.count = array.shape[0];
  policies.length = array.shape[1];
  policies.factors = array.shape[2];
  for (const double control : array.data) {
    if (!(control >= 0 && control < 65536) ||
        control != static_cast<double>(static_cast<std::uint16_t>(control)))
      return bad("policies", fmt::format("{} is no control", control));
    policies.controls.push_back(static_cast<std::uint16_t>(control));
  }
  return {};
}

/// "all", or a list of indexes; as flags, empty for all.
Result<std::vector<bool>> read_subset(const json& params, const char* name, std::size_t count) {
  const auto* value = find(params, name);
  if (value == nullptr || (value->is_string() && *value == "all")) return std::vector<bool>{};
  TW_TRY(const auto list, to_counts(*value, name, 65535));
  std::vector<bool> flags(count, false);
  for (const auto i : list) {
    if (i >= count) return bad(name, fmt::format("{} is out of range, there are {}", i, count));
    flags[i] = true;
  }
  if (count == 0) flags.push_back(false);
  return flags;
}

Status read_learning(const json& params, const Model& model, Options& options) {
  TW_TRY(options.rate_a, number_or(params, "lr_pA", 1));
  TW_TRY(options.rate_b, number_or(params, "lr_pB", 1));
  TW_TRY(options.rate_d, number_or(params, "lr_pD", 1));
  TW_TRY(options.memory, number_or(params, "memory", 1));
  TW_TRY(options.learned_modalities, read_subset(params, "modalities_to_learn", model.shape.modalities()));
  TW_TRY(options.learned_factors, read_subset(params, "factors_to_learn", model.shape.factors()));
  const auto* learn = find(params, "learn");
  if (learn == nullptr) return {};
  if (!learn->is_array()) return bad("learn", shown(*learn) + " is not a list");
  for (const auto& one : *learn) {
    if (one == "A")
      options.learn_a = true;
    else if (one == "B")
      options.learn_b = true;
    else if (one == "D")
      options.learn_d = true;
    else
      return bad("learn", shown(one) + " is none of \"A\", \"B\", \"D\"");
  }
  return {};
}

Status read_options(const json& params, const Model& model, Options& options) {
  TW_TRY(options.gamma, number_or(params, "gamma", 16));
  TW_TRY(options.alpha, number_or(params, "alpha", 16));
  TW_TRY(options.use_utility, flag_or(params, "use_utility", true));
  TW_TRY(options.use_state_information, flag_or(params, "use_states_info_gain", true));
  TW_TRY(options.use_parameter_information, flag_or(params, "use_param_info_gain", false));
  TW_TRY(options.seed, count_or(params, "seed", 0, std::size_t{1} << 53));
  options.soft =
      options.mode == Mode::compat ? inference::SoftEvidence::sensor : inference::SoftEvidence::message;
  TW_TRY(const auto soft, text_or(params, "soft_observations", ""));
  if (soft == "sensor")
    options.soft = inference::SoftEvidence::sensor;
  else if (soft == "message")
    options.soft = inference::SoftEvidence::message;
  else if (!soft.empty())
    return bad("soft_observations", "\"" + soft + "\" is neither \"sensor\" nor \"message\"");
  TW_TRY_STATUS(read_learning(params, model, options));
  if (const auto* inner = find(params, "inference_params")) {
    TW_TRY(options.iterations, count_or(*inner, "num_iter", 10, 100000));
    TW_TRY(options.first_change, number_or(*inner, "dF", 1));
    TW_TRY(options.least_change, number_or(*inner, "dF_tol", 1e-3));
    TW_TRY(options.stop_when_settled, flag_or(*inner, "compute_vfe", true));
  }
  return {};
}

Result<Step> read_step(const json& from, const inference::Shape& shape, const std::string& where) {
  Step step;
  if (const auto* distributions = find(from, "obs_dist")) {
    if (!distributions->is_array() || distributions->size() != shape.modalities())
      return bad(where + ".obs_dist", "not one distribution per modality");
    for (std::size_t m = 0; m < shape.modalities(); ++m) {
      const auto& one = (*distributions)[m];
      step.distributions.emplace_back();
      if (one.is_null()) continue;
      const auto field = fmt::format("{}.obs_dist[{}]", where, m);
      if (one.is_array()) {
        TW_TRY(step.distributions.back(), to_numbers(one, field));
      } else {
        TW_TRY(auto array, to_array(one, field));
        step.distributions.back() = std::move(array.data);
      }
      const auto& y = step.distributions.back();
      double sum = 0;
      for (const double p : y) sum = p >= 0 ? sum + p : -1e300;
      if (y.size() != shape.outcomes[m] || !(sum > 0))
        return bad(field, fmt::format("not {} probabilities", shape.outcomes[m]));
    }
  } else if (const auto* obs = find(from, "obs")) {
    if (!obs->is_array() || obs->size() != shape.modalities())
      return bad(where + ".obs", shown(*obs) + " is not one outcome per modality");
    for (std::size_t m = 0; m < shape.modalities(); ++m) {
      step.outcomes.emplace_back();
      if ((*obs)[m].is_null()) continue;
      TW_TRY(step.outcomes.back(),
             to_count((*obs)[m], fmt::format("{}.obs[{}]", where, m), shape.outcomes[m] - 1));
    }
  } else {
    step.outcomes.assign(shape.modalities(), std::nullopt);
  }
  if (const auto* action = find(from, "action")) {
    TW_TRY(auto controls, to_counts(*action, where + ".action", 65535));
    if (controls.size() != shape.factors()) return bad(where + ".action", "not one control per factor");
    for (std::size_t f = 0; f < controls.size(); ++f)
      if (controls[f] >= shape.controls[f])
        return bad(where + ".action",
                   fmt::format("control {} of factor {}, which has {}", controls[f], f, shape.controls[f]));
    step.action = std::move(controls);
  }
  return step;
}

Status read_episodes(const json& file, RunFile& run) {
  const auto* episodes = find(file, "episodes");
  if (episodes == nullptr || !episodes->is_array()) return bad("episodes", "missing or not a list");
  std::size_t count = 0;
  for (std::size_t e = 0; e < episodes->size(); ++e) {
    const auto* steps = find((*episodes)[e], "steps");
    const auto where = fmt::format("episodes[{}].steps", e);
    if (steps == nullptr || !steps->is_array()) return bad(where, "missing or not a list");
    run.episodes.emplace_back();
    for (std::size_t t = 0; t < steps->size(); ++t) {
      if (++count > kMostSteps) return bad(where, "more than a million steps");
      TW_TRY(auto step, read_step((*steps)[t], run.model.shape, fmt::format("{}[{}]", where, t)));
      run.episodes.back().push_back(std::move(step));
    }
  }
  return {};
}

Status check(const Model& model, const Options& options) {
  if (const auto fault = inference::find_fault(model, options)) return fail(ErrorCode::invalid_input, *fault);
  return {};
}

template <class Enum>
Result<Enum> choice(const json& params, const char* name, const char* first, Enum first_value,
                    const char* second, Enum second_value) {
  TW_TRY(const auto text, text_or(params, name, first));
  if (text == first) return first_value;
  if (text == second) return second_value;
  return bad(name, fmt::format("\"{}\" is neither \"{}\" nor \"{}\"", text, first, second));
}

}  // namespace

std::vector<inference::Observation> Step::observations() const {
  std::vector<inference::Observation> all;
  for (const auto& outcome : outcomes) all.push_back({outcome, {}});
  for (const auto& distribution : distributions) all.push_back({std::nullopt, distribution});
  return all;
}

Result<RunFile> read_run(std::string_view text, Mode mode) {
  TW_TRY(const auto file, parse_object(text));
  TW_TRY(const auto format, text_or(file, "format", ""));
  if (format != "tidewatt-aif-golden/1" && format != "tidewatt-aif/1")
    return bad("format", "\"" + format + "\" is not \"tidewatt-aif/1\"");
  RunFile run;
  TW_TRY(run.id, text_or(file, "id", ""));
  const auto* model = find(file, "model");
  const auto* given = find(file, "params");
  if (model == nullptr || !model->is_object()) return bad("model", "missing or not an object");
  const json params = given == nullptr ? json::object() : *given;
  if (!params.is_object()) return bad("params", "not an object");
  TW_TRY_STATUS(read_model(*model, run.model));
  TW_TRY(const auto length, count_or(params, "policy_len", 1, kLongestPolicy));
  TW_TRY_STATUS(read_policies(file, length, run.model));
  TW_TRY(const auto algorithm, text_or(params, "inference_algo", "VANILLA"));
  if (algorithm != "VANILLA") return bad("inference_algo", "\"" + algorithm + "\" is not \"VANILLA\"");
  TW_TRY(const auto sophisticated, flag_or(params, "sophisticated", false));
  if (sophisticated) return bad("sophisticated", "true is not supported");
  run.options.mode = mode;
  TW_TRY_STATUS(read_options(params, run.model, run.options));
  TW_TRY(run.selection, choice(params, "action_selection", "deterministic", Selection::deterministic,
                               "stochastic", Selection::stochastic));
  TW_TRY(run.sampling,
         choice(params, "sampling_mode", "marginal", Sampling::marginal, "full", Sampling::full));
  TW_TRY_STATUS(check(run.model, run.options));
  TW_TRY_STATUS(read_episodes(file, run));
  return run;
}

Result<BenchFile> read_bench(std::string_view text, Mode mode) {
  TW_TRY(const auto file, parse_object(text));
  BenchFile bench;
  TW_TRY_STATUS(read_model(file, bench.model));
  TW_TRY(const auto length, count_or(file, "policy_len", 1, kLongestPolicy));
  TW_TRY_STATUS(read_policies(file, length, bench.model));
  bench.options.mode = mode;
  TW_TRY(bench.options.gamma, number_or(file, "gamma", 16));
  TW_TRY_STATUS(check(bench.model, bench.options));
  const auto* obs = find(file, "obs");
  if (obs == nullptr || !obs->is_array() || obs->empty()) return bad("obs", "missing or empty");
  for (std::size_t t = 0; t < obs->size(); ++t) {
    TW_TRY(auto step, read_step(json{{"obs", (*obs)[t]}}, bench.model.shape, fmt::format("obs[{}]", t)));
    bench.steps.push_back(std::move(step));
  }
  return bench;
}

}  // namespace tidewatt::model_file
