// The weights by which several forecasts become one: none negative, all adding up to 1.
#pragma once

#include <span>
#include <vector>

namespace tidewatt::carbon::forecast {

/// The point of the simplex {w >= 0, sum w = 1} nearest to `values`.
std::vector<double> nearest_on_simplex(std::vector<double> values);

/// Weights for one day ahead, from how the members' errors went together lately.
class Stack {
 public:
  explicit Stack(std::size_t members);

  /// @param errors  of each member in each hour of a day: forecast - actual, logarithms [members x hours]
  void learn(const std::vector<std::vector<double>>& errors);
  /// Improves the weights for what was learnt.
  void solve();
  [[nodiscard]] std::span<const double> weights() const { return weights_; }

 private:
  std::size_t members_;
  std::vector<double> products_;  ///< discounted sums of products of errors [members x members]
  double days_ = 0;
  std::vector<double> weights_;
};

}  // namespace tidewatt::carbon::forecast
