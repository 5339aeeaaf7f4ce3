#include "head_scanner.h"

namespace tidewatt::net {
namespace {

bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }

}  // namespace

HeadScanner::State HeadScanner::malformed(std::string_view reason) {
  reason_ = reason;
  return State::malformed;
}

HeadScanner::State HeadScanner::scan(std::string_view bytes) {
  for (; position_ < bytes.size(); ++position_) {
    if (position_ >= max_bytes_) return State::too_large;
    const char c = bytes[position_];
    const bool after_return = position_ > line_begin_ && bytes[position_ - 1] == '\r';
    if (c == '\n') {
      if (!after_return) return malformed("a line ends without a carriage return");
      const bool empty = position_ - line_begin_ == 1;
      line_begin_ = position_ + 1;
      if (!empty) continue;
      ++position_;
      return State::complete;
    }
    if (after_return) return malformed("a carriage return inside a line");
    if (c == '\r') continue;
    if (is_control(c)) return malformed("a control character in the head");
    if (position_ == line_begin_ && (c == ' ' || c == '\t')) return malformed("a folded header line");
  }
  return State::incomplete;
}

}  // namespace tidewatt::net
