#include <algorithm>
#include <cmath>
#include <vector>

#include "tidewatt/tasks/breakdown.h"

namespace tidewatt::tasks {
namespace {

constexpr double kRelativeTolerance = 1e-10;

struct Normal {
  std::size_t n = 0;
  std::vector<double> ata;  ///< n x n
  std::vector<double> atb;
};

Normal normal_equations(std::span<const double> a, std::span<const double> b, std::size_t n) {
  Normal out{n, std::vector<double>(n * n), std::vector<double>(n)};
  for (std::size_t row = 0; row < b.size(); ++row)
    for (std::size_t i = 0; i < n; ++i) {
      const double left = a[row * n + i];
      out.atb[i] += left * b[row];
      for (std::size_t j = 0; j < n; ++j) out.ata[i * n + j] += left * a[row * n + j];
    }
  return out;
}

/// Least squares over the columns of `passive` alone, by Gauss with pivots; a column that others make up gets
/// 0.
std::vector<double> solve(const Normal& normal, const std::vector<std::size_t>& passive) {
  const std::size_t k = passive.size();
  std::vector<double> m(k * (k + 1));
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j < k; ++j) m[i * (k + 1) + j] = normal.ata[passive[i] * normal.n + passive[j]];
    m[i * (k + 1) + k] = normal.atb[passive[i]];
  }
  std::vector<double> x(k, 0);
  std::vector<std::size_t> pivot_row(k, k);
  std::vector<bool> taken(k, false);
  for (std::size_t column = 0; column < k; ++column) {
    std::size_t best = k;
    for (std::size_t row = 0; row < k; ++row)
      if (!taken[row] &&
          (best == k || std::abs(m[row * (k + 1) + column]) > std::abs(m[best * (k + 1) + column])))
        best = row;
    const double scale = normal.ata[passive[column] * normal.n + passive[column]];
    if (best == k || std::abs(m[best * (k + 1) + column]) <= kRelativeTolerance * std::max(scale, 1e-300))
      continue;
    taken[best] = true;
    pivot_row[column] = best;
    for (std::size_t row = 0; row < k; ++row) {
      if (row == best) continue;
      const double factor = m[row * (k + 1) + column] / m[best * (k + 1) + column];
      for (std::size_t j = column; j <= k; ++j) m[row * (k + 1) + j] -= factor * m[best * (k + 1) + j];
    }
  }
  for (std::size_t column = 0; column < k; ++column)
    if (pivot_row[column] != k)
      x[column] = m[pivot_row[column] * (k + 1) + k] / m[pivot_row[column] * (k + 1) + column];
  return x;
}

/// The column whose growth helps most and that isn't in use; nullopt: none helps.
std::optional<std::size_t> most_helpful(const Normal& normal, const std::vector<double>& x,
                                        const std::vector<bool>& used, const std::vector<bool>& tried) {
  std::optional<std::size_t> best;
  double most = 0;
  for (std::size_t i = 0; i < normal.n; ++i) {
    if (used[i] || tried[i]) continue;
    double gradient = normal.atb[i];
    for (std::size_t j = 0; j < normal.n; ++j) gradient -= normal.ata[i * normal.n + j] * x[j];
    if (gradient > std::max(most, kRelativeTolerance * std::abs(normal.atb[i]))) {
      most = gradient;
      best = i;
    }
  }
  return best;
}

}  // namespace

std::vector<double> non_negative_least_squares(std::span<const double> a, std::span<const double> b,
                                               std::size_t columns) {
  const auto normal = normal_equations(a, b, columns);
  std::vector<double> x(columns, 0);
  std::vector<bool> used(columns, false);
  std::vector<bool> tried(columns, false);  // entered and left at once: rounding, not help
  // Each turn lets one column in; 3 x columns is Lawson and Hanson's own bound.
  for (std::size_t turn = 0; turn < 3 * columns; ++turn) {
    const auto enters = most_helpful(normal, x, used, tried);
    if (!enters) break;
    used[*enters] = true;
    for (;;) {
      std::vector<std::size_t> passive;
      for (std::size_t i = 0; i < columns; ++i)
        if (used[i]) passive.push_back(i);
      const auto s = solve(normal, passive);
      // As far towards s as none falls below 0; the one that stops it leaves.
      double step = 1;
      std::optional<std::size_t> leaves;
      for (std::size_t i = 0; i < passive.size(); ++i) {
        if (s[i] > 0) continue;
        const double most = x[passive[i]] / std::max(x[passive[i]] - s[i], 1e-300);
        if (!leaves || most < step) {
          step = std::min(step, most);
          leaves = passive[i];
        }
      }
      for (std::size_t i = 0; i < passive.size(); ++i)
        x[passive[i]] = std::max(0.0, x[passive[i]] + step * (s[i] - x[passive[i]]));
      if (!leaves) break;
      x[*leaves] = 0;
      used[*leaves] = false;
    }
    tried.assign(columns, false);
    if (!used[*enters]) tried[*enters] = true;
  }
  return x;
}

}  // namespace tidewatt::tasks
