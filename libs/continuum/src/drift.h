// Whether the world is another than the one learned: surprise above its own quantile, several times in a row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tidewatt::continuum {

class Drift {
 public:
  /// @return true when this surprise makes it a drift; it begins anew then
  bool step(double surprise) {
    const bool above = past_.size() >= kLeast && surprise > quantile();
    row_ = above ? row_ + 1 : 0;
    if (row_ < kInARow) {
      // What is above stays out, so that a drift doesn't make itself usual.
      if (!above) remember(surprise);
      return false;
    }
    past_.clear();
    row_ = 0;
    return true;
  }

 private:
  static constexpr std::size_t kLeast = 50, kMost = 500, kInARow = 3;
  static constexpr double kQuantile = 0.99;
  static constexpr double kMargin = 0.5;  // nat: what hardly differs is no drift

  void remember(double surprise) {
    if (past_.size() == kMost) past_.erase(past_.begin());
    past_.push_back(surprise);
  }
  [[nodiscard]] double quantile() const {
    auto sorted = past_;
    std::ranges::sort(sorted);
    return sorted[static_cast<std::size_t>(kQuantile * static_cast<double>(sorted.size() - 1))] + kMargin;
  }

  std::vector<double> past_;
  std::size_t row_ = 0;
};

}  // namespace tidewatt::continuum
