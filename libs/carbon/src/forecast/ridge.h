// Ridge regressions on the same rows that differ in penalty and in how fast they forget.
#pragma once

#include <memory>
#include <span>
#include <vector>

namespace tidewatt::carbon::forecast {

struct RidgeSpec {
  double half_life_days = 0;  ///< weight of a row halves in that many days; 0 = never forgets
  double penalty = 1;         ///< on the squared coefficients of standardised features
};

/// All targets of a row (96 hours) share one normal matrix: one Cholesky factor answers them all.
class RidgeBank {
 public:
  /// @param standard  rows from which mean and spread of each feature are taken, once
  RidgeBank(std::vector<RidgeSpec> specs, const std::vector<std::vector<double>>& standard,
            std::size_t targets);
  ~RidgeBank();
  RidgeBank(RidgeBank&&) noexcept;
  RidgeBank& operator=(RidgeBank&&) noexcept;

  /// Keeps a day's row for the next refit. weight 0 = the day only ages the others.
  void add(std::span<const double> features, std::span<const double> targets, double weight);
  void refit();
  /// Of the spec at `index`, as fitted last. [targets]
  [[nodiscard]] std::vector<double> predict(std::size_t index, std::span<const double> features) const;

 private:
  struct Matrices;
  std::unique_ptr<Matrices> matrices_;
};

}  // namespace tidewatt::carbon::forecast
