// Small pieces of JSON text, appended to a string.
#pragma once

#include <string>
#include <string_view>

#include "tidewatt/units/printable.h"
#include "tidewatt/units/text.h"
#include "tidewatt/wire/beat_json.h"

namespace tidewatt::wire {

inline void append_quoted(std::string& out, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4U];
      out += kHex[byte & 0xFU];
    } else {
      out += c;
    }
  }
  out += '"';
}

/// An object under construction: fields that are unknown are simply not written.
class ObjectWriter {
 public:
  explicit ObjectWriter(std::string& out) : out_(out) { out_ += '{'; }
  ~ObjectWriter() { out_ += '}'; }
  ObjectWriter(const ObjectWriter&) = delete;
  ObjectWriter& operator=(const ObjectWriter&) = delete;

  std::string& key(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    append_quoted(out_, name);
    out_ += ':';
    return out_;
  }
  /// Whatever a file or a tool wrote into a name: one bad byte must not cost the whole beat.
  void text(std::string_view name, std::string_view value, std::size_t most = kMaxIdBytes) {
    append_quoted(key(name), printable(value, most));
  }
  void text_if(std::string_view name, std::string_view value, std::size_t most = kMaxIdBytes) {
    if (!value.empty()) text(name, value, most);
  }
  void number(std::string_view name, double value) { key(name) += format_double(value); }
  template <class Integer>
  void integer(std::string_view name, Integer value) {
    key(name) += std::to_string(value);
  }

 private:
  std::string& out_;
  bool first_ = true;
};

}  // namespace tidewatt::wire
