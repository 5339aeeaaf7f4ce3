// A zone's points as they lie on disk.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/carbon/signal_book.h"

namespace tidewatt::emma {

std::string cache_text(const carbon::SignalBook& book);
/// @error corrupt  not such a text, or of another zone or series
Result<std::vector<carbon::StoredPoint>> parse_cache(std::string_view text,
                                                     const carbon::SeriesIdentity& identity);

}  // namespace tidewatt::emma
