#include "tools/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace tidewatt::metering::tools {
namespace {

constexpr std::uint32_t kReplacement = 0xFFFD;

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0U | (code >> 6U));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0U | (code >> 12U));
    out += static_cast<char>(0x80U | ((code >> 6U) & 0x3FU));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  } else {
    out += static_cast<char>(0xF0U | (code >> 18U));
    out += static_cast<char>(0x80U | ((code >> 12U) & 0x3FU));
    out += static_cast<char>(0x80U | ((code >> 6U) & 0x3FU));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  }
}

// A page break between two outputs is nothing; a NUL stands where a buffer's blank was lost.
void append_ascii(std::string& out, char c) {
  if (c == '\f' || c == '\v') return;
  out += c == '\0' ? ' ' : c;
}

void append_plain(std::string& out, std::uint32_t code) {
  if (code < 0x80) return append_ascii(out, static_cast<char>(code));
  if (code == 0xFF1A) code = ':';
  if (code == 0xA0 || code == 0x3000) code = ' ';
  append_utf8(out, code);
}

std::string from_utf16(std::string_view text, bool big_endian) {
  std::string out;
  std::uint32_t high = 0;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    const auto first = static_cast<unsigned char>(text[i]);
    const auto second = static_cast<unsigned char>(text[i + 1]);
    const std::uint32_t unit = big_endian ? (first * 256U + second) : (second * 256U + first);
    const bool is_high = unit >= 0xD800 && unit < 0xDC00;
    const bool is_low = unit >= 0xDC00 && unit < 0xE000;
    if (high != 0 && !is_low) append_utf8(out, kReplacement);
    if (is_high) {
      high = unit;
      continue;
    }
    if (is_low)
      append_plain(out, high != 0 ? 0x10000U + ((high - 0xD800U) << 10U) + (unit - 0xDC00U) : kReplacement);
    else
      append_plain(out, unit);
    high = 0;
  }
  return out;
}

// Length of the sequence that a lead byte announces; 0 = no lead byte.
std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

// Length of a terminal's control sequence, such as the colour "ESC[32m"; 0 = none begins here.
std::size_t control_length(std::string_view text) {
  if (text.size() < 2 || text[0] != '\x1b') return 0;
  if (text[1] == '(' || text[1] == ')') return std::min<std::size_t>(3, text.size());
  if (text[1] != '[') return 2;
  for (std::size_t i = 2; i < text.size(); ++i)
    if (text[i] >= '@' && text[i] <= '~') return i + 1;
  return text.size();
}

std::string from_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const auto length = sequence_length(lead);
    if (const auto control = control_length(text.substr(i)); control > 0) {
      i += control;
      continue;
    }
    if (length == 1) {
      append_ascii(out, text[i++]);
      continue;
    }
    std::uint32_t code = length == 2 ? lead & 0x1FU : length == 3 ? lead & 0x0FU : lead & 0x07U;
    std::size_t used = 1;
    while (used < length && i + used < text.size() &&
           (static_cast<unsigned char>(text[i + used]) & 0xC0U) == 0x80U)
      code = (code << 6U) | (static_cast<unsigned char>(text[i + used++]) & 0x3FU);
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    const bool valid =
        length != 0 && used == length && !overlong && code <= 0x10FFFF && !(code >= 0xD800 && code < 0xE000);
    append_plain(out, valid ? code : kReplacement);
    i += used;
  }
  return out;
}

}  // namespace

Result<std::string> normalised(std::string_view tool, std::string_view text) {
  if (text.size() > kMaxToolText)
    return fail(ErrorCode::invalid_input,
                fmt::format("{}: {} bytes of output, more than the {} that are read", tool, text.size(),
                            kMaxToolText),
                "ask for the power of the devices only");
  if (text.starts_with("\xFF\xFE")) return from_utf16(text.substr(2), false);
  if (text.starts_with("\xFE\xFF")) return from_utf16(text.substr(2), true);
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return from_utf8(text);
}

std::size_t width_of(std::string_view utf8) {
  std::size_t width = 0;
  for (const char c : utf8)
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++width;
  return width;
}

}  // namespace tidewatt::metering::tools
