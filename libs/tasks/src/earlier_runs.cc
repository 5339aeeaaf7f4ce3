#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "robust.h"
#include "student_t.h"
#include "tidewatt/tasks/prediction.h"

namespace tidewatt::tasks {
namespace {

/// The energy of the `horizon` epochs after the first `train`; nullopt: too short, or not all known.
std::optional<double> truth_after(const std::vector<Epoch>& run, std::size_t train, std::int64_t horizon) {
  const auto ahead = static_cast<std::size_t>(horizon);
  if (run.size() < train || run.size() - train < ahead) return std::nullopt;
  double sum = 0;
  for (std::size_t i = train; i < train + ahead; ++i) {
    if (!run[i].energy) return std::nullopt;
    sum += run[i].energy->value();
  }
  if (sum <= 0) return std::nullopt;
  return sum;
}

}  // namespace

double EarlierRuns::floor_at(double horizon) const { return level_floor + drift_per_epoch * horizon; }

Result<EarlierRuns> spread_of(std::span<const std::vector<Epoch>> runs, std::size_t train,
                              std::int64_t horizon) {
  double squares = 0;
  std::vector<double> spreads;
  for (const auto& run : runs) {
    const auto truth = truth_after(run, train, horizon);
    if (!truth) continue;
    const auto said = predict_energy(std::span{run}.first(train), horizon);
    if (!said) continue;
    const double error = said->energy.value() / *truth - 1;
    squares += error * error;
    spreads.push_back(said->fit.spread);
  }
  if (spreads.empty())
    return fail(ErrorCode::unavailable,
                fmt::format("none of the {} earlier runs has {} epochs with known energy", runs.size(),
                            train + static_cast<std::size_t>(std::max<std::int64_t>(0, horizon))),
                "shorten the horizon, or leave the earlier runs out");
  const auto count = static_cast<double>(spreads.size());
  EarlierRuns out;
  out.epoch_spread = median(spreads);
  out.level_floor = t_quantile_95(count) * std::sqrt(squares / count);
  out.drift_per_epoch = 0;  // the errors are those of this very horizon
  out.source = fmt::format("{} earlier run{}", spreads.size(), spreads.size() == 1 ? "" : "s");
  return out;
}

}  // namespace tidewatt::tasks
