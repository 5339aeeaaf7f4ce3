// A journal row: one piece for each node that its commit moved, each whole in itself, so that a commit can
// take effect for some of its nodes and not for others.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "../journal/changes.h"

namespace tidewatt::store::pg {

/// Begins a row: its version.
void begin_row(std::string& row);
/// @param from  the revision that the piece's cursor starts at
/// @param scratch  for reuse
void append_piece(std::string& row, std::uint64_t from, const Changes& changes, std::string& scratch);

/// Each piece in turn. @error corrupt, or what `take` returns
Status read_row(std::string_view row, const std::function<Status(std::uint64_t from, Changes&&)>& take);

}  // namespace tidewatt::store::pg
