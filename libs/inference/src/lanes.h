// Natural logarithm and exponential from additions, multiplications and divisions only: the same bits with
// every compiler, optimisation level and vector width, which libm's choice by CPU does not promise. For one
// number or for four at once; error below 2 ulp.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

// A kernel is compiled for wide vectors too, and the CPU picks: no fused operations, so the bits are the
// same.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__OPTIMIZE__) &&               \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__GNUC__) && \
    !defined(__clang__)
#define TIDEWATT_KERNEL __attribute__((target_clones("avx2", "default")))
#else
#define TIDEWATT_KERNEL
#endif
#define TIDEWATT_INLINE inline __attribute__((always_inline))

namespace tidewatt::inference {

using Lanes = double __attribute__((vector_size(32)));
using LaneBits = std::uint64_t __attribute__((vector_size(32)));
inline constexpr std::size_t kLanes = 4;

template <class Number>
struct BitsOf;
template <>
struct BitsOf<double> {
  using Type = std::uint64_t;
};
template <>
struct BitsOf<Lanes> {
  using Type = LaneBits;
};

inline constexpr double kLn2High =
    6.93147180369123816490e-01;  // 32 trailing zero bits: k * kLn2High is exact
inline constexpr double kLn2Low = 1.90821492927058770002e-10;

/// ln x for normal x > 0.
template <class Number>
TIDEWATT_INLINE Number ln_normal(const Number& x) {
  using Bits = typename BitsOf<Number>::Type;
  constexpr std::uint64_t kSqrtHalf = 0x3fe6a09e667f3bcdULL;
  constexpr std::uint64_t kOne = 0x3ff0000000000000ULL;
  const Bits shifted = std::bit_cast<Bits>(x) + (kOne - kSqrtHalf);
  // x = 2^k m with m in [sqrt(1/2), sqrt(2)); k as a double by way of the mantissa of 2^52
  const Number k = std::bit_cast<Number>((shifted >> 52) | 0x4330000000000000ULL) - (0x1p52 + 1023.0);
  const Number m = std::bit_cast<Number>((shifted & 0x000fffffffffffffULL) + kSqrtHalf);
  const Number f = m - 1.0;
  const Number s = f / (f + 2.0);
  const Number z = s * s;
  // ln(1+f) = 2 artanh(s) = 2s + s R(z), and 2s = f - s f
  Number r = z * (2.0 / 23) + 2.0 / 21;
  r = r * z + 2.0 / 19;
  r = r * z + 2.0 / 17;
  r = r * z + 2.0 / 15;
  r = r * z + 2.0 / 13;
  r = r * z + 2.0 / 11;
  r = r * z + 2.0 / 9;
  r = r * z + 2.0 / 7;
  r = r * z + 2.0 / 5;
  r = r * z + 2.0 / 3;
  return k * kLn2High + (f - (s * (f - r * z) - k * kLn2Low));
}

/// e^x for x <= 709; 0 below -708, where the result would be subnormal.
template <class Number>
TIDEWATT_INLINE Number exp_bounded(const Number& x) {
  using Bits = typename BitsOf<Number>::Type;
  constexpr double kShift = 0x1.8p52;
  const Number shifted = x * 1.44269504088896338700 + kShift;
  const Number k = shifted - kShift;
  const Number r = (x - k * kLn2High) - k * kLn2Low;
  Number p = r * (1.0 / 6227020800.0) + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r * r + r;  // e^r - 1: the 1 is added last, it is the largest
  const Number scale = std::bit_cast<Number>((std::bit_cast<Bits>(shifted) << 52) + 0x3ff0000000000000ULL);
  const Number y = p * scale + scale;
  if constexpr (sizeof(Number) == sizeof(double)) {
    return x < -708.0 ? 0.0 : y;
  } else {
    const auto small = x < -708.0;
    return std::bit_cast<Number>(std::bit_cast<Bits>(y) & ~std::bit_cast<Bits>(small));
  }
}

TIDEWATT_INLINE Lanes load(const double* from) {
  Lanes lanes;
  __builtin_memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
TIDEWATT_INLINE void store(double* to, const Lanes& lanes) { __builtin_memcpy(to, &lanes, sizeof lanes); }

}  // namespace tidewatt::inference
