#include "tidewatt/planning/thermal_model.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tidewatt::planning {
namespace {

constexpr double kLeastLoopTau = 60, kMostLoopTau = 7200, kLeastChipTau = 1, kMostChipTau = 600;
constexpr double kPlatesRise = 10, kWaterRise = 10;  // degrees at the rated heat
constexpr int kTauSteps = 60;
constexpr int kTauRefinements = 40;
constexpr std::size_t kLeastRows = 10;

double follow(double value, double target, double seconds, double tau) {
  return value + (target - value) * (1 - std::exp(-seconds / tau));
}

/// A series as a first-order system of this time constant hands it on; settled at its first value.
std::vector<double> followed(std::span<const ThermalLogRow> log, double ThermalLogRow::* field, double tau) {
  std::vector<double> out;
  double value = log.front().*field;
  for (std::size_t i = 0; i < log.size(); ++i) {
    // What held since the row before is that row's value.
    if (i > 0) value = follow(value, log[i - 1].*field, log[i].at_s - log[i - 1].at_s, tau);
    out.push_back(value);
  }
  return out;
}

struct Line {
  double offset = 0, slope = 0, squares = 0;
};

/// y = offset + slope x, least squares.
Line line_through(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sx += x[i];
    sy += y[i];
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    sxx += (x[i] - sx / n) * (x[i] - sx / n);
    sxy += (x[i] - sx / n) * (y[i] - sy / n);
  }
  Line line;
  line.slope = sxx > 0 ? sxy / sxx : 0;
  line.offset = (sy - line.slope * sx) / n;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double off = y[i] - line.offset - line.slope * x[i];
    line.squares += off * off;
  }
  return line;
}

Line loop_line(std::span<const ThermalLogRow> log, double tau) {
  const auto heat = followed(log, &ThermalLogRow::heat_kw, tau);
  const auto wet = followed(log, &ThermalLogRow::wet_bulb_c, tau);
  std::vector<double> above(log.size());
  for (std::size_t i = 0; i < log.size(); ++i) above[i] = log[i].loop_c - wet[i];
  return line_through(heat, above);
}

/// The chip follows loop + rise x heat; the rise is the only thing left to fit.
Line chip_line(std::span<const ThermalLogRow> log, double tau) {
  const auto heat = followed(log, &ThermalLogRow::heat_kw, tau);
  const auto loop = followed(log, &ThermalLogRow::loop_c, tau);
  Line line;
  double products = 0, squares = 0;
  for (std::size_t i = 0; i < log.size(); ++i) {
    products += heat[i] * (log[i].chip_c - loop[i]);
    squares += heat[i] * heat[i];
  }
  line.slope = squares > 0 ? products / squares : 0;
  for (std::size_t i = 0; i < log.size(); ++i) {
    const double off = log[i].chip_c - loop[i] - line.slope * heat[i];
    line.squares += off * off;
  }
  return line;
}

/// The time constant of least squares: a coarse search on a scale of ratios, then between its neighbours.
template <class Squares>
double best_tau(double least, double most, const Squares& squares) {
  const double ratio = std::pow(most / least, 1.0 / kTauSteps);
  double best = least, value = squares(least);
  for (int i = 1; i <= kTauSteps; ++i) {
    const double tau = least * std::pow(ratio, i);
    const double here = squares(tau);
    if (here < value) {
      value = here;
      best = tau;
    }
  }
  double low = std::max(least, best / ratio), high = std::min(most, best * ratio);
  for (int i = 0; i < kTauRefinements; ++i) {
    const double third = (high - low) / 3;
    if (squares(low + third) < squares(high - third))
      high -= third;
    else
      low += third;
  }
  return (low + high) / 2;
}

}  // namespace

ThermalModel typical_loop(double rated_kw) {
  ThermalModel model;
  model.chip_c_per_kw = kPlatesRise / rated_kw;
  model.loop_c_per_kw = kWaterRise / rated_kw;
  return model;
}

ThermalState settled(const ThermalModel& model, double heat_kw, double wet_bulb_c) {
  const double loop = wet_bulb_c + model.approach_c + model.loop_c_per_kw * heat_kw;
  return {loop, loop + model.chip_c_per_kw * heat_kw};
}

ThermalState advance(const ThermalModel& model, const ThermalState& state, double heat_kw, double wet_bulb_c,
                     double seconds) {
  ThermalState next;
  const double target = wet_bulb_c + model.approach_c + model.loop_c_per_kw * heat_kw;
  next.loop_c = follow(state.loop_c, target, seconds, model.loop_tau_s);
  next.chip_c = follow(state.chip_c, next.loop_c + model.chip_c_per_kw * heat_kw, seconds, model.chip_tau_s);
  return next;
}

std::optional<double> pue_at(const PueModel& model, double load_kw, double wet_bulb_c) {
  if (load_kw <= 0) return std::nullopt;
  const double chiller = model.per_degree * std::max(0.0, wet_bulb_c - model.free_below_c);
  const double cooling = model.fixed_share * model.rated_kw / load_kw + model.load_share + chiller;
  return std::min(model.most, 1 + cooling);
}

Result<ThermalFit> fit_thermal(std::span<const ThermalLogRow> log) {
  if (log.size() < kLeastRows)
    return fail(ErrorCode::invalid_input, "a log of " + std::to_string(log.size()) + " rows says too little",
                "ten rows are needed, some hours with changing load are better");
  bool changes = false;
  for (std::size_t i = 1; i < log.size(); ++i) {
    if (log[i].at_s <= log[i - 1].at_s)
      return fail(ErrorCode::invalid_input,
                  "row " + std::to_string(i + 1) + ": its time isn't after the one before");
    changes = changes || log[i].heat_kw != log[0].heat_kw;
  }
  if (!changes)
    return fail(ErrorCode::invalid_input,
                "the load never changes: nothing can be learnt of how heat follows it");
  ThermalFit fit;
  const auto rows = static_cast<double>(log.size());
  fit.model.loop_tau_s =
      best_tau(kLeastLoopTau, kMostLoopTau, [&](double tau) { return loop_line(log, tau).squares; });
  const auto loop = loop_line(log, fit.model.loop_tau_s);
  fit.model.loop_c_per_kw = loop.slope;
  fit.model.approach_c = loop.offset;
  fit.loop_rmse_c = std::sqrt(loop.squares / rows);
  fit.model.chip_tau_s =
      best_tau(kLeastChipTau, kMostChipTau, [&](double tau) { return chip_line(log, tau).squares; });
  const auto chip = chip_line(log, fit.model.chip_tau_s);
  fit.model.chip_c_per_kw = chip.slope;
  fit.chip_rmse_c = std::sqrt(chip.squares / rows);
  return fit;
}

}  // namespace tidewatt::planning
