// The deciding part of the service agent: senses in, decision out. No clock, no files; equal inputs give
// equal bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tidewatt/continuum/setup.h"
#include "tidewatt/inference/agent.h"

namespace tidewatt::continuum {

/// Who decided.
enum class By {
  engine,
  rules,      ///< as the baseline, or because the mask excluded every action
  hold,       ///< the mask excluded every action, and no rule applies
  guard,      ///< a change is being watched
  roll_back,  ///< a change broke a promise
};
std::string_view to_string(By by);

/// What an action's G is made of. Larger is better; they sum up to G. [nat]
struct Terms {
  double promises = 0, carbon = 0, state_information = 0, a_information = 0, b_information = 0, cost = 0;
  [[nodiscard]] double sum() const;
};

struct Candidate {
  std::size_t action = 0;
  std::vector<std::size_t> levels;  ///< per knob
  Terms terms;
  double probability = 0;
  const char* excluded = nullptr;  ///< "bound" or "rolled back"; nullptr = allowed
};

struct GivenUp {
  std::size_t objective = 0;
  bool possible = false;
};

struct Decision {
  By by = By::engine;
  std::vector<std::size_t> levels;  ///< per knob: what should be set now
  bool change = false;              ///< they differ from what is set
  Candidate chosen;                 ///< of the levels; its terms are 0 where nothing was weighed
  std::vector<Candidate> why_not;   ///< the three likeliest others
  std::vector<double> violation;    ///< per objective: expected probability next period, under `levels`
  double power_w = 0;               ///< expected next period
  std::vector<std::vector<double>> belief;  ///< per service: of its load
  double surprise = 0;                      ///< [nat]
  bool drift = false;  ///< surprise above its own quantile three times: learned counts faded
  bool contradicted = false;
  bool none_allowed = false;
  std::optional<double> bound;       ///< greatest upper bound of a hard objective under `levels`
  std::vector<GivenUp> given_up;     ///< promises that the target of this round doesn't keep
  std::optional<std::size_t> broke;  ///< roll_back: the objective
  std::uint64_t fingerprint = 0;
};

/// What was learned, to go on from.
struct Counts {
  std::vector<inference::Table> a, b;
};

class Brain {
 public:
  /// @pre check(setup)
  explicit Brain(Setup setup, std::optional<Counts> counts = std::nullopt);
  ~Brain();
  Brain(Brain&&) noexcept;
  Brain& operator=(Brain&&) noexcept;

  Decision decide(const Senses& senses);
  /// What was tried after the decision, per knob: the present level where nothing was. A failed try is named
  /// as well: the next senses tell that it had no effect, and that is learned.
  void acted(std::span<const std::size_t> levels);
  /// A person undoes the last change: `levels` are not tried again for a while.
  void block(std::span<const std::size_t> levels);

  [[nodiscard]] const Setup& setup() const;
  [[nodiscard]] Counts counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tidewatt::continuum
