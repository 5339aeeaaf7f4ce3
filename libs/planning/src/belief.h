// What to expect of a forecast whose error record is known.
#pragma once

#include "bill.h"
#include "task.h"
#include "tidewatt/planning/problem.h"

namespace tidewatt::planning {

/// Whether any zone has an error record.
bool has_error_record(const Problem& problem);

/// The problem with each zone's intensities drawn towards the zone's mean by what its record says of their
/// lead time: of a forecast's variance v, the part std^2 is error, so that the expected intensity is mean +
/// (1 - std^2 / v) x (forecast - mean).
Problem believed(const Problem& problem);

/// Whether moving a job from its baseline to `segments` is expected to save, and does so as likely as not.
/// The error is symmetric about the believed signal, so that the second follows from the first.
bool expected_to_save(const Problem& belief, const Grid& belief_grid, const Task& task,
                      const Segments& segments);

}  // namespace tidewatt::planning
