#include "epoch_kind.h"

#include <algorithm>
#include <cmath>

#include "robust.h"

namespace tidewatt::tasks {
namespace {

constexpr double kFirstAgrees = 0.01;  ///< the first epoch is no warm-up when this near to the next ones
constexpr double kWarmUpLeast = 0.01;
constexpr double kWarmUpSpreads = 3;
constexpr std::size_t kLookAhead = 8;

constexpr std::size_t kFewestOnALevel = 2;
constexpr double kChangeLeast = 0.02;
constexpr double kChangeSpreads = 4;
constexpr std::size_t kFewestForDeviation = 5;

constexpr double kUnusualLeast = 0.01;
constexpr double kUnusualDeviations = 3;
constexpr std::size_t kNeighbours = 5;  ///< on each side: a slow drift makes no epoch unusual

constexpr double kEvaluationLeast = 0.01;
constexpr double kEvaluationAlike = 0.3;  ///< two alone must be of a size: the smaller excess over the larger

using Values = std::vector<double>;

std::span<const double> part(const Values& values, std::size_t from, std::size_t count) {
  return std::span<const double>{values}.subspan(from, std::min(count, values.size() - from));
}

/// The first epoch is set aside unless it agrees with the next; those after it only when they stand out from
/// all that follow, so that noise is not taken for a ramp.
std::size_t count_warm_up(const Values& values) {
  std::size_t warm = 0;
  for (; values.size() - warm > kFewestOnALevel; ++warm) {
    const auto rest = part(values, warm + 1, kLookAhead);
    const double level = median(rest);
    const double off = std::abs(values[warm] - level);
    if (off <= (warm == 0 ? kFirstAgrees : kWarmUpLeast) * level) break;
    if (warm == 0) continue;
    const bool furthest =
        std::all_of(rest.begin(), rest.end(), [&](double v) { return std::abs(v - level) < off; });
    if (!furthest || off <= kWarmUpSpreads * mean_distance(rest, level)) break;
  }
  // Two epochs: the first is warm-up when they differ.
  if (warm == 0 && values.size() == 2 && std::abs(values[0] - values[1]) > kFirstAgrees * values[1]) warm = 1;
  return warm;
}

struct Split {
  std::size_t at = 0;
  double cost = 0;
};

/// Of few values what they span, about; of more, what a disturbed one among them doesn't move.
double spread_on(std::span<const double> values, double level) {
  return 2 * (values.size() < kFewestForDeviation ? mean_distance(values, level)
                                                  : robust_deviation(values, level));
}

/// The last place where the level of energy changed for good; nullopt when it never did.
std::optional<std::size_t> last_change(const Values& values, std::size_t from) {
  std::optional<std::size_t> found;
  while (values.size() - from >= 2 * kFewestOnALevel) {
    std::optional<Split> best;
    for (std::size_t at = from + kFewestOnALevel; at + kFewestOnALevel <= values.size(); ++at) {
      const auto before = part(values, from, at - from);
      const auto after = part(values, at, values.size());
      const double cost = mean_distance(before, median(before)) * static_cast<double>(before.size()) +
                          mean_distance(after, median(after)) * static_cast<double>(after.size());
      if (!best || cost < best->cost) best = Split{at, cost};
    }
    const auto before = part(values, from, best->at - from);
    const auto after = part(values, best->at, values.size());
    const double old_level = median(before);
    const double new_level = median(after);
    const double spread = std::max(spread_on(before, old_level), spread_on(after, new_level));
    const double step = std::abs(new_level - old_level);
    if (step <= kChangeLeast * old_level || step <= kChangeSpreads * spread) break;
    found = from = best->at;
  }
  return found;
}

double level_around(const Values& values, std::size_t from, std::size_t at) {
  const std::size_t first = at - std::min(at - from, kNeighbours);
  return median(part(values, first, at + kNeighbours + 1 - first));
}

/// Epochs above the level of their neighbours whose numbers come back with a period, and no epoch of that
/// number's kind that isn't above it.
std::optional<EvaluationCycle> find_evaluation(std::span<const KnownEpoch> epochs, const Values& ratios,
                                               std::size_t from) {
  const auto looked_at = part(ratios, from, ratios.size());
  const double noise = robust_deviation(looked_at, 1);
  const double least = 1 + std::max(kEvaluationLeast, kUnusualDeviations * noise);
  std::vector<std::size_t> high;
  for (std::size_t i = from; i < ratios.size(); ++i)
    if (ratios[i] > least) high.push_back(i);
  if (high.size() < 2) return std::nullopt;

  const auto period = epochs[high[1]].number - epochs[high[0]].number;
  if (period < 2) return std::nullopt;
  EvaluationCycle cycle{period, epochs[high[0]].number % period, 0};
  Values excess;
  for (std::size_t i = from; i < ratios.size(); ++i) {
    if (cycle.contains(epochs[i].number) != (ratios[i] > least)) return std::nullopt;
    if (ratios[i] > least) excess.push_back(ratios[i] - 1);
  }
  const auto [smallest, largest] = std::minmax_element(excess.begin(), excess.end());
  if (excess.size() == 2 && *smallest < kEvaluationAlike * *largest) return std::nullopt;
  cycle.extra_share = median(excess);
  return cycle;
}

}  // namespace

EpochKinds classify(std::span<const KnownEpoch> epochs, bool from_start) {
  EpochKinds out;
  Values values;
  for (const auto& epoch : epochs) values.push_back(epoch.energy);
  out.kinds.assign(epochs.size(), EpochKind::steady);
  if (epochs.size() < 2) return out;

  const std::size_t warm = from_start ? count_warm_up(values) : 0;
  std::fill_n(out.kinds.begin(), warm, EpochKind::warm_up);
  const auto change = last_change(values, warm);
  const std::size_t begin = change.value_or(warm);
  std::fill(out.kinds.begin() + static_cast<std::ptrdiff_t>(warm),
            out.kinds.begin() + static_cast<std::ptrdiff_t>(begin), EpochKind::before_change);
  if (change) out.changed_at = epochs[*change].number;

  // Against the level around each, so that a drift or a change hides no evaluation.
  Values ratios(values.size(), 1);
  for (std::size_t i = warm; i < values.size(); ++i) {
    const bool old = i < begin;
    const Values side(values.begin(),
                      old ? values.begin() + static_cast<std::ptrdiff_t>(begin) : values.end());
    const double level = level_around(side, old ? warm : begin, i);
    if (level > 0) ratios[i] = values[i] / level;
  }
  out.evaluation = find_evaluation(epochs, ratios, warm);

  Values quiet;
  for (std::size_t i = begin; i < values.size(); ++i)
    if (!out.evaluation || !out.evaluation->contains(epochs[i].number)) quiet.push_back(ratios[i]);
  const double allowed =
      quiet.empty() ? 0 : std::max(kUnusualLeast, kUnusualDeviations * robust_deviation(quiet, 1));
  for (std::size_t i = begin; i < values.size(); ++i) {
    if (out.evaluation && out.evaluation->contains(epochs[i].number))
      out.kinds[i] = EpochKind::evaluation;
    else if (std::abs(ratios[i] - 1) > allowed)
      out.kinds[i] = EpochKind::unusual;
  }
  return out;
}

}  // namespace tidewatt::tasks
