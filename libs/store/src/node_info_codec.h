// A node as last heard of, as bytes for the nodes table.
#pragma once

#include <string>
#include <string_view>

#include "tidewatt/base/result.h"
#include "tidewatt/ledger/store.h"

namespace tidewatt::store {

/// Without the key, which is the row's.
std::string encode(const ledger::NodeInfo& info);
/// @error corrupt  for anything that encode didn't write
Result<ledger::NodeInfo> decode_node_info(const ledger::NodeKey& key, std::string_view bytes);

}  // namespace tidewatt::store
