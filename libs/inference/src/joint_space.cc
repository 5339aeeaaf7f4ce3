#include "joint_space.h"

#include <algorithm>
#include <numeric>

#include "kernels.h"

namespace tidewatt::inference {

JointSpace::JointSpace(const Shape& shape) : sizes_(shape.states), strides_(shape.factors()) {
  for (std::size_t f = sizes_.size(); f-- > 0;) {
    strides_[f] = size_;
    size_ *= sizes_[f];
  }
  std::vector<std::size_t> leader(sizes_.size());
  std::iota(leader.begin(), leader.end(), std::size_t{0});
  for (std::size_t f = 0; f < sizes_.size(); ++f) {
    auto tied = shape.drivers[f];
    tied.push_back(f);
    for (const auto g : tied) {
      const auto from = leader[g];
      std::replace(leader.begin(), leader.end(), from, leader[f]);
    }
  }
  for (std::size_t first = 0; first < sizes_.size(); ++first) {
    Component c;
    for (std::size_t f = 0; f < sizes_.size(); ++f)
      if (leader[f] == first) c.factors.push_back(f);
    if (c.factors.empty()) continue;
    const auto numbers = combinations(c.factors);
    for (const auto f : c.factors) c.states *= sizes_[f];
    c.inside.assign(c.states, 0);
    std::vector<char> found(c.states, 0);
    for (std::size_t j = 0; j < size_; ++j) {
      std::size_t within = 0;
      for (const auto f : c.factors) within += j / strides_[f] % sizes_[f] * strides_[f];
      if (within == 0) c.outside.push_back(static_cast<std::uint32_t>(j));
      if (found[numbers[j]] == 0) {
        found[numbers[j]] = 1;
        c.inside[numbers[j]] = static_cast<std::uint32_t>(within);
      }
    }
    for (const auto f : c.factors) {
      std::vector<std::uint32_t> rows(c.states), own(c.states);
      for (std::size_t s = 0; s < c.states; ++s) {
        const auto state = [&](std::size_t g) { return c.inside[s] / strides_[g] % sizes_[g]; };
        std::size_t row = 0;
        for (const auto g : shape.drivers[f]) row = row * sizes_[g] + state(g);
        rows[s] = static_cast<std::uint32_t>(row);
        own[s] = static_cast<std::uint32_t>(state(f));
      }
      c.driver_row.push_back(std::move(rows));
      c.own_state.push_back(std::move(own));
    }
    components_.push_back(std::move(c));
  }
}

std::vector<std::uint32_t> JointSpace::combinations(const std::vector<std::size_t>& factors) const {
  std::vector<std::uint32_t> numbers(size_);
  for (std::size_t j = 0; j < size_; ++j) {
    std::size_t number = 0;
    for (const auto f : factors) number = number * sizes_[f] + j / strides_[f] % sizes_[f];
    numbers[j] = static_cast<std::uint32_t>(number);
  }
  return numbers;
}

void JointSpace::move_alone(const Transition& transition, const double* slab, std::size_t stride,
                            const double* from, double* to, std::vector<double>& column) const {
  const std::size_t states = transition.states;
  const std::size_t block = states * stride;
  if (stride == 1) {
    for (std::size_t outer = 0; outer < size_; outer += block) {
      combine(column.data(), from + outer, states, slab, transition.width);
      std::copy_n(column.data(), states, to + outer);
    }
    return;
  }
  for (std::size_t next = 0; next < states; ++next) {
    for (std::size_t s = 0; s < states; ++s) column[s] = slab[s * transition.width + next];
    for (std::size_t outer = 0; outer < size_; outer += block)
      combine(to + outer + next * stride, column.data(), states, from + outer, stride);
  }
}

void JointSpace::to_marginals(const double* joint, Marginals& marginals) const {
  std::fill(marginals.values().begin(), marginals.values().end(), 0.0);
  for (std::size_t f = 0; f < sizes_.size(); ++f) {
    auto q = marginals[f];
    for (std::size_t j = 0; j < size_; ++j) q[j / strides_[f] % sizes_[f]] += joint[j];
  }
}

}  // namespace tidewatt::inference
