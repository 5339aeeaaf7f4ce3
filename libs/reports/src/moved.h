// What tasks that were moved saved: realised, against the baseline that was recorded when they were moved.
#pragma once

#include <span>
#include <vector>

#include "tidewatt/reports/gather.h"

namespace tidewatt::reports {

/// The hours of the window in which moved tasks used energy, each with the hour it would have been used in.
Result<std::vector<MovedTask>> moved_tasks(ledger::ImageSource& source, const Question& question,
                                           std::span<const ledger::TaskInfo> tasks,
                                           const std::vector<ledger::SharedNode>& nodes);

/// @param line  nullptr = all of them
Savings savings_of(const Booked& booked, const Subject* line, const Policy& policy,
                   const carbon::CarbonView& view);

}  // namespace tidewatt::reports
