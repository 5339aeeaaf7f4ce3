#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tidewatt {

/// Length of the UTF-8 sequence at the start of `text`, which isn't empty; 0 when it is none.
std::size_t utf8_length(std::string_view text);

/// A name fit to travel: '?' for control characters and for bytes that are no UTF-8, at most `most` bytes, no
/// character cut in two.
std::string printable(std::string_view text, std::size_t most);

/// True: printable() changes nothing but a length.
bool is_printable(std::string_view text);

}  // namespace tidewatt
