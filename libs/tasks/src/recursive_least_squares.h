// Recursive least squares with forgetting, for a handful of coefficients.
#pragma once

#include <array>
#include <cstddef>

namespace tidewatt::tasks {

/// Fits y = x . theta one observation at a time; after any number of them theta and the covariance factor
/// are those of weighted least squares over all (a vanishing pull to 0 apart).
template <std::size_t N>
class RecursiveLeastSquares {
 public:
  using Row = std::array<double, N>;

  /// @param forgetting  weight of an observation relative to the next one, in (0, 1]; 1 forgets nothing
  explicit RecursiveLeastSquares(double forgetting) : forgetting_(forgetting) {
    for (std::size_t i = 0; i < N; ++i) covariance_[i][i] = kNothingKnown;
  }

  void observe(const Row& x, double y) {
    Row px{};
    double scale = forgetting_;
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t j = 0; j < N; ++j) px[i] += covariance_[i][j] * x[j];
    for (std::size_t i = 0; i < N; ++i) scale += x[i] * px[i];
    const double surprise = y - predict(x);
    for (std::size_t i = 0; i < N; ++i) {
      theta_[i] += px[i] / scale * surprise;
      for (std::size_t j = 0; j < N; ++j) {
        covariance_[i][j] = (covariance_[i][j] - px[i] * px[j] / scale) / forgetting_;
        // A direction that is never excited must not wind up without end.
        if (i == j && covariance_[i][j] > kNothingKnown) covariance_[i][j] = kNothingKnown;
      }
    }
  }

  [[nodiscard]] double predict(const Row& x) const {
    double sum = 0;
    for (std::size_t i = 0; i < N; ++i) sum += x[i] * theta_[i];
    return sum;
  }
  /// x' P x: times the noise's variance, the variance of predict(x).
  [[nodiscard]] double uncertainty(const Row& x) const {
    double sum = 0;
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t j = 0; j < N; ++j) sum += x[i] * covariance_[i][j] * x[j];
    return sum;
  }

 private:
  static constexpr double kNothingKnown = 1e6;

  double forgetting_;
  Row theta_{};
  std::array<Row, N> covariance_{};
};

}  // namespace tidewatt::tasks
