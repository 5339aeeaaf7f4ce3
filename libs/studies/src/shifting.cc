#include "tidewatt/studies/shifting.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace tidewatt::studies {
namespace {

/// Sums that differ by less are the same sum, added up in another order.
constexpr double kSame = 1e-9;

std::size_t best_window(std::span<const double> seen, std::size_t length) {
  double sum = std::accumulate(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(length), 0.0);
  double best = sum;
  std::size_t found = 0;
  for (std::size_t begin = 1; begin + length <= seen.size(); ++begin) {
    sum += seen[begin + length - 1] - seen[begin - 1];
    if (sum >= best - kSame) continue;
    best = sum;
    found = begin;
  }
  return found;
}

}  // namespace

Shifted& Shifted::operator+=(const Shifted& other) {
  at_once += other.at_once;
  one_window += other.one_window;
  interrupting += other.interrupting;
  return *this;
}

Shifted shift(std::span<const double> seen, std::span<const double> paid, std::size_t length) {
  Shifted out;
  const auto sum = [&](std::size_t begin) {
    const auto from = paid.begin() + static_cast<std::ptrdiff_t>(begin);
    return std::accumulate(from, from + static_cast<std::ptrdiff_t>(length), 0.0);
  };
  out.at_once = sum(0);
  out.one_window = sum(best_window(seen, length));
  std::vector<std::size_t> order(seen.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::nth_element(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(length), order.end(),
      [&](std::size_t a, std::size_t b) { return seen[a] != seen[b] ? seen[a] < seen[b] : a < b; });
  for (std::size_t i = 0; i < length; ++i) out.interrupting += paid[order[i]];
  return out;
}

double saved_percent(double whole, double part) { return 100 * (1 - part / whole); }

}  // namespace tidewatt::studies
