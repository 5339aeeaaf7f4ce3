// The table team_hours: hourly rows added up by team (of tasks) and by cluster (of nodes). Triggers on the
// tables of hours keep it, in the fold's transaction. A task whose team changes is put down in task_moves by
// a trigger, with the team under which its rows stand; the next fold moves them, and until then readers do.
#pragma once

#include <functional>

#include "../journal/team_sums.h"
#include "connection.h"

namespace tidewatt::store::pg {

/// The first thing of a fold, which holds the advisory lock.
Status settle_task_moves(Connection& db);
Result<bool> has_task_moves(Connection& db);

/// What an answer has beyond the table: moves and the journal. Of one snapshot with each_team_row.
Status add_task_moves(Connection& db, const ledger::ImageParts& parts, TeamSums& sums);
/// @param unfolded  with every account's key
Status add_journal(Connection& db, const Unfolded& unfolded, UtcHour frozen, const ledger::ImageParts& parts,
                   TeamSums& sums);
Status each_team_row(Connection& db, const ledger::ImageParts& parts,
                     const std::function<Status(TeamKey&&, TeamSum&&)>& take);
Status read_team_hours(Connection& db, const ledger::ImageParts& parts, const TeamSums& more,
                       ledger::ImageSink& sink);

}  // namespace tidewatt::store::pg
