// What waiting within a window saves, chosen by one series and paid by another.
#pragma once

#include <cstddef>
#include <span>

namespace tidewatt::studies {

/// Sums of the series that is paid, over `length` slots.
struct Shifted {
  double at_once = 0;
  double one_window = 0;    ///< the slots in a row whose seen sum is least; of equal ones the earliest
  double interrupting = 0;  ///< the slots that are least as seen; of equal ones the earliest

  Shifted& operator+=(const Shifted& other);
};

/// @param seen, paid  of one length, at least `length`: the slots of the window, the first is "now"
Shifted shift(std::span<const double> seen, std::span<const double> paid, std::size_t length);

/// 100 x (1 - part / whole).
double saved_percent(double whole, double part);

}  // namespace tidewatt::studies
