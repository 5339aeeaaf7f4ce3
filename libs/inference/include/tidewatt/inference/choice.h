// Choosing: over whole first actions, among those allowed, with seeded ties and a preference for not
// switching.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tidewatt::inference {

/// Closer than this to the best probability is as good as it.
inline constexpr double kTieTolerance = 1e-8;

/// Every index within kTieTolerance of the maximum, ascending.
std::vector<std::size_t> near_best(std::span<const double> probabilities);

struct Choice {
  std::size_t action = 0;
  bool held = false;     ///< nothing was allowed: the action is the one held before
  bool kept = false;     ///< a better action existed, but not better by the hysteresis
  std::size_t tied = 1;  ///< how many were equally good
};

/// Deterministic choice with a memory. Equal seeds and equal probabilities give equal choices.
class Chooser {
 public:
  /// @param hysteresis  a change needs a log-odds of at least this over the action before [nat]
  explicit Chooser(std::uint64_t seed, double hysteresis = 0, std::size_t hold = 0)
      : random_(seed), hysteresis_(hysteresis), hold_(hold) {}

  /// @param allowed  one flag per action; empty = all. Nothing outside it is ever chosen, except that the
  /// held action is
  ///                 returned, and marked, when nothing is allowed.
  Choice choose(std::span<const double> probabilities, std::span<const std::uint8_t> allowed = {});
  /// What was really done, where that differs.
  void note(std::size_t action) { before_ = action; }
  /// Draws from probabilities raised to alpha, among the allowed.
  Choice sample(std::span<const double> probabilities, double alpha,
                std::span<const std::uint8_t> allowed = {});

 private:
  std::uint64_t next();
  /// What is left where nothing is allowed: the action before, else the one to hold.
  [[nodiscard]] Choice hold() const;

  std::uint64_t random_;
  double hysteresis_;
  std::size_t hold_;
  std::optional<std::size_t> before_;
};

}  // namespace tidewatt::inference
