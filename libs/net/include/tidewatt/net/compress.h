#pragma once

#include <string>
#include <string_view>

#include "tidewatt/base/result.h"

namespace tidewatt::net {

/// @error invalid_input: not gzip / zstd, truncated, larger than `limit`, or more than `ratio` times the
/// input
Result<std::string> gunzip(std::string_view bytes, std::size_t limit, std::size_t ratio);
Result<std::string> unzstd(std::string_view bytes, std::size_t limit, std::size_t ratio);
std::string gzip(std::string_view bytes);
std::string zstd(std::string_view bytes);

}  // namespace tidewatt::net
