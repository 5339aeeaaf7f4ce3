#include "ridge.h"

#include <Eigen/Dense>
#include <cmath>
#include <map>

namespace tidewatt::carbon::forecast {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// So that a feature that hardly varied is not blown up.
constexpr double kLeastSpread = 1e-2;
constexpr double kInterceptPenalty = 1e-3;

/// The sums of one way of forgetting.
struct Sums {
  MatrixXd normal;
  MatrixXd moment;
};

}  // namespace

struct RidgeBank::Matrices {
  std::vector<RidgeSpec> specs;
  VectorXd mean;
  VectorXd spread;
  std::size_t targets = 0;
  std::map<double, Sums> sums;  ///< by half-life
  std::vector<MatrixXd> coefficients;
  std::vector<VectorXd> rows;
  std::vector<VectorXd> row_targets;
  std::vector<double> weights;

  [[nodiscard]] VectorXd standardised(std::span<const double> features) const {
    const auto size = static_cast<Index>(features.size());
    VectorXd row(size + 1);
    row.head(size) = (Eigen::Map<const VectorXd>(features.data(), size) - mean).cwiseQuotient(spread);
    row(size) = 1;
    return row;
  }
};

RidgeBank::RidgeBank(std::vector<RidgeSpec> specs, const std::vector<std::vector<double>>& standard,
                     std::size_t targets)
    : matrices_{std::make_unique<Matrices>()} {
  auto& m = *matrices_;
  m.specs = std::move(specs);
  m.targets = targets;
  const auto width = static_cast<Index>(standard.front().size());
  m.mean = VectorXd::Zero(width);
  m.spread = VectorXd::Zero(width);
  const auto count = static_cast<double>(standard.size());
  for (const auto& row : standard) m.mean += Eigen::Map<const VectorXd>(row.data(), width) / count;
  for (const auto& row : standard)
    m.spread += (Eigen::Map<const VectorXd>(row.data(), width) - m.mean).cwiseAbs2() / count;
  m.spread = m.spread.cwiseSqrt().array() + kLeastSpread;
  for (const auto& spec : m.specs)
    m.sums.try_emplace(spec.half_life_days, Sums{MatrixXd::Zero(width + 1, width + 1),
                                                 MatrixXd::Zero(width + 1, static_cast<Index>(targets))});
  m.coefficients.assign(m.specs.size(), MatrixXd::Zero(width + 1, static_cast<Index>(targets)));
}

RidgeBank::~RidgeBank() = default;
RidgeBank::RidgeBank(RidgeBank&&) noexcept = default;
RidgeBank& RidgeBank::operator=(RidgeBank&&) noexcept = default;

void RidgeBank::add(std::span<const double> features, std::span<const double> targets, double weight) {
  auto& m = *matrices_;
  m.rows.push_back(m.standardised(features));
  m.row_targets.emplace_back(Eigen::Map<const VectorXd>(targets.data(), static_cast<Index>(targets.size())));
  m.weights.push_back(weight);
}

void RidgeBank::refit() {
  auto& m = *matrices_;
  const auto added = static_cast<Index>(m.rows.size());
  if (added > 0) {
    const Index width = m.rows.front().size();
    for (auto& [half_life, sum] : m.sums) {
      const double keep = half_life > 0 ? std::exp2(-1.0 / half_life) : 1.0;
      MatrixXd rows(width, added);
      MatrixXd targets(static_cast<Index>(m.targets), added);
      for (Index i = 0; i < added; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const double root = std::sqrt(m.weights[at] * std::pow(keep, static_cast<double>(added - 1 - i)));
        rows.col(i) = m.rows[at] * root;
        targets.col(i) = m.row_targets[at] * root;
      }
      const double old = std::pow(keep, static_cast<double>(added));
      sum.normal *= old;
      sum.normal.noalias() += rows * rows.transpose();
      sum.moment *= old;
      sum.moment.noalias() += rows * targets.transpose();
    }
    m.rows.clear();
    m.row_targets.clear();
    m.weights.clear();
  }
  for (std::size_t i = 0; i < m.specs.size(); ++i) {
    const auto& sum = m.sums.at(m.specs[i].half_life_days);
    MatrixXd normal = sum.normal;
    normal.diagonal().array() += m.specs[i].penalty;
    normal(normal.rows() - 1, normal.cols() - 1) += kInterceptPenalty - m.specs[i].penalty;
    m.coefficients[i] = normal.llt().solve(sum.moment);
  }
}

std::vector<double> RidgeBank::predict(std::size_t index, std::span<const double> features) const {
  const auto& m = *matrices_;
  const VectorXd answer = m.coefficients[index].transpose() * m.standardised(features);
  return {answer.data(), answer.data() + answer.size()};
}

}  // namespace tidewatt::carbon::forecast
