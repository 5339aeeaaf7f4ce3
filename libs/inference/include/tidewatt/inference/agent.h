// An agent: beliefs in, decision out. Observe, learn, plan, act; then again. Nothing allocates after
// construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tidewatt/inference/model.h"

namespace tidewatt::inference {

/// What was seen in one modality: an outcome, or a distribution over outcomes, or (both empty) nothing: then
/// its likelihood is left out. What can't be (an outcome out of range, a distribution of the wrong length,
/// with negative or infinite numbers or without mass) is left out too and counted.
struct Observation {
  std::optional<std::size_t> outcome;
  std::span<const double> distribution;
};

/// The parts of negative expected free energy, in nats; larger is better.
enum class Term { utility, state_information, a_information, b_information };

/// What is expected under a policy, step by step.
struct Forecast {
  std::vector<std::vector<Table>> states;    ///< [step][factor]
  std::vector<std::vector<Table>> outcomes;  ///< [step][modality]
};

class Agent {
 public:
  /// @throws std::invalid_argument with find_fault()'s words when the model is not sound
  Agent(Model model, const Options& options);
  ~Agent();
  Agent(Agent&&) noexcept;
  Agent& operator=(Agent&&) noexcept;

  /// The next observation is the first of an episode: its prior is D. Learned counts stay.
  void begin_episode();
  /// Prior from the action before, posterior from one observation per modality.
  void observe(std::span<const Observation> observations);
  /// Takes D as the belief, without any observation.
  void set_belief_to_prior();
  /// Updates A, then (from an episode's second step) B, as the options say. After observe().
  void learn();
  /// Weighs all policies.
  void plan();
  /// What was done: one control per factor. The next prior and the learning of B follow from it.
  void act(std::span<const std::size_t> controls);
  /// Updates D from what the episode's first step was like, as the options say.
  void end_episode();
  /// New preferences of modality m, of the size they had.
  void set_preferences(std::size_t m, std::span<const double> c);

  [[nodiscard]] const Model& model() const;  ///< with what was learned
  [[nodiscard]] const Options& options() const;
  [[nodiscard]] std::span<const double> prior(std::size_t factor) const;
  [[nodiscard]] std::span<const double> posterior(std::size_t factor) const;
  /// The joint belief, where it is kept; else empty. The last factor varies fastest.
  [[nodiscard]] std::span<const double> joint() const;
  /// Variational free energy: an upper bound of surprise, equal to it where the joint is kept. [nat]
  [[nodiscard]] double free_energy() const;
  /// compat with several factors: the start value, then one per iteration. Exact above the joint limit: one
  /// per sweep.
  [[nodiscard]] std::span<const double> free_energy_trace() const;
  [[nodiscard]] std::size_t iterations() const;
  /// The model holds the observations for impossible; the belief then comes from floored probabilities.
  [[nodiscard]] bool contradicted() const;
  /// Observations left out of the last step because they can't be.
  [[nodiscard]] std::size_t refused_observations() const;

  /// Negative expected free energy of each policy, and their posterior softmax(gamma G + ln E).
  [[nodiscard]] std::span<const double> values() const;
  [[nodiscard]] std::span<const double> policy_probabilities() const;
  [[nodiscard]] double term(Term term, std::size_t policy) const;
  /// Probability of each control of a factor as the first of a policy.
  [[nodiscard]] std::span<const double> control_probabilities(std::size_t factor) const;
  /// The distinct whole first actions of the policies: [action][factor], in order of first appearance.
  [[nodiscard]] std::size_t action_count() const;
  [[nodiscard]] std::span<const std::size_t> action(std::size_t index) const;
  [[nodiscard]] std::size_t action_of_policy(std::size_t policy) const;
  /// Probability of each of them.
  [[nodiscard]] std::span<const double> action_probabilities() const;
  /// What a policy leads to from the present belief, as marginals. Allocates: for reports, not for every
  /// step.
  [[nodiscard]] Forecast forecast(std::size_t policy) const;
  /// Hash of the bits of all results: equal for equal decisions.
  [[nodiscard]] std::uint64_t fingerprint() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tidewatt::inference
