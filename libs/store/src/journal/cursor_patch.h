// A cursor changes little from beat to beat (times, counters, sequence numbers): the journal keeps the
// difference.
#pragma once

#include <string>
#include <string_view>

#include "tidewatt/base/result.h"

namespace tidewatt::store {

/// The bytes that turn `before` into `after`, appended to `out`; false (and `out` as it was) when that isn't
/// shorter.
bool make_patch(std::string_view before, std::string_view after, std::string& out);
/// @error corrupt  the patch doesn't fit
Result<std::string> patched(std::string_view before, std::string_view patch);

}  // namespace tidewatt::store
