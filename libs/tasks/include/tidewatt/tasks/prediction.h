// The energy and time of a task's next epochs from those it has done: linear in epochs, by recursive least
// squares, with a 90 % interval. Method in words: docs/method/prediction.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/tasks/epoch.h"
#include "tidewatt/units/quantity.h"

namespace tidewatt::tasks {

/// What an epoch tells of those to come.
enum class EpochKind {
  steady,         ///< the fit is made of these
  warm_up,        ///< at the start: compiling, filling caches, cards not yet warm
  before_change,  ///< on a level of energy that no longer holds (power cap, other input)
  evaluation,     ///< comes back with a period, costs more
  unusual,        ///< one of its own: preempted, disturbed
};
std::string_view to_string(EpochKind kind);

/// Epochs whose number leaves `remainder` when divided by `period` evaluate too.
struct EvaluationCycle {
  std::int64_t period = 0;
  std::int64_t remainder = 0;
  double extra_share = 0;  ///< what they cost above the others, of the others' energy
  [[nodiscard]] bool contains(std::int64_t number) const { return number % period == remainder; }
};

/// How far predictions were off before: what an interval is never narrower than, and what stands in for the
/// scatter while few epochs are known. Shares of the predicted energy.
struct EarlierRuns {
  double epoch_spread = 0.004;    ///< standard deviation of a steady epoch
  double level_floor = 0.003;     ///< half-width for the nearest epochs: the level found isn't the level yet
  double drift_per_epoch = 9e-5;  ///< and what the level wanders per epoch ahead
  std::string source = "built-in";  ///< for people: where these come from
  [[nodiscard]] double floor_at(double horizon) const;
};

struct PredictorOptions {
  std::size_t update_every = 2;  ///< epochs between two updates of the fit, at least 1
  double forgetting = 0.98;      ///< weight of an epoch relative to the next one
  EarlierRuns earlier{};
};

/// How the fit came to be.
struct FitSummary {
  std::size_t epochs_known = 0;  ///< with energy, of those observed
  std::size_t epochs_used = 0;   ///< steady and evaluation epochs in the fit
  std::size_t warm_up_epochs = 0;
  std::vector<std::int64_t> unusual;
  std::optional<std::int64_t> changed_at;
  std::optional<EvaluationCycle> evaluation;
  Joules steady_epoch;  ///< an epoch without evaluation
  std::size_t updates = 0;
  std::size_t refits = 0;  ///< updates that began anew, since an older epoch's kind had changed
  double spread = 0;       ///< standard deviation of an epoch, as a share of steady_epoch
  double degrees = 0;      ///< of freedom, of `spread`
  double floor = 0;        ///< least half-width, as a share of the predicted energy
  bool floor_decides = false;
};

struct Prediction {
  std::int64_t horizon = 0;
  Joules energy;
  Joules low;  ///< of the 90 % interval; never below 0
  Joules high;
  std::optional<Seconds> seconds;  ///< nullopt: no steady epoch's time is known
  FitSummary fit;
  [[nodiscard]] Joules per_epoch() const { return energy / static_cast<double>(horizon); }
};

/// Learns a task's cost from its epochs, in the order they were done.
class EnergyPredictor {
 public:
  explicit EnergyPredictor(PredictorOptions options = {});
  EnergyPredictor(EnergyPredictor&&) noexcept;
  EnergyPredictor& operator=(EnergyPredictor&&) noexcept;
  ~EnergyPredictor();

  /// Takes the next epoch; every `update_every` of them the fit is brought up to date.
  void observe(const Epoch& epoch);
  /// Brings the fit up to date with what was observed since.
  void update();
  /// Energy and time of the `horizon` epochs after the last one observed, by the fit as it is.
  /// @error unavailable    fewer than 2 epochs with energy: one alone can't be told from warm-up
  /// @error invalid_input  horizon below 1
  [[nodiscard]] Result<Prediction> predict(std::int64_t horizon) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// observe() for each, update(), predict().
Result<Prediction> predict_energy(std::span<const Epoch> epochs, std::int64_t horizon,
                                  const PredictorOptions& options = {});

/// The spread of earlier runs of one task: each is predicted from its first `train` epochs, and its errors
/// over the next `horizon` make the floor.
/// @error unavailable  no run is long enough
Result<EarlierRuns> spread_of(std::span<const std::vector<Epoch>> runs, std::size_t train,
                              std::int64_t horizon);

}  // namespace tidewatt::tasks
