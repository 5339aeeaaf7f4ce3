// Nodes as rows of a list, and what they draw now.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core.h"
#include "energy_view.h"

namespace tidewatt::api {

struct PowerNow {
  std::optional<Watts>
      power;  ///< sum of the known devices; nullopt when none is known, or the node is silent
  std::optional<Watts> platform;
  bool by_platform = false;  ///< no component is listed: the whole-machine meter is the power
  int known = 0;
  int total = 0;
};
/// Of the last beat, if that is fresh.
PowerNow power_now(const ledger::NodeInfo& node, UtcTime now, Milliseconds silent_after);
/// True when a device of its last beat is played from a recorded log.
bool plays_a_log(const ledger::NodeInfo& node);
bool is_live(const ledger::NodeInfo& node, UtcTime now, Milliseconds silent_after);
/// Live, and its last sample tells of now: one that delivers an old backlog is alive, but what it drew an
/// hour ago isn't what it draws now.
bool is_fresh(const ledger::NodeInfo& node, UtcTime now, Milliseconds silent_after);

/// Why nothing of what it sends is booked, and what to do on the node.
std::string stale_text(const ledger::StaleBeats& stale);

/// A row of GET /nodes without its trend.
/// @param totals    nullptr = no row in the range
/// @param withheld  a tenant looks: power is other people's too
Json node_json(const Core& core, const ledger::NodeInfo& node, const Totals* totals, bool withheld);

struct ClusterPower {
  std::optional<Watts> power;
  int known = 0;
  int total = 0;
  bool components = false;
  bool platform = false;
  int live = 0;
  int silent = 0;
};
ClusterPower cluster_power(const std::vector<ledger::SharedNode>& nodes, UtcTime now,
                           Milliseconds silent_after);

}  // namespace tidewatt::api
