#include "student_t.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tidewatt::tasks {
namespace {

/// For 1 to 6 degrees of freedom, where the expansion below is too far off.
constexpr std::array kFew{6.313752, 2.919986, 2.353363, 2.131847, 2.015048, 1.943180};
constexpr double kNormal95 = 1.6448536269514722;

}  // namespace

double t_quantile_95(double degrees) {
  const double n = std::max(1.0, std::floor(degrees));
  if (n <= static_cast<double>(kFew.size())) return kFew[static_cast<std::size_t>(n) - 1];
  // Abramowitz & Stegun 26.7.5.
  const double z = kNormal95;
  const double z3 = z * z * z;
  const double z5 = z3 * z * z;
  const double z7 = z5 * z * z;
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

}  // namespace tidewatt::tasks
