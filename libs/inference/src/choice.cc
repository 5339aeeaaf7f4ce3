#include "tidewatt/inference/choice.h"

#include "tidewatt/inference/numerics.h"

namespace tidewatt::inference {
namespace {

bool is_allowed(std::span<const std::uint8_t> allowed, std::size_t i) {
  return allowed.empty() || (i < allowed.size() && allowed[i] != 0);
}

/// -1 when none is allowed.
double most_allowed(std::span<const double> probabilities, std::span<const std::uint8_t> allowed) {
  double most = -1;
  for (std::size_t i = 0; i < probabilities.size(); ++i)
    if (is_allowed(allowed, i) && probabilities[i] > most) most = probabilities[i];
  return most;
}

}  // namespace

std::vector<std::size_t> near_best(std::span<const double> probabilities) {
  std::vector<std::size_t> best;
  if (probabilities.empty()) return best;
  double most = probabilities[0];
  for (const double p : probabilities) most = p > most ? p : most;
  for (std::size_t i = 0; i < probabilities.size(); ++i)
    if (most - probabilities[i] < kTieTolerance) best.push_back(i);
  return best;
}

/// splitmix64: its whole state is one word, which an audit record can hold.
std::uint64_t Chooser::next() {
  random_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = random_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

Choice Chooser::hold() const {
  Choice choice;
  choice.action = before_.value_or(hold_);
  choice.held = true;
  return choice;
}

Choice Chooser::choose(std::span<const double> probabilities, std::span<const std::uint8_t> allowed) {
  const double most = most_allowed(probabilities, allowed);
  if (most < 0) return hold();
  Choice choice;
  choice.tied = 0;
  for (std::size_t i = 0; i < probabilities.size(); ++i)
    if (is_allowed(allowed, i) && most - probabilities[i] < kTieTolerance) ++choice.tied;
  std::size_t pick = choice.tied > 1 ? next() % choice.tied : 0;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    if (!is_allowed(allowed, i) || !(most - probabilities[i] < kTieTolerance)) continue;
    if (pick-- == 0) {
      choice.action = i;
      break;
    }
  }
  if (hysteresis_ > 0 && before_ && *before_ != choice.action && *before_ < probabilities.size() &&
      is_allowed(allowed, *before_) && ln(most) - ln(probabilities[*before_]) < hysteresis_) {
    choice.action = *before_;
    choice.kept = true;
  }
  before_ = choice.action;
  return choice;
}

Choice Chooser::sample(std::span<const double> probabilities, double alpha,
                       std::span<const std::uint8_t> allowed) {
  const double most = most_allowed(probabilities, allowed);
  if (most < 0) return hold();
  Choice choice;
  const auto weight = [&](std::size_t i) {
    return is_allowed(allowed, i) ? exp(alpha * (ln_eps(probabilities[i]) - ln_eps(most))) : 0.0;
  };
  double sum = 0;
  for (std::size_t i = 0; i < probabilities.size(); ++i) sum += weight(i);
  double left = static_cast<double>(next() >> 11) * 0x1p-53 * sum;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    const double w = weight(i);
    if (w == 0) continue;
    choice.action = i;  // rounding may leave a rest: then the last one with any weight
    if (left < w) break;
    left -= w;
  }
  before_ = choice.action;
  return choice;
}

}  // namespace tidewatt::inference
