#pragma once

#include <set>
#include <string_view>

#include "core.h"
#include "energy_view.h"

namespace tidewatt::api {

bool may_see(const Call& call, const ledger::TaskInfo& task);

/// The task of the path, as the registry knows it or as it stands in the accounts.
/// @error not_found when nothing knows it, or the caller may not see it
Result<ledger::TaskInfo> visible_task(Core& core, const Call& call);

/// The task of the path, for who reports something of it: one that nobody knows yet becomes known, but not by
/// a tenant. @error not_found for a tenant: there is none of its team
Result<ledger::TaskInfo> reported_task(Core& core, const Call& call);

/// Tasks that a live node's last beat names as holders.
Result<std::set<SubjectKey>> running_tasks(Core& core);
std::string_view state_of(const ledger::TaskInfo& task, bool running, UtcTime now);

}  // namespace tidewatt::api
