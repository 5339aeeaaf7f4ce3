#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tidewatt/inference/choice.h"
#include "tidewatt/inference/information.h"
#include "tidewatt/inference/numerics.h"
#include "tidewatt/model_file/run_file.h"

namespace tidewatt::model_file {
namespace {

using inference::Agent;
using inference::Mode;
using inference::Term;
using nlohmann::json;

json array(std::span<const double> data, const std::vector<std::size_t>& shape) {
  return {{"shape", shape}, {"data", std::vector<double>(data.begin(), data.end())}};
}
json vector_of(std::span<const double> data) { return array(data, {data.size()}); }

std::vector<std::size_t> a_shape(const inference::Shape& shape, std::size_t m) {
  std::vector<std::size_t> axes{shape.outcomes[m]};
  for (const auto f : shape.sees[m]) axes.push_back(shape.states[f]);
  return axes;
}
std::vector<std::size_t> b_shape(const inference::Shape& shape, std::size_t f) {
  std::vector<std::size_t> axes{shape.states[f]};
  for (const auto g : shape.drivers[f]) axes.push_back(shape.states[g]);
  axes.push_back(shape.controls[f]);
  return axes;
}

template <class Axes>
json tables(const std::vector<inference::Table>& all, const Axes& axes) {
  auto list = json::array();
  for (std::size_t i = 0; i < all.size(); ++i) list.push_back(array(all[i], axes(i)));
  return list;
}

template <class Get>
json per_factor(std::size_t factors, const Get& get) {
  auto list = json::array();
  for (std::size_t f = 0; f < factors; ++f) list.push_back(vector_of(get(f)));
  return list;
}

json lists(const std::vector<std::vector<inference::Table>>& steps) {
  auto all = json::array();
  for (const auto& step : steps) {
    auto row = json::array();
    for (const auto& one : step) row.push_back(vector_of(one));
    all.push_back(std::move(row));
  }
  return all;
}

/// Each term for every policy, also those that G leaves out.
json terms(const Agent& agent) {
  const auto& model = agent.model();
  const auto column = [&](Term term) {
    auto list = json::array();
    for (std::size_t p = 0; p < model.policies.count; ++p) list.push_back(agent.term(term, p));
    return list;
  };
  json out{{"utility", column(Term::utility)}, {"states_info_gain", column(Term::state_information)}};
  out["pA_info_gain"] = model.a_counts.empty() ? json() : column(Term::a_information);
  out["pB_info_gain"] = model.b_counts.empty() ? json() : column(Term::b_information);
  if (agent.options().mode == Mode::compat) {
    const auto joint = inference::joint_state_information(agent);
    out["states_info_gain_joint"] = joint.empty() ? json() : json(joint);
  }
  return out;
}

json weights(std::span<const double> probabilities, double alpha) {
  std::vector<double> sharpened;
  for (const double p : probabilities) sharpened.push_back(alpha * inference::ln_eps(p));
  inference::softmax(sharpened);
  return vector_of(sharpened);
}

void report_choice(const RunFile& file, const Agent& agent, json& out) {
  const std::size_t factors = agent.model().shape.factors();
  std::vector<std::vector<double>> marginals;
  for (std::size_t f = 0; f < factors; ++f) {
    const auto p = agent.control_probabilities(f);
    double sum = 0;
    for (const double one : p) sum += one;
    marginals.emplace_back();
    for (const double one : p) marginals.back().push_back(one / sum);
  }
  out["action_marginals"] =
      per_factor(factors, [&](std::size_t f) { return std::span<const double>{marginals[f]}; });
  const auto q = agent.policy_probabilities();
  if (file.sampling == Sampling::full) {
    out["argmax_policies"] = inference::near_best(q);
    if (file.selection == Selection::stochastic) out["policy_probs"] = weights(q, agent.options().alpha);
    return;
  }
  auto best = json::array();
  for (const auto& p : marginals) best.push_back(inference::near_best(p));
  out["argmax_actions"] = std::move(best);
  if (file.selection == Selection::stochastic) {
    auto all = json::array();
    for (const auto& p : marginals) all.push_back(weights(p, agent.options().alpha));
    out["action_probs"] = std::move(all);
  }
}

void report_inference(const Agent& agent, json& out) {
  const std::size_t factors = agent.model().shape.factors();
  out["prior"] = per_factor(factors, [&](std::size_t f) { return agent.prior(f); });
  out["qs"] = per_factor(factors, [&](std::size_t f) { return agent.posterior(f); });
  const auto trace = agent.free_energy_trace();
  if (agent.options().mode == Mode::compat && factors > 1) {
    out["fpi_iterations"] = agent.iterations();
    out["vfe_trace"] = std::vector<double>(trace.begin(), trace.end());
    return;
  }
  out["vfe"] = agent.free_energy();
  if (agent.options().mode != Mode::exact) return;
  if (!agent.joint().empty()) out["joint"] = array(agent.joint(), agent.model().shape.states);
  if (trace.size() > 1) out["vfe_trace"] = std::vector<double>(trace.begin(), trace.end());
  out["contradicted"] = agent.contradicted();
}

json report_step(const RunFile& file, Agent& agent, const Step& step, std::size_t t,
                 inference::Chooser& chooser) {
  json out{{"t", t}};
  agent.observe(step.observations());
  report_inference(agent, out);
  agent.learn();
  const auto& model = agent.model();
  const auto& shape = model.shape;
  const auto a_axes = [&](std::size_t m) { return a_shape(shape, m); };
  const auto b_axes = [&](std::size_t f) { return b_shape(shape, f); };
  if (agent.options().learn_a) {
    out["pA"] = tables(model.a_counts, a_axes);
    out["A"] = tables(model.a, a_axes);
  }
  if (agent.options().learn_b && t > 0) {
    out["pB"] = tables(model.b_counts, b_axes);
    out["B"] = tables(model.b, b_axes);
  }
  agent.plan();
  out["G"] = vector_of(agent.values());
  out["q_pi"] = vector_of(agent.policy_probabilities());
  out["G_terms"] = terms(agent);
  const auto q = agent.policy_probabilities();
  const auto best = static_cast<std::size_t>(std::max_element(q.begin(), q.end()) - q.begin());
  const auto forecast = agent.forecast(best);
  out["best_policy"] = {
      {"index", best}, {"qs_pi", lists(forecast.states)}, {"qo_pi", lists(forecast.outcomes)}};
  report_choice(file, agent, out);
  std::vector<std::size_t> action;
  if (step.action) {
    action = *step.action;
  } else {
    const auto chosen = agent.action(chooser.choose(agent.action_probabilities()).action);
    action.assign(chosen.begin(), chosen.end());
  }
  agent.act(action);
  out["action"] = action;
  return out;
}

}  // namespace

std::string run_report(const RunFile& file) {
  Agent agent{file.model, file.options};
  inference::Chooser chooser{file.options.seed};
  auto episodes = json::array();
  for (const auto& episode : file.episodes) {
    agent.begin_episode();
    auto steps = json::array();
    for (std::size_t t = 0; t < episode.size(); ++t)
      steps.push_back(report_step(file, agent, episode[t], t, chooser));
    json out{{"steps", std::move(steps)}};
    agent.end_episode();
    if (file.options.learn_d) {
      const auto& model = agent.model();
      out["pD"] = per_factor(model.shape.factors(),
                             [&](std::size_t f) { return std::span<const double>{model.d_counts[f]}; });
      out["D"] = per_factor(model.shape.factors(),
                            [&](std::size_t f) { return std::span<const double>{model.d[f]}; });
    }
    episodes.push_back(std::move(out));
  }
  const json report{{"id", file.id},
                    {"mode", file.options.mode == Mode::compat ? "compat" : "exact"},
                    {"episodes", std::move(episodes)}};
  return report.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace tidewatt::model_file
