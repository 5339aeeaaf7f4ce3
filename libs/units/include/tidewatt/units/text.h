// Numbers to and from text without locale and without trailing junk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidewatt {

/// The whole text must be one finite decimal number (no "nan", "inf", hex, blanks or units).
std::optional<double> parse_double(std::string_view text);
/// The whole text must be one decimal integer that fits.
std::optional<std::int64_t> parse_int64(std::string_view text);
std::optional<std::uint64_t> parse_uint64(std::string_view text);
/// Shortest text that reads back as the same double.
std::string format_double(double value);
/// Without leading and trailing ASCII blanks (space, tab, CR, LF).
std::string_view trim(std::string_view text);
/// Whether UTF-8 text holds what breaks or reorders a line where it is printed: control characters (C0, DEL,
/// C1), line and paragraph separators, marks that change the direction of writing.
bool holds_control_characters(std::string_view text);

}  // namespace tidewatt
