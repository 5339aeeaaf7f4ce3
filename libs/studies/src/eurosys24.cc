#include "tidewatt/studies/eurosys24.h"

#include <algorithm>
#include <vector>

namespace tidewatt::studies {
namespace {

/// The hours of a window that moves on, in order of size.
class SortedWindow {
 public:
  void add(double value) { sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), value), value); }
  void remove(double value) { sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), value)); }
  [[nodiscard]] double least(std::size_t count) const {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += sorted_[i];
    return sum;
  }

 private:
  std::vector<double> sorted_;
};

}  // namespace

Eurosys24Row eurosys24(std::span<const double> hours, std::size_t job, std::size_t slack) {
  Eurosys24Row row;
  if (hours.size() <= job) return row;
  std::vector<double> sums{0};
  for (const double value : hours) sums.push_back(sums.back() + value);
  const auto run = [&](std::size_t begin) { return sums[begin + job] - sums[begin]; };
  SortedWindow window;
  std::size_t in_window = 0;
  const std::size_t starts = hours.size() - job;
  for (std::size_t start = 0; start < starts; ++start) {
    const std::size_t end = std::min(hours.size(), start + job + slack);
    for (; in_window < end; ++in_window) window.add(hours[in_window]);
    row.at_once += run(start);
    double best = run(start);
    for (std::size_t begin = start + 1; begin + job <= end; ++begin) best = std::min(best, run(begin));
    row.one_window += best;
    row.interrupting += window.least(job);
    window.remove(hours[start]);
  }
  const auto count = static_cast<double>(starts);
  return {row.at_once / count, row.one_window / count, row.interrupting / count};
}

}  // namespace tidewatt::studies
