// Pieces of JSON text, appended to a string.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace tidewatt::k8s_json {

inline void append_quoted(std::string& out, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  const auto is_plain = [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; };
  out += '"';
  while (!text.empty()) {
    const auto end = std::find_if_not(text.begin(), text.end(), is_plain);
    out.append(text.begin(), end);
    text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
    if (text.empty()) break;
    const auto byte = static_cast<unsigned char>(text.front());
    text.remove_prefix(1);
    if (byte >= 0x20) {
      out += '\\';
      out += static_cast<char>(byte);
      continue;
    }
    out += "\\u00";
    out += kHex[byte >> 4U];
    out += kHex[byte & 0xFU];
  }
  out += '"';
}

inline std::string json_quoted(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

/// "/" in a key of a JSON pointer is "~1".
inline std::string pointer_key(std::string_view key) {
  std::string out;
  for (const char c : key) out += c == '~' ? std::string{"~0"} : c == '/' ? "~1" : std::string{c};
  return out;
}

}  // namespace tidewatt::k8s_json
