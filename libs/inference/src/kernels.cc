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
  for (; i + 8 * kLanes <= n; i += 8 * kLanes) combine_block<8>(y + i, weights, count, slabs + i, n);
  switch ((n - i) / kLanes) {
    case 7:
      combine_block<7>(y + i, weights, count, slabs + i, n);
      break;
    case 6:
      combine_block<6>(y + i, weights, count, slabs + i, n);
      break;
    case 5:
      combine_block<5>(y + i, weights, count, slabs + i, n);
      break;
    case 4:
      combine_block<4>(y + i, weights, count, slabs + i, n);
      break;
    case 3:
      combine_block<3>(y + i, weights, count, slabs + i, n);
      break;
    case 2:
      combine_block<2>(y + i, weights, count, slabs + i, n);
      break;
    case 1:
      combine_block<1>(y + i, weights, count, slabs + i, n);
      break;
    default:
      break;
  }
  i = n / kLanes * kLanes;
  if (i < n) combine_tail(y, weights, count, slabs, n, i);
}

/// Fixed order whatever the width: lane by lane, then the lanes.
TIDEWATT_INLINE double add_up(const Lanes& lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }

}  // namespace

TIDEWATT_KERNEL void combine(double* y, const double* weights, std::size_t count, const double* slabs,
                             std::size_t n) {
  combine_inline(y, weights, count, slabs, n);
}

TIDEWATT_KERNEL void combine_batch(double* const* y, const double* const* weights, std::size_t many,
                                   std::size_t count, const double* slabs, std::size_t n) {
  std::size_t k = 0;
  for (; k + 4 <= many; k += 4) {
    const double *w0 = weights[k], *w1 = weights[k + 1], *w2 = weights[k + 2], *w3 = weights[k + 3];
    std::size_t i = 0;
    for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
      Lanes a0{}, a1{}, b0{}, b1{}, c0{}, c1{}, d0{}, d1{};
      for (std::size_t s = 0; s < count; ++s) {
        const Lanes x0 = load(slabs + s * n + i);
        const Lanes x1 = load(slabs + s * n + i + kLanes);
        a0 += x0 * w0[s];
        a1 += x1 * w0[s];
        b0 += x0 * w1[s];
        b1 += x1 * w1[s];
        c0 += x0 * w2[s];
        c1 += x1 * w2[s];
        d0 += x0 * w3[s];
        d1 += x1 * w3[s];
      }
      store(y[k] + i, a0);
      store(y[k] + i + kLanes, a1);
      store(y[k + 1] + i, b0);
      store(y[k + 1] + i + kLanes, b1);
      store(y[k + 2] + i, c0);
      store(y[k + 2] + i + kLanes, c1);
      store(y[k + 3] + i, d0);
      store(y[k + 3] + i + kLanes, d1);
    }
    for (; i + kLanes <= n; i += kLanes)
      for (std::size_t row = k; row < k + 4; ++row)
        combine_block<1>(y[row] + i, weights[row], count, slabs + i, n);
    if (i < n)
      for (std::size_t row = k; row < k + 4; ++row) combine_tail(y[row], weights[row], count, slabs, n, i);
  }
  for (; k < many; ++k) combine_inline(y[k], weights[k], count, slabs, n);
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
