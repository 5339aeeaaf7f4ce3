// What a tenant may see: the tasks of its team, and of the nodes they ran on only their part.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "core.h"
#include "energy_view.h"

namespace tidewatt::api {

struct TenantView {
  std::set<SubjectKey> tasks;            ///< (cluster, task id) of the team
  std::set<SubjectKey> nodes;            ///< (cluster, node id) they ever ran on
  std::map<SubjectKey, Totals> by_node;  ///< in the range: its tasks' part of each node
};
/// @param range nullptr = no totals
Result<TenantView> tenant_view(Core& core, const Call& call, const TimeRange* range);

}  // namespace tidewatt::api
