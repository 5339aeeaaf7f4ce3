// The table team_hours: hourly rows added up by team (of tasks) and by cluster (of nodes). The checkpoint
// that writes the rows writes it, in the same transaction. A task whose team changes is put down in
// task_moves, with the team under which its rows stand; the next checkpoint moves them, and until then
// readers do.
#pragma once

#include <functional>
#include <string>

#include "../journal/team_sums.h"
#include "db.h"
#include "tidewatt/base/result.h"
#include "tidewatt/ledger/store.h"

namespace tidewatt::store {

/// Before the task is put into the registry.
Status note_team(Database& db, const ledger::TaskInfo& task);
Result<bool> has_task_moves(Database& db);
/// The first thing of a checkpoint: adds what moves, and forgets the moves.
Status settle_task_moves(Database& db, TeamSums& sums);
/// The team that the registry has; empty = none.
Result<std::string> team_of(Database& db, const std::string& cluster, const std::string& task_id);
Status write_team_sums(Database& db, const TeamSums& sums);
/// Of rows that were put in without a checkpoint.
Status fill_team_hours(Database& db);

/// What an answer has beyond the table: moves and the journal. Of one snapshot with each_team_row.
Status add_task_moves(Database& db, const ledger::ImageParts& parts, TeamSums& sums);
Status each_team_row(Database& db, const ledger::ImageParts& parts,
                     const std::function<Status(TeamKey&&, TeamSum&&)>& take);

}  // namespace tidewatt::store
