// Statistics that a few wild values don't move.
#pragma once

#include <span>
#include <vector>

namespace tidewatt::tasks {

/// The middle value, or the mean of the two in the middle. `values` is not empty.
double median(std::vector<double> values);
double median(std::span<const double> values);
/// 1.4826 x the median distance from `centre`: the standard deviation of normal values.
double robust_deviation(std::span<const double> values, double centre);
/// The mean distance from the median. @pre not empty
double mean_distance(std::span<const double> values, double centre);

}  // namespace tidewatt::tasks
