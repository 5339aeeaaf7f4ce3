#include "tidewatt/tasks/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "epoch_kind.h"
#include "recursive_least_squares.h"
#include "student_t.h"

namespace tidewatt::tasks {
namespace {

constexpr std::size_t kWindow = 128;  ///< epochs looked at again at an update; older ones live on in the fit
constexpr double kPriorDegrees = 2;   ///< how many epochs the spread of earlier runs is worth

constexpr double kLeastAmount = 1e-9;
constexpr double kUnusualCounts = 3;  ///< spreads that an unusual epoch is counted as at most

using Fit = RecursiveLeastSquares<2>;  // an epoch, and the extra of an evaluation

/// How many of the `horizon` numbers after `last` the cycle contains.
double evaluations_in(const EvaluationCycle& cycle, std::int64_t last, std::int64_t horizon) {
  const std::int64_t first = last + 1;
  const std::int64_t wait = ((cycle.remainder - first) % cycle.period + cycle.period) % cycle.period;
  return wait >= horizon ? 0 : static_cast<double>((horizon - 1 - wait) / cycle.period + 1);
}

/// A billionth of a joule or second is nothing, and ratios to it would leave the range of numbers.
double worth_a_figure(double value) { return value < kLeastAmount ? 0 : value; }

}  // namespace

std::string_view to_string(EpochKind kind) {
  switch (kind) {
    case EpochKind::steady:
      return "steady";
    case EpochKind::warm_up:
      return "warm_up";
    case EpochKind::before_change:
      return "before_change";
    case EpochKind::evaluation:
      return "evaluation";
    case EpochKind::unusual:
      return "unusual";
  }
  return "steady";
}

struct EnergyPredictor::State {
  struct Remembered {
    KnownEpoch known;
    std::optional<double> seconds;
  };

  explicit State(PredictorOptions given)
      : options(std::move(given)), energy(options.forgetting), seconds(options.forgetting) {}

  void begin_anew();
  void absorb(const Remembered& one, EpochKind kind);
  void count_unusual(double value);
  [[nodiscard]] double degrees() const;
  [[nodiscard]] double spread() const;

  PredictorOptions options;
  std::deque<Remembered> window;
  EpochKinds sorted;          ///< of the window, at the last update
  std::size_t forgotten = 0;  ///< epochs that left the window
  std::size_t waiting = 0;    ///< observed since the last update
  std::size_t known = 0;
  std::size_t warm_up = 0;
  std::int64_t last_number = 0;
  std::size_t updates = 0;
  std::size_t refits = 0;

  Fit energy;
  Fit seconds;
  double squares = 0;  ///< of the relative surprise of each epoch, corrected for what was known before it
  std::size_t used = 0;
  std::size_t evaluations = 0;
  std::size_t disturbed = 0;
  std::size_t timed = 0;
  double unit = 0;  ///< the fits are made in units of the first epoch used: numbers near 1
  double unit_seconds = 0;
};

void EnergyPredictor::State::begin_anew() {
  energy = Fit{options.forgetting};
  seconds = Fit{options.forgetting};
  squares = 0;
  used = evaluations = disturbed = timed = 0;
  unit = unit_seconds = 0;
}

void EnergyPredictor::State::absorb(const Remembered& one, EpochKind kind) {
  if (kind == EpochKind::warm_up || kind == EpochKind::before_change) return;
  if (kind == EpochKind::unusual) return count_unusual(one.known.energy);
  const bool evaluation = kind == EpochKind::evaluation;
  const Fit::Row row{1, evaluation ? 1.0 : 0.0};
  if (unit <= 0) unit = one.known.energy > 0 ? one.known.energy : 1;
  const double value = one.known.energy / unit;
  const bool first_of_its_kind = used == 0 || (evaluation && evaluations == 0) || used == evaluations;
  if (!first_of_its_kind) {
    const double surprise = value - energy.predict(row);
    squares += surprise * surprise / (1 + energy.uncertainty(row));
  }
  energy.observe(row, value);
  ++used;
  if (evaluation) ++evaluations;
  if (!one.seconds) return;
  if (unit_seconds <= 0) unit_seconds = *one.seconds > 0 ? *one.seconds : 1;
  seconds.observe(row, *one.seconds / unit_seconds);
  ++timed;
}

/// It moves no prediction, but disturbances may come again: it widens the interval, as far as one epoch may.
void EnergyPredictor::State::count_unusual(double value) {
  if (used == 0) return;
  const double most = kUnusualCounts * spread();
  const double surprise = std::min(std::abs(value / unit - energy.predict({1, 0})), most);
  squares += surprise * surprise;
  ++disturbed;
}

double EnergyPredictor::State::degrees() const {
  const std::size_t coefficients = evaluations > 0 && evaluations < used ? 2 : 1;
  return kPriorDegrees + static_cast<double>(disturbed + used - std::min(used, coefficients));
}

double EnergyPredictor::State::spread() const {
  const double prior = options.earlier.epoch_spread * energy.predict({1, 0});
  return std::sqrt((kPriorDegrees * prior * prior + squares) / degrees());
}

EnergyPredictor::EnergyPredictor(PredictorOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}
EnergyPredictor::EnergyPredictor(EnergyPredictor&&) noexcept = default;
EnergyPredictor& EnergyPredictor::operator=(EnergyPredictor&&) noexcept = default;
EnergyPredictor::~EnergyPredictor() = default;

void EnergyPredictor::observe(const Epoch& epoch) {
  auto& s = *state_;
  s.last_number = epoch.number;
  if (!epoch.energy) return;
  ++s.known;
  ++s.waiting;
  std::optional<double> seconds;
  if (epoch.seconds) seconds = worth_a_figure(epoch.seconds->value());
  s.window.push_back({{epoch.number, worth_a_figure(epoch.energy->value())}, seconds});
  if (s.waiting >= std::max<std::size_t>(1, s.options.update_every)) update();
}

void EnergyPredictor::update() {
  auto& s = *state_;
  if (s.waiting == 0) return;
  const std::size_t before = s.sorted.kinds.size();
  std::vector<KnownEpoch> epochs;
  for (const auto& one : s.window) epochs.push_back(one.known);
  auto sorted = classify(epochs, s.forgotten == 0);
  const bool same =
      before > 0 && std::equal(s.sorted.kinds.begin(), s.sorted.kinds.end(), sorted.kinds.begin());
  if (before > 0 && !same) {
    s.begin_anew();
    ++s.refits;
  }
  for (std::size_t i = same ? before : 0; i < s.window.size(); ++i) s.absorb(s.window[i], sorted.kinds[i]);
  s.sorted = std::move(sorted);
  ++s.updates;
  s.waiting = 0;
  while (s.window.size() > kWindow) {
    if (s.sorted.kinds.front() == EpochKind::warm_up) ++s.warm_up;
    s.window.pop_front();
    s.sorted.kinds.erase(s.sorted.kinds.begin());
    ++s.forgotten;
  }
}

Result<Prediction> EnergyPredictor::predict(std::int64_t horizon) const {
  const auto& s = *state_;
  if (horizon < 1)
    return fail(ErrorCode::invalid_input, fmt::format("a horizon of {} epochs", horizon),
                "ask for at least 1");
  if (s.known < 2 || s.used == 0)
    return fail(
        ErrorCode::unavailable,
        fmt::format("{} epoch{} with energy: too few to predict from", s.known, s.known == 1 ? "" : "s"),
        "at least 2 are needed, since one alone can't be told from warm-up");
  Prediction out;
  out.horizon = horizon;
  auto& fit = out.fit;
  const auto epochs_ahead = static_cast<double>(horizon);
  const auto& cycle = s.sorted.evaluation;
  const double evaluations = cycle ? evaluations_in(*cycle, s.last_number, horizon) : 0;
  // No evaluation on this level yet: what it cost on the level before carries over.
  const bool borrowed = cycle && s.evaluations == 0;
  const double plain_epochs = epochs_ahead + (borrowed ? cycle->extra_share * evaluations : 0);
  const Fit::Row ahead{plain_epochs, borrowed ? 0 : evaluations};

  const double energy = std::max(0.0, s.energy.predict(ahead));
  const double spread = s.spread();
  const double deviation = spread * std::sqrt(s.energy.uncertainty(ahead) + epochs_ahead);
  const double by_spread = t_quantile_95(s.degrees()) * deviation;
  const double floor = s.options.earlier.floor_at(epochs_ahead);
  const double half = std::max(by_spread, floor * energy);
  out.energy = Joules{energy * s.unit};
  out.low = Joules{std::max(0.0, energy - half) * s.unit};
  out.high = Joules{(energy + half) * s.unit};
  if (s.timed > 0) out.seconds = Seconds{std::max(0.0, s.seconds.predict(ahead)) * s.unit_seconds};

  fit.epochs_known = s.known;
  fit.epochs_used = s.used;
  fit.warm_up_epochs = s.warm_up + static_cast<std::size_t>(std::count(
                                       s.sorted.kinds.begin(), s.sorted.kinds.end(), EpochKind::warm_up));
  for (std::size_t i = 0; i < s.sorted.kinds.size(); ++i)
    if (s.sorted.kinds[i] == EpochKind::unusual) fit.unusual.push_back(s.window[i].known.number);
  fit.changed_at = s.sorted.changed_at;
  fit.evaluation = cycle;
  const double steady = std::max(0.0, s.energy.predict({1, 0}));
  fit.steady_epoch = Joules{steady * s.unit};
  if (fit.evaluation && !borrowed && steady > 0)
    fit.evaluation->extra_share = s.energy.predict({0, 1}) / steady;
  fit.updates = s.updates;
  fit.refits = s.refits;
  fit.spread = steady > 0 ? spread / steady : 0;
  fit.degrees = s.degrees();
  fit.floor = floor;
  fit.floor_decides = half > by_spread;
  return out;
}

Result<Prediction> predict_energy(std::span<const Epoch> epochs, std::int64_t horizon,
                                  const PredictorOptions& options) {
  EnergyPredictor predictor{options};
  for (const auto& epoch : epochs) predictor.observe(epoch);
  predictor.update();
  return predictor.predict(horizon);
}

}  // namespace tidewatt::tasks
