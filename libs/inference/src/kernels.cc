#include "kernels.h"

#include "lanes.h"

namespace tidewatt::inference {
namespace {

/// One block of `Blocks` vectors of y = sum_s weights[s] slab_s, the sums kept in registers.
template <std::size_t Blocks>
TIDEWATT_INLINE void combine_block(double* y, const double* weights, std::size_t count, const double* slabs,
                                   std::size_t n) {
  Lanes sums[Blocks];
  for (std::size_t b = 0; b < Blocks; ++b) sums[b] = Lanes{};
  for (std::size_t s = 0; s < count; ++s) {
    const double w = weights[s];
    if (w == 0) continue;
    const double* slab = slabs + s * n;
    for (std::size_t b = 0; b < Blocks; ++b) sums[b] += load(slab + b * kLanes) * w;
  }
  for (std::size_t b = 0; b < Blocks; ++b) store(y + b * kLanes, sums[b]);
}

TIDEWATT_INLINE void combine_tail(double* y, const double* weights, std::size_t count, const double* slabs,
                                  std::size_t n, std::size_t from) {
  for (std::size_t i = from; i < n; ++i) {
    double sum = 0;
    for (std::size_t s = 0; s < count; ++s)
      if (weights[s] != 0) sum += slabs[s * n + i] * weights[s];
    y[i] = sum;
  }
}

TIDEWATT_INLINE void combine_inline(double* y, const double* weights, std::size_t count, const double* slabs,
                                    std::size_t n) {
  std::size_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) combine_block<4>(y + i, weights, count, slabs + i, n);
  for (; i + kLanes <= n; i += kLanes) combine_block<1>(y + i, weights, count, slabs + i, n);
  if (i < n) combine_tail(y, weights, count, slabs, n, i);
}

/// Fixed order whatever the width: lane by lane, then the lanes.
TIDEWATT_INLINE double add_up(const Lanes& lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }

}  // namespace

TIDEWATT_KERNEL void combine(double* y, const double* weights, std::size_t count, const double* slabs,
                             std::size_t n) {
  combine_inline(y, weights, count, slabs, n);
}

TIDEWATT_KERNEL void combine_many(double* y, std::size_t y_stride, const double* weights, std::size_t stride,
                                  std::size_t many, std::size_t count, const double* slabs, std::size_t n) {
  for (std::size_t k = 0; k < many; ++k)
    combine_inline(y + k * y_stride, weights + k * stride, count, slabs, n);
}

TIDEWATT_KERNEL double sum_x_ln_x(const double* x, std::size_t n, double guard) {
  Lanes sums{};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Lanes v = load(x + i);
    sums += v * ln_normal<Lanes>(v + guard);
  }
  if (i < n) {
    Lanes v{};
    for (std::size_t lane = 0; lane < n - i; ++lane) v[lane] = x[i + lane];
    sums += v * ln_normal<Lanes>(v + guard);
  }
  return add_up(sums);
}

TIDEWATT_KERNEL void ln_guarded(double* y, const double* x, std::size_t n, double guard) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, ln_normal<Lanes>(load(x + i) + guard));
  for (; i < n; ++i) y[i] = ln_normal<double>(x[i] + guard);
}

TIDEWATT_KERNEL void softmax_in_place(double* x, std::size_t n) {
  double most = x[0];
  for (std::size_t i = 1; i < n; ++i)
    if (x[i] > most) most = x[i];
  std::size_t i = 0;
  Lanes sums{};
  for (; i + kLanes <= n; i += kLanes) {
    const Lanes e = exp_bounded<Lanes>(load(x + i) - most);
    store(x + i, e);
    sums += e;
  }
  double sum = add_up(sums);
  for (; i < n; ++i) {
    x[i] = exp_bounded<double>(x[i] - most);
    sum += x[i];
  }
  for (std::size_t j = 0; j < n; ++j) x[j] /= sum;
}

TIDEWATT_KERNEL double dot(const double* a, const double* b, std::size_t n) {
  std::size_t i = 0;
  Lanes sums{};
  for (; i + kLanes <= n; i += kLanes) sums += load(a + i) * load(b + i);
  double sum = add_up(sums);
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace tidewatt::inference
