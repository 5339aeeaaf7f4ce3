// What comes out of a pipe, made safe to cut into lines: one encoding, bounded size.
#pragma once

#include <string>
#include <string_view>

#include "tidewatt/base/result.h"

namespace tidewatt::metering::tools {

/// No tool prints more about one node; beyond it the text isn't looked at.
inline constexpr std::size_t kMaxToolText = std::size_t{16} << 20U;

/// UTF-8 without byte-order mark: UTF-16 with a mark is converted (Windows shells redirect so), bytes that
/// are no UTF-8 become U+FFFD, full-width colons and no-break blanks become plain ones, a terminal's
/// colours are left out.
/// @error invalid_input  more than kMaxToolText bytes
Result<std::string> normalised(std::string_view tool, std::string_view text);

/// Printed characters, not bytes: a degree sign is one column wide.
std::size_t width_of(std::string_view utf8);

}  // namespace tidewatt::metering::tools
