// Small helpers on row-major tables.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace tidewatt::inference {

inline constexpr std::size_t kMostFactors = 64;  ///< find_fault() sees to it

inline std::size_t saturating_product(std::size_t a, std::size_t b) {
  if (b != 0 && a > std::numeric_limits<std::size_t>::max() / b)
    return std::numeric_limits<std::size_t>::max();
  return a * b;
}

/// The state of each of `factors` in their combination number `index`; the last varies fastest.
template <class Out>
void split_index(std::size_t index, const std::vector<std::size_t>& sizes, Out& out) {
  for (std::size_t i = sizes.size(); i-- > 0;) {
    out[i] = index % sizes[i];
    index /= sizes[i];
  }
}

/// Divides each column over the first axis by its sum.
inline void normalise_columns(const double* counts, double* probabilities, std::size_t rows,
                              std::size_t columns) {
  for (std::size_t j = 0; j < columns; ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < rows; ++i) sum += counts[i * columns + j];
    for (std::size_t i = 0; i < rows; ++i) probabilities[i * columns + j] = counts[i * columns + j] / sum;
  }
}

}  // namespace tidewatt::inference
