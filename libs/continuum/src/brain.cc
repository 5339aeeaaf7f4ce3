#include "tidewatt/continuum/brain.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>

#include "drift.h"
#include "guard.h"
#include "model.h"
#include "tidewatt/devol/arbitrate.h"
#include "tidewatt/inference/chance.h"
#include "tidewatt/inference/choice.h"
#include "tidewatt/inference/fingerprint.h"

namespace tidewatt::continuum {
namespace {

using inference::Agent;
using inference::ChanceMask;
using inference::Observation;
using inference::Table;
using inference::Term;

constexpr double kGamma = 16;
constexpr double kFaded = 0.2;      // what is left of learned counts after a drift
constexpr double kNeverSeen = 0.2;  // a promise is expected to be kept below this probability of violation
constexpr double kGivenUpShare = 0.25;  // of its preference, for a round
constexpr std::size_t kWhyNot = 3;

inference::Options options_of(const Setup& setup, const inference::Model& model) {
  inference::Options options;
  options.gamma = kGamma;
  options.use_state_information = false;  // loads and knobs are seen, or can't be asked
  options.use_parameter_information = true;
  options.learn_a = options.learn_b = true;
  options.memory = setup.memory;
  options.outcome_table_limit = std::size_t{1} << 14;
  options.seed = setup.seed;
  options.learned_modalities.assign(model.shape.modalities(), false);
  for (std::size_t m = 0; m <= setup.objectives.size(); ++m) options.learned_modalities[m] = true;
  return options;
}

std::vector<inference::ChanceConstraint> constraints_of(const Setup& setup, double delta) {
  std::vector<inference::ChanceConstraint> constraints;
  for (std::size_t m = 0; m < setup.objectives.size(); ++m)
    if (setup.objectives[m].hard) constraints.push_back({m, {kViolated}, delta, 0.95});
  return constraints;
}

std::optional<std::size_t> outcome_of(std::optional<devol::State> state) {
  if (!state) return std::nullopt;
  switch (*state) {
    case devol::State::unknown:
      return std::nullopt;
    case devol::State::kept:
      return kKept;
    case devol::State::close:
      return kClose;
    case devol::State::violated:
      return kViolated;
  }
  return std::nullopt;
}

/// Expected log preference of a modality's outcomes under one step.
double log_preference(const Table& outcomes, const Table& c, std::size_t steps, std::size_t step) {
  double most = c[step];
  for (std::size_t o = 0; o < outcomes.size(); ++o) most = std::max(most, c[o * steps + step]);
  double total = 0;
  for (std::size_t o = 0; o < outcomes.size(); ++o) total += std::exp(c[o * steps + step] - most);
  double value = 0;
  for (std::size_t o = 0; o < outcomes.size(); ++o)
    value += outcomes[o] * (c[o * steps + step] - most - std::log(total));
  return value;
}

double mean_of(const Table& outcomes, const std::vector<double>& values) {
  return std::inner_product(outcomes.begin(), outcomes.end(), values.begin(), 0.0);
}

}  // namespace

std::string_view to_string(By by) {
  switch (by) {
    case By::engine:
      return "engine";
    case By::rules:
      return "rules";
    case By::hold:
      return "hold";
    case By::guard:
      return "guard";
    case By::roll_back:
      return "roll_back";
  }
  return "engine";
}

double Terms::sum() const {
  return promises + carbon + state_information + a_information + b_information + cost;
}

struct Brain::State {
  Setup setup;
  inference::Model prior;
  Agent agent;
  std::unique_ptr<ChanceMask> strict, trying;
  inference::Chooser chooser;
  Guard guard;
  Drift drift;
  std::vector<devol::Claim> claims;
  std::map<std::size_t, std::uint64_t> blocked;  // action: until which period
  std::uint64_t period = 0;
  bool fade = false;
  // of the decision in progress
  Senses senses;
  std::vector<inference::Forecast> forecasts;
  std::vector<Candidate> candidates;
  bool rolling_back = false;

  State(Setup s, std::optional<Counts> counts)
      : setup(std::move(s)),
        prior(make_model(setup)),
        agent(with(prior, std::move(counts)), options_of(setup, prior)),
        chooser(setup.seed, setup.hysteresis) {
    make_masks();
    for (const auto& objective : setup.objectives) {
      const auto& service = setup.services[objective.service];
      claims.push_back(
          {service.name, objective.text, objective.tier, objective.weight, service.price, {}, 0});
    }
  }

  static inference::Model with(inference::Model model, std::optional<Counts> counts) {
    if (counts) {
      model.a_counts = std::move(counts->a);
      model.b_counts = std::move(counts->b);
    }
    return model;
  }
  void make_masks() {
    if (constraints_of(setup, setup.delta).empty()) return;
    strict = std::make_unique<ChanceMask>(agent.model(), constraints_of(setup, setup.delta));
    trying = std::make_unique<ChanceMask>(agent.model(), constraints_of(setup, setup.explore_delta));
  }

  [[nodiscard]] std::size_t action_of(std::span<const std::size_t> levels) const {
    std::size_t action = 0;
    for (std::size_t k = 0; k < levels.size(); ++k) action = action * setup.knobs[k].levels + levels[k];
    return action;
  }
  [[nodiscard]] std::vector<std::size_t> levels_of(std::size_t action) const {
    std::vector<std::size_t> levels(setup.knobs.size());
    for (std::size_t k = levels.size(); k-- > 0; action /= setup.knobs[k].levels)
      levels[k] = action % setup.knobs[k].levels;
    return levels;
  }
  [[nodiscard]] std::size_t power_modality() const { return setup.objectives.size(); }

  void fade_counts();
  void observe();
  void prefer(const std::vector<std::uint8_t>& given_up);
  void weigh();
  std::vector<std::uint8_t> arbitrate(Decision& decision);
  Terms terms_of(std::size_t action) const;
  void exclude(Decision& decision, const ChanceMask* mask);
  void choose(Decision& decision, const ChanceMask* mask);
  void expect(Decision& decision) const;
  void explain(Decision& decision);
  [[nodiscard]] std::uint64_t fingerprint(const Decision& decision) const;
};

/// The world has changed: what was learned goes most of the way back to the prior.
void Brain::State::fade_counts() {
  auto model = agent.model();
  const auto fade_table = [](std::vector<Table>& counts, const std::vector<Table>& start) {
    for (std::size_t t = 0; t < counts.size(); ++t)
      for (std::size_t i = 0; i < counts[t].size(); ++i)
        counts[t][i] = start[t][i] + kFaded * (counts[t][i] - start[t][i]);
  };
  fade_table(model.a_counts, prior.a_counts);
  fade_table(model.b_counts, prior.b_counts);
  for (std::size_t f = 0; f < model.shape.factors(); ++f)
    model.d[f].assign(agent.posterior(f).begin(), agent.posterior(f).end());
  agent = Agent{std::move(model), options_of(setup, prior)};
  make_masks();
}

void Brain::State::observe() {
  std::vector<Observation> seen;
  for (const auto& state : senses.objectives) seen.push_back({outcome_of(state), {}});
  seen.push_back({senses.power_bin, {}});
  for (const auto& bin : senses.load_bins) seen.push_back({bin, {}});
  for (const auto level : senses.levels) seen.push_back({level, {}});
  agent.observe(seen);
  agent.learn();
}

void Brain::State::prefer(const std::vector<std::uint8_t>& given_up) {
  for (std::size_t m = 0; m < setup.objectives.size(); ++m)
    agent.set_preferences(
        m, objective_preferences(setup.objectives[m], given_up[m] != 0 ? kGivenUpShare : 1.0, setup.horizon));
  agent.set_preferences(power_modality(), carbon_preferences_of(setup, senses));
}

void Brain::State::weigh() {
  agent.plan();
  forecasts.clear();
  for (std::size_t p = 0; p < agent.values().size(); ++p) forecasts.push_back(agent.forecast(p));
}

Terms Brain::State::terms_of(std::size_t action) const {
  Terms terms;
  const auto m = power_modality();
  for (std::size_t t = 0; t < setup.horizon; ++t)
    terms.carbon += log_preference(forecasts[action].outcomes[t][m], agent.model().c[m], setup.horizon, t);
  terms.promises = agent.term(Term::utility, action) - terms.carbon;
  if (senses.may_try) {
    terms.a_information = agent.term(Term::a_information, action);
    terms.b_information = agent.term(Term::b_information, action);
  }
  const auto levels = levels_of(action);
  for (std::size_t k = 0; k < levels.size(); ++k)
    if (levels[k] != senses.levels[k]) terms.cost -= setup.knobs[k].switch_grams * nats_per_gram(setup);
  return terms;
}

/// The round's target, least power first among equals. @return per objective: given up
std::vector<std::uint8_t> Brain::State::arbitrate(Decision& decision) {
  std::vector<std::size_t> order(forecasts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto power = [&](std::size_t p) {
    return mean_of(forecasts[p].outcomes[0][power_modality()], setup.power_w);
  };
  std::ranges::stable_sort(order, [&](auto a, auto b) { return power(a) < power(b); });
  for (std::size_t m = 0; m < claims.size(); ++m) {
    claims[m].satisfied.clear();
    for (const auto p : order)
      claims[m].satisfied.push_back(forecasts[p].outcomes.back()[m][kViolated] < kNeverSeen);
  }
  std::vector<std::uint8_t> given_up(claims.size(), 0);
  const auto target = devol::arbitrate(claims, order.size());
  if (!target) return given_up;
  devol::age(claims, *target);
  for (const auto& one : target->given_up) {
    decision.given_up.push_back({one.claim, one.possible});
    // What nothing keeps, still counts in full: less broken is better.
    given_up[one.claim] = one.possible ? 1 : 0;
  }
  return given_up;
}

void Brain::State::exclude(Decision& decision, const ChanceMask* mask) {
  std::erase_if(blocked, [&](const auto& one) { return one.second <= period; });
  bool any = false;
  for (auto& candidate : candidates) {
    if (mask != nullptr && mask->allowed_policies()[candidate.action] == 0)
      candidate.excluded = "bound";
    else if (blocked.contains(candidate.action))
      candidate.excluded = "rolled back";
    any = any || candidate.excluded == nullptr;
  }
  decision.none_allowed = !any;
}

void Brain::State::choose(Decision& decision, const ChanceMask* mask) {
  candidates.clear();
  for (std::size_t p = 0; p < forecasts.size(); ++p)
    candidates.push_back({p, levels_of(p), terms_of(p), 0, nullptr});
  exclude(decision, mask);
  double most = -1e300, total = 0;
  for (const auto& c : candidates)
    if (c.excluded == nullptr) most = std::max(most, c.terms.sum());
  for (auto& c : candidates)
    if (c.excluded == nullptr) total += c.probability = std::exp(kGamma * (c.terms.sum() - most));
  std::vector<double> probabilities;
  std::vector<std::uint8_t> allowed;
  for (auto& c : candidates) {
    if (total > 0) c.probability /= total;
    probabilities.push_back(c.probability);
    allowed.push_back(c.excluded == nullptr ? 1 : 0);
  }
  chooser.note(action_of(senses.levels));
  const bool rules = senses.rules && (setup.by_rules || decision.none_allowed);
  if (rules) {
    decision.by = By::rules;
    decision.levels = *senses.rules;
  } else if (decision.none_allowed || setup.by_rules) {
    decision.by = setup.by_rules ? By::rules : By::hold;
    decision.levels = senses.levels;
  } else {
    decision.levels = levels_of(chooser.choose(probabilities, allowed).action);
  }
}

void Brain::State::expect(Decision& decision) const {
  const auto& next = forecasts[action_of(decision.levels)].outcomes[0];
  for (std::size_t m = 0; m < setup.objectives.size(); ++m) decision.violation.push_back(next[m][kViolated]);
  decision.power_w = mean_of(next[power_modality()], setup.power_w);
  if (strict) {
    std::size_t constraints = constraints_of(setup, setup.delta).size();
    double bound = 0;
    for (std::size_t i = 0; i < constraints; ++i)
      bound = std::max(bound, strict->bound(i, action_of(decision.levels)));
    decision.bound = bound;
  }
}

void Brain::State::explain(Decision& decision) {
  const auto chosen = action_of(decision.levels);
  decision.chosen = candidates[chosen];
  auto others = candidates;
  std::erase_if(others, [&](const Candidate& c) { return c.action == chosen; });
  std::ranges::stable_sort(
      others, [](const Candidate& a, const Candidate& b) { return a.terms.sum() > b.terms.sum(); });
  if (others.size() > kWhyNot) others.resize(kWhyNot);
  decision.why_not = std::move(others);
}

std::uint64_t Brain::State::fingerprint(const Decision& decision) const {
  inference::Fingerprint hash;
  hash.add_word(agent.fingerprint());
  for (const auto& c : candidates) {
    const double numbers[] = {c.terms.promises,      c.terms.carbon, c.terms.a_information,
                              c.terms.b_information, c.terms.cost,   c.probability};
    hash.add(numbers);
  }
  for (const auto level : decision.levels) hash.add_word(level);
  hash.add_word(static_cast<std::uint64_t>(decision.by));
  return hash.value();
}

Brain::Brain(Setup setup, std::optional<Counts> counts)
    : state_(std::make_unique<State>(std::move(setup), std::move(counts))) {}
Brain::~Brain() = default;
Brain::Brain(Brain&&) noexcept = default;
Brain& Brain::operator=(Brain&&) noexcept = default;

Decision Brain::decide(const Senses& senses) {
  auto& s = *state_;
  Decision decision;
  ++s.period;
  s.senses = senses;
  if (std::exchange(s.fade, false)) s.fade_counts();
  s.observe();
  decision.surprise = s.agent.free_energy();
  decision.contradicted = s.agent.contradicted();
  decision.drift = s.fade = s.drift.step(decision.surprise);
  for (std::size_t f = 0; f < s.setup.services.size(); ++f)
    decision.belief.emplace_back(s.agent.posterior(f).begin(), s.agent.posterior(f).end());

  const bool was_watching = s.guard.watching();
  decision.broke = s.guard.look(s.setup, senses);
  std::vector<std::uint8_t> nothing(s.setup.objectives.size(), 0);
  s.prefer(nothing);
  s.weigh();
  if (const auto given_up = s.arbitrate(decision); given_up != nothing) {
    s.prefer(given_up);
    s.weigh();
  }
  auto* mask = senses.may_try ? s.trying.get() : s.strict.get();
  if (s.strict) s.strict->evaluate(s.agent);
  if (mask != nullptr && mask != s.strict.get()) mask->evaluate(s.agent);
  s.choose(decision, mask);

  const bool broken = std::ranges::any_of(senses.objectives,
                                          [](const auto& state) { return state == devol::State::violated; });
  s.rolling_back = decision.broke.has_value();
  if (decision.broke) {
    s.blocked[s.action_of(s.guard.levels_after())] = s.period + s.setup.block_periods;
    decision.by = By::roll_back;
    decision.levels = s.guard.levels_before();
  } else if (was_watching && s.guard.watching() && !broken) {
    decision.by = By::guard;
    decision.levels = senses.levels;
  }
  decision.change = decision.levels != senses.levels;
  s.expect(decision);
  s.explain(decision);
  decision.fingerprint = s.fingerprint(decision);
  return decision;
}

void Brain::acted(std::span<const std::size_t> levels) {
  auto& s = *state_;
  std::vector<std::size_t> controls(s.setup.services.size(), 0);
  controls.insert(controls.end(), levels.begin(), levels.end());
  s.agent.act(controls);
  if (std::ranges::equal(levels, s.senses.levels)) return;
  if (s.rolling_back)
    s.guard.stop();
  else
    s.guard.watch(s.setup, s.senses, {levels.begin(), levels.end()});
}

void Brain::block(std::span<const std::size_t> levels) {
  auto& s = *state_;
  s.blocked[s.action_of(levels)] = s.period + s.setup.block_periods;
  s.guard.stop();
}

const Setup& Brain::setup() const { return state_->setup; }
Counts Brain::counts() const { return {state_->agent.model().a_counts, state_->agent.model().b_counts}; }

}  // namespace tidewatt::continuum
