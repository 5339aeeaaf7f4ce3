// The tokens of task groups, as units of what their carbon is per.
#pragma once

#include <span>
#include <vector>

#include "tidewatt/reports/gather.h"

namespace tidewatt::reports {

/// Fills in the tokens of groups, or why they aren't told. Of a group that isn't all the asker's, none are:
/// its energy is of some tasks, its tokens of all.
void take_tokens(std::vector<Subject>& groups, const Question& question,
                 std::span<const ledger::TaskInfo> tasks);

}  // namespace tidewatt::reports
