#pragma once

namespace tidewatt::tasks {

/// The 95 % quantile of Student's t: 90 % of values lie within +- this. Good to 0.001.
/// @param degrees  at least 1; fractions are cut off
double t_quantile_95(double degrees);

}  // namespace tidewatt::tasks
