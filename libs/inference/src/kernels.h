// The inner loops of the engine. Every sum has one fixed order, so results do not depend on the vector width.
#pragma once

#include <cstddef>

namespace tidewatt::inference {

/// Arrays that kernels write may be longer than asked by this much.
inline constexpr std::size_t kPadding = 4;
/// `n` rounded up to whole vectors.
inline constexpr std::size_t padded(std::size_t n) { return (n + kPadding - 1) / kPadding * kPadding; }

/// y[i] = sum over s of weights[s] * slabs[s * n + i], s ascending, zero weights left out.
void combine(double* y, const double* weights, std::size_t count, const double* slabs, std::size_t n);
/// As combine, with the same bits, for `many` weight vectors over the same slabs, which then are read less
/// often.
void combine_batch(double* const* y, const double* const* weights, std::size_t many, std::size_t count,
                   const double* slabs, std::size_t n);
/// sum of x ln(x + guard) over n numbers
double sum_x_ln_x(const double* x, std::size_t n, double guard);
/// y = ln(x + guard)
void ln_guarded(double* y, const double* x, std::size_t n, double guard);
/// In place softmax; subtracts the maximum first. -infinity gives 0.
void softmax_in_place(double* x, std::size_t n);
/// sum of a[i] b[i]
double dot(const double* a, const double* b, std::size_t n);

}  // namespace tidewatt::inference
