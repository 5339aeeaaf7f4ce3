// What is shown of a node whose beats several agents may send (one for its GPUs, one for its meter).
#pragma once

#include <optional>

#include "tidewatt/ledger/store.h"

namespace tidewatt::ledger {

struct ShownBeat {
  Beat* beat = nullptr;
  UtcTime received_at{};
  UtcTime at{};  ///< its place in the node's time
  std::optional<Milliseconds> clock_offset;
};

/// The node (`known` is null for a new one) with this accepted beat. nullopt: a beat no newer than its
/// agent's last changes nothing. Other agents' devices stay for two minutes of the node's time unless this
/// beat reports them. The beat's devices and sources are moved into the node.
std::optional<NodeInfo> shown_with(const NodeInfo* known, const ShownBeat& shown);

/// The latest check of each device takes the place of the one before; those of devices that are gone go.
void add_checks(NodeInfo& info, const std::vector<CheckedCounter>& checks);

}  // namespace tidewatt::ledger
