#include "tidewatt/units/printable.h"

#include <algorithm>

namespace tidewatt {

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  // Overlong forms, surrogates and what is beyond U+10FFFF.
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F)) return 0;
  if ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F)) return 0;
  return length;
}

namespace {

/// Length of the printable character at the start of `text`; 0 = there is none.
std::size_t printable_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  return first < 0x20 || first == 0x7f ? 0 : utf8_length(text);
}

}  // namespace

bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const auto length = printable_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text, std::size_t most) {
  std::string out;
  while (!text.empty()) {
    const auto length = printable_length(text);
    if (out.size() + std::max<std::size_t>(length, 1) > most) break;
    if (length > 0) {
      out += text.substr(0, length);
    } else {
      out += '?';
    }
    // A control character is one whole character, a byte that is no UTF-8 stands alone: both are one byte.
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

}  // namespace tidewatt
