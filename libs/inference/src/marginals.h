// One distribution per factor, side by side in memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tidewatt::inference {

class Marginals {
 public:
  Marginals() = default;
  explicit Marginals(const std::vector<std::size_t>& sizes) : sizes_(sizes) {
    std::size_t total = 0;
    for (const auto n : sizes) {
      offsets_.push_back(total);
      total += n;
    }
    values_.assign(total, 0.0);
  }
  [[nodiscard]] std::span<double> operator[](std::size_t f) {
    return {values_.data() + offsets_[f], sizes_[f]};
  }
  [[nodiscard]] std::span<const double> operator[](std::size_t f) const {
    return {values_.data() + offsets_[f], sizes_[f]};
  }
  [[nodiscard]] std::size_t size() const { return sizes_.size(); }
  [[nodiscard]] const std::vector<double>& values() const { return values_; }
  [[nodiscard]] std::vector<double>& values() { return values_; }

 private:
  std::vector<std::size_t> sizes_, offsets_;
  std::vector<double> values_;
};

}  // namespace tidewatt::inference
