// Records as JSON, one object each: what the journal and the history show.
#pragma once

#include <string>
#include <string_view>

#include "tidewatt/base/result.h"
#include "tidewatt/market/record.h"

namespace tidewatt::market {

/// All but seq, key and time, which the journal keeps beside it.
std::string encode(const Record& record);
/// @error corrupt  no such object, or a value out of its range
Result<Record> decode(std::string_view text);

}  // namespace tidewatt::market
