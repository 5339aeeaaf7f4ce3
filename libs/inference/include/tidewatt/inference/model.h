// The generative model of an agent: what it believes about states, outcomes and the effects of its actions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidewatt::inference {

/// compat: the arithmetic of the established open reference, with its guards and approximations.
/// exact: the information-theoretic quantities themselves; the product's default.
enum class Mode { compat, exact };

using Table = std::vector<double>;  ///< row-major, last index fastest

/// Factors f have states and controls, modalities m have outcomes. Dependencies are sparse and in the order
/// of the tables' axes.
struct Shape {
  std::vector<std::size_t> outcomes;              ///< per modality
  std::vector<std::size_t> states;                ///< per factor
  std::vector<std::size_t> controls;              ///< per factor; 1 = cannot be controlled
  std::vector<std::vector<std::size_t>> sees;     ///< per modality: the factors it depends on
  std::vector<std::vector<std::size_t>> drivers;  ///< per factor: the factors its next state depends on

  [[nodiscard]] std::size_t factors() const { return states.size(); }
  [[nodiscard]] std::size_t modalities() const { return outcomes.size(); }
  /// Number of combinations of the states that modality m sees.
  [[nodiscard]] std::size_t seen_states(std::size_t m) const;
  /// Number of combinations of the states that drive factor f.
  [[nodiscard]] std::size_t driver_states(std::size_t f) const;
};

/// Sequences of controls that are weighed against each other.
struct Policies {
  std::size_t count = 0;
  std::size_t length = 0;  ///< steps
  std::size_t factors = 0;
  std::vector<std::uint16_t> controls;  ///< [policy][step][factor]

  [[nodiscard]] std::size_t control(std::size_t policy, std::size_t step, std::size_t factor) const {
    return controls[(policy * length + step) * factors + factor];
  }
};

/// Every sequence of whole actions; the last factor of the last step varies fastest. nullopt: more than
/// `limit`.
std::optional<Policies> all_policies(const Shape& shape, std::size_t length, std::size_t limit);

struct Model {
  Shape shape;
  std::vector<Table> a;         ///< [outcome][states seen...]      P(outcome | states), columns add up to 1
  std::vector<Table> b;         ///< [next][drivers...][control]    P(next state | drivers, control)
  std::vector<Table> c;         ///< [outcome] or [outcome][step]   log preference, any offset
  std::vector<Table> d;         ///< [state]                        P(first state)
  Table e;                      ///< [policy] prior over policies; empty = uniform
  std::vector<Table> a_counts;  ///< Dirichlet counts of a; empty = a is known. They replace a.
  std::vector<Table> b_counts;  ///< likewise
  std::vector<Table> d_counts;  ///< likewise; replace d only where a fault-free d is not given
  Policies policies;
};

/// How evidence that is a distribution over outcomes is read.
enum class SoftEvidence {
  sensor,   ///< a noisy sensor: ln sum_o y(o) A(o|s)
  message,  ///< an expectation: sum_o y(o) ln A(o|s)
};

struct Options {
  Mode mode = Mode::exact;
  double gamma = 16;  ///< precision of policies
  double alpha = 16;  ///< precision of actions, for probabilities of stochastic choice
  bool use_utility = true;
  bool use_state_information = true;
  bool use_parameter_information = false;
  bool learn_a = false, learn_b = false, learn_d = false;
  double rate_a = 1, rate_b = 1, rate_d = 1;
  double memory = 1;  ///< (0, 1]: what is kept of learned counts at each update; 1 = forgets nothing
  std::vector<bool> learned_modalities;  ///< empty = all
  std::vector<bool> learned_factors;     ///< empty = all; for b and d
  SoftEvidence soft = SoftEvidence::sensor;
  // fixed-point iteration of compat mode
  std::size_t iterations = 10;
  double first_change = 1;
  double least_change = 1e-3;
  bool stop_when_settled = true;
  /// Exact mode keeps the joint belief up to this many joint states and iterates over factors above.
  std::size_t joint_limit = 4096;
  /// Exact mode joins the outcomes of modalities that share factors up to tables of this many numbers.
  std::size_t outcome_table_limit = std::size_t{1} << 18;
  /// For choosing among equals.
  std::uint64_t seed = 0;
};

/// What is wrong with a model or its options, in words that name table, index and value; nullopt = sound.
std::optional<std::string> find_fault(const Model& model, const Options& options);

}  // namespace tidewatt::inference
