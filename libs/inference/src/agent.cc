#include "tidewatt/inference/agent.h"

#include <algorithm>
#include <stdexcept>

#include "agent_state.h"
#include "kernels.h"
#include "tables.h"
#include "tidewatt/inference/fingerprint.h"
#include "tidewatt/inference/numerics.h"

namespace tidewatt::inference {
namespace {

/// Sound, and with A, B and D as the counts say.
Model prepared(Model model, const Options& options) {
  if (const auto fault = find_fault(model, options)) throw std::invalid_argument{*fault};
  const auto& shape = model.shape;
  const auto normalise = [](const std::vector<Table>& counts, std::vector<Table>& tables, const auto& rows) {
    tables = counts;
    for (std::size_t i = 0; i < counts.size(); ++i)
      normalise_columns(counts[i].data(), tables[i].data(), rows[i], counts[i].size() / rows[i]);
  };
  if (!model.a_counts.empty()) normalise(model.a_counts, model.a, shape.outcomes);
  if (!model.b_counts.empty()) normalise(model.b_counts, model.b, shape.states);
  if (model.d.empty() && !model.d_counts.empty()) normalise(model.d_counts, model.d, shape.states);
  if (model.d.empty())
    for (const auto n : shape.states) model.d.emplace_back(n, 1.0 / static_cast<double>(n));
  return model;
}

std::size_t joint_states(const Shape& shape) {
  std::size_t product = 1;
  for (const auto n : shape.states) product = saturating_product(product, n);
  return product;
}

}  // namespace

Agent::State::State(Model sound, const Options& chosen)
    : model(std::move(sound)),
      options(chosen),
      evidence(model.shape),
      inference(model.shape, chosen.iterations),
      prior(model.shape.states),
      posterior(model.shape.states),
      last(model.shape.states),
      first(model.shape.states),
      control_probabilities(model.shape.controls) {
  const auto& shape = model.shape;
  a_start = model.a_counts;
  b_start = model.b_counts;
  d_start = model.d_counts;
  if (options.mode == Mode::exact && joint_states(shape) <= options.joint_limit) {
    space.emplace(shape);
    joint_planner.emplace(model, options, *space);
    const std::size_t size = space->size();
    for (auto* table : {&joint, &joint_prior, &joint_last, &joint_spare}) table->assign(size, 0.0);
    std::size_t column = 1;
    for (const auto& c : space->components()) column = std::max(column, c.states);
    for (std::size_t m = 0; m < shape.modalities(); ++m) {
      seen.push_back(space->combinations(shape.sees[m]));
      column = std::max(column, shape.seen_states(m));
    }
    for (std::size_t f = 0; f < shape.factors(); ++f) driven.push_back(space->combinations(shape.drivers[f]));
    scratch.assign(padded(column), 0.0);
  } else {
    table_planner.emplace(model, options);
    std::size_t largest = 1;
    for (std::size_t f = 0; f < shape.factors(); ++f) {
      transitions.push_back(make_transition(model, f, options.mode));
      largest = std::max(largest, transitions.back().probabilities.size());
    }
    for (std::size_t m = 0; m < shape.modalities(); ++m) largest = std::max(largest, shape.seen_states(m));
    scratch.assign(2 * largest, 0.0);
    padded_belief.assign(padded(*std::max_element(shape.states.begin(), shape.states.end())), 0.0);
  }
  const auto& policies = model.policies;
  values.assign(policies.count, 0.0);
  probabilities.assign(policies.count, 0.0);
  log_e.assign(policies.count, 0.0);
  for (std::size_t p = 0; p < policies.count; ++p)
    log_e[p] = ln_eps(model.e.empty() ? 1.0 / static_cast<double>(policies.count) : model.e[p]);
  taken.assign(shape.factors(), 0);
  list_actions();
}

void Agent::State::list_actions() {
  const auto& policies = model.policies;
  const std::size_t factors = model.shape.factors();
  std::vector<std::size_t> action(factors);
  std::map<std::vector<std::size_t>, std::size_t> known;
  for (std::size_t p = 0; p < policies.count; ++p) {
    for (std::size_t f = 0; f < factors; ++f) action[f] = policies.control(p, 0, f);
    const auto [found, added] = known.emplace(action, known.size());
    if (added) actions.insert(actions.end(), action.begin(), action.end());
    action_of_policy.push_back(found->second);
  }
  action_probabilities.assign(known.size(), 0.0);
}

Agent::Agent(Model model, const Options& options)
    : state_(std::make_unique<State>(prepared(std::move(model), options), options)) {}
Agent::~Agent() = default;
Agent::Agent(Agent&&) noexcept = default;
Agent& Agent::operator=(Agent&&) noexcept = default;

void Agent::begin_episode() {
  state_->steps = 0;
  state_->acted = false;
}

void Agent::observe(std::span<const Observation> observations) {
  auto& s = *state_;
  s.evidence.read(s.model, observations, s.options.soft);
  s.contradicted = false;
  s.last.values() = s.posterior.values();
  if (s.space) {
    s.joint_last.swap(s.joint);
    s.predict_joint();
    s.infer_joint();
  } else {
    s.predict_factors();
    if (s.options.mode == Mode::compat)
      s.inference.fixed_point(s.evidence, s.prior, s.options, s.posterior);
    else
      s.inference.descend(s.evidence, s.prior, s.posterior);
    s.free_energy = s.inference.free_energy();
  }
  if (s.steps == 0) s.first.values() = s.posterior.values();
  ++s.steps;
}

void Agent::set_belief_to_prior() {
  auto& s = *state_;
  begin_episode();
  if (s.space) {
    s.predict_joint();
    s.joint = s.joint_prior;
  } else {
    s.predict_factors();
  }
  s.posterior.values() = s.prior.values();
}

void Agent::State::predict_factors() {
  if (steps == 0) {
    for (std::size_t f = 0; f < prior.size(); ++f)
      std::copy(model.d[f].begin(), model.d[f].end(), prior[f].begin());
    return;
  }
  std::array<const double*, kMostFactors> from{};
  for (std::size_t f = 0; f < prior.size(); ++f) {
    const auto& drivers = model.shape.drivers[f];
    for (std::size_t i = 0; i < drivers.size(); ++i) from[i] = last[drivers[i]].data();
    contract(padded_belief, {from.data(), drivers.size()}, transitions[f].driver_sizes,
             transitions[f].slab(taken[f]), transitions[f].width, scratch);
    std::copy_n(padded_belief.begin(), prior[f].size(), prior[f].begin());
  }
}

void Agent::State::predict_joint() {
  auto& to = joint_prior;
  if (steps == 0) {
    std::fill(to.begin(), to.end(), 1.0);
    for (std::size_t j = 0; j < to.size(); ++j)
      for (std::size_t f = prior.size(), rest = j; f-- > 0; rest /= model.shape.states[f])
        to[j] *= model.d[f][rest % model.shape.states[f]];
  } else {
    joint_spare = joint_last;
    for (std::size_t c = 0; c < space->components().size(); ++c) {
      space->move(c, taken, joint_planner->transitions(), joint_spare.data(), to.data(), scratch);
      if (c + 1 < space->components().size()) joint_spare.swap(to);
    }
  }
  space->to_marginals(to.data(), prior);
}

void Agent::State::infer_joint() {
  constexpr double kImpossible = 1e-280;
  joint = joint_prior;
  for (std::size_t m = 0; m < seen.size(); ++m) {
    if (!evidence.present(m)) continue;
    const auto likelihood = evidence.likelihood(m);
    for (std::size_t j = 0; j < joint.size(); ++j) joint[j] *= likelihood[seen[m][j]];
  }
  double sum = 0;
  for (const double p : joint) sum += p;
  if (sum > kImpossible) {
    for (double& p : joint) p /= sum;
    free_energy = -ln(sum);
  } else {
    // The model holds this for impossible. Floored probabilities say which state explains most of it.
    contradicted = true;
    for (std::size_t j = 0; j < joint.size(); ++j) {
      joint[j] = ln_eps(joint_prior[j]);
      for (std::size_t m = 0; m < seen.size(); ++m)
        if (evidence.present(m)) joint[j] += evidence.log_likelihood(m)[seen[m][j]];
    }
    free_energy = -log_sum_exp(joint);
    softmax_in_place(joint.data(), joint.size());
  }
  space->to_marginals(joint.data(), posterior);
}

void Agent::plan() {
  auto& s = *state_;
  if (s.joint_planner)
    s.joint_planner->evaluate(*s.space, s.joint, s.model, s.options);
  else
    s.table_planner->evaluate(s.posterior, s.options);
  const auto& scores = s.scores();
  const std::size_t width = scores.per_policy;
  for (std::size_t p = 0; p < s.values.size(); ++p) {
    const std::uint32_t* const parts = scores.parts.data() + p * width;
    double sum = 0;
    for (std::size_t k = 0; k < width; ++k) sum += scores.total[parts[k]];
    s.values[p] = sum;
    s.probabilities[p] = s.options.gamma * sum + s.log_e[p];
  }
  softmax_in_place(s.probabilities.data(), s.probabilities.size());
  std::fill(s.action_probabilities.begin(), s.action_probabilities.end(), 0.0);
  for (std::size_t p = 0; p < s.values.size(); ++p)
    s.action_probabilities[s.action_of_policy[p]] += s.probabilities[p];
  const std::size_t factors = s.model.shape.factors();
  std::fill(s.control_probabilities.values().begin(), s.control_probabilities.values().end(), 0.0);
  for (std::size_t a = 0; a < s.action_probabilities.size(); ++a)
    for (std::size_t f = 0; f < factors; ++f)
      s.control_probabilities[f][s.actions[a * factors + f]] += s.action_probabilities[a];
}

void Agent::act(std::span<const std::size_t> controls) {
  auto& s = *state_;
  for (std::size_t f = 0; f < s.taken.size(); ++f)
    if (f >= controls.size() || controls[f] >= s.model.shape.controls[f])
      throw std::invalid_argument{"an action names a control that the model does not have"};
  std::copy_n(controls.begin(), s.taken.size(), s.taken.begin());
  s.acted = true;
}

void Agent::set_preferences(std::size_t m, std::span<const double> c) {
  auto& s = *state_;
  if (m >= s.model.c.size() || c.size() != s.model.c[m].size())
    throw std::invalid_argument{"preferences of another size than before"};
  std::copy(c.begin(), c.end(), s.model.c[m].begin());
  if (s.joint_planner) s.joint_planner->preferences_changed(s.model);
  if (s.table_planner) s.table_planner->preferences_changed(s.model);
}

const Model& Agent::model() const { return state_->model; }
const Options& Agent::options() const { return state_->options; }
std::span<const double> Agent::prior(std::size_t factor) const { return state_->prior[factor]; }
std::span<const double> Agent::posterior(std::size_t factor) const {
  const Marginals& posterior = state_->posterior;
  return posterior[factor];
}
std::span<const double> Agent::joint() const { return state_->joint; }
double Agent::free_energy() const { return state_->free_energy; }
std::span<const double> Agent::free_energy_trace() const {
  return state_->space ? std::span<const double>{&state_->free_energy, 1} : state_->inference.trace();
}
std::size_t Agent::iterations() const { return state_->space ? 1 : state_->inference.iterations(); }
bool Agent::contradicted() const { return state_->contradicted; }
std::size_t Agent::refused_observations() const { return state_->evidence.refused(); }
std::span<const double> Agent::values() const { return state_->values; }
std::span<const double> Agent::policy_probabilities() const { return state_->probabilities; }
double Agent::term(Term term, std::size_t policy) const {
  const auto& scores = state_->scores();
  switch (term) {
    case Term::utility:
      return scores.sum(scores.utility, policy);
    case Term::state_information:
      return scores.sum(scores.state_information, policy);
    case Term::a_information:
      return scores.sum(scores.a_information, policy);
    case Term::b_information:
      return scores.sum(scores.b_information, policy);
  }
  return 0;
}
std::span<const double> Agent::control_probabilities(std::size_t factor) const {
  const Marginals& probabilities = state_->control_probabilities;
  return probabilities[factor];
}
std::size_t Agent::action_count() const { return state_->action_probabilities.size(); }
std::span<const std::size_t> Agent::action(std::size_t index) const {
  const std::size_t factors = state_->model.shape.factors();
  return {state_->actions.data() + index * factors, factors};
}
std::size_t Agent::action_of_policy(std::size_t policy) const { return state_->action_of_policy[policy]; }
std::span<const double> Agent::action_probabilities() const { return state_->action_probabilities; }

std::uint64_t Agent::fingerprint() const {
  const auto& s = *state_;
  Fingerprint hash;
  for (const auto* values : {&s.prior.values(), &s.posterior.values(), &s.joint, &s.values, &s.probabilities})
    hash.add(*values);
  for (const auto* tables : {&s.model.a, &s.model.b, &s.model.d})
    for (const auto& table : *tables) hash.add(table);
  hash.add({&s.free_energy, 1});
  return hash.value();
}

}  // namespace tidewatt::inference
