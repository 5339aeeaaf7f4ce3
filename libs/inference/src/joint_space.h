// The joint belief over all factors, and how it moves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "evidence.h"
#include "marginals.h"
#include "transition.h"

namespace tidewatt::inference {

/// Factors that drive one another move together; such components move independently of each other.
struct Component {
  std::vector<std::size_t> factors;
  std::size_t states = 1;
  std::vector<std::uint32_t> inside;   ///< offset in the joint of each combination of its states
  std::vector<std::uint32_t> outside;  ///< offset of each combination of the other factors' states
  /// [factor of the component][combination]: row of its transition, and its own state
  std::vector<std::vector<std::uint32_t>> driver_row, own_state;
};

class JointSpace {
 public:
  explicit JointSpace(const Shape& shape);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const std::vector<Component>& components() const { return components_; }
  /// For each joint state, the combination number of the given factors' states.
  [[nodiscard]] std::vector<std::uint32_t> combinations(const std::vector<std::size_t>& factors) const;

  /// to = from after one component moved under `controls` (one per factor of the model).
  template <class Controls>
  void move(std::size_t component, const Controls& controls, std::span<const Transition> transitions,
            const double* from, double* to, std::vector<double>& column) const {
    const Component& c = components_[component];
    if (c.factors.size() == 1) {
      const std::size_t f = c.factors[0];
      const Transition& transition = transitions[f];
      move_alone(transition, transition.slab(controls[f]), strides_[f], from, to, column);
      return;
    }
    std::fill(to, to + size_, 0.0);
    for (std::size_t s = 0; s < c.states; ++s) {
      arrivals(c, s, controls, transitions, column);
      for (const auto other : c.outside) {
        const double p = from[other + c.inside[s]];
        if (p == 0) continue;
        for (std::size_t next = 0; next < c.states; ++next) to[other + c.inside[next]] += p * column[next];
      }
    }
  }
  /// column[next] = P(next | s) of a component
  template <class Controls>
  void arrivals(const Component& c, std::size_t s, const Controls& controls,
                std::span<const Transition> transitions, std::vector<double>& column) const {
    for (std::size_t next = 0; next < c.states; ++next) column[next] = 1;
    for (std::size_t i = 0; i < c.factors.size(); ++i) {
      const auto& transition = transitions[c.factors[i]];
      const double* const row =
          transition.slab(controls[c.factors[i]]) + c.driver_row[i][s] * transition.width;
      for (std::size_t next = 0; next < c.states; ++next) column[next] *= row[c.own_state[i][next]];
    }
  }
  void to_marginals(const double* joint, Marginals& marginals) const;

 private:
  /// A factor that only it itself drives; `stride` joint states lie between its states.
  void move_alone(const Transition& transition, const double* slab, std::size_t stride, const double* from,
                  double* to, std::vector<double>& column) const;

  std::vector<std::size_t> sizes_, strides_;
  std::size_t size_ = 1;
  std::vector<Component> components_;
};

}  // namespace tidewatt::inference
