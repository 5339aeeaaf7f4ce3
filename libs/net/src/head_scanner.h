#pragma once

#include <cstddef>
#include <string_view>

namespace tidewatt::net {

/// Finds the end of a request's head in bytes that come bit by bit, and refuses early what servers and
/// proxies read differently: bare line feeds, folded lines, control characters.
class HeadScanner {
 public:
  enum class State { incomplete, complete, malformed, too_large };

  explicit HeadScanner(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// @param bytes  all bytes of the request so far, from its first one; what was seen before isn't looked at
  /// again
  State scan(std::string_view bytes);
  /// Bytes of the head with its empty line, once complete.
  [[nodiscard]] std::size_t size() const { return line_begin_; }
  /// Why it is malformed.
  [[nodiscard]] std::string_view reason() const { return reason_; }

 private:
  State malformed(std::string_view reason);

  std::size_t max_bytes_;
  std::size_t position_ = 0;
  std::size_t line_begin_ = 0;
  std::string_view reason_;
};

}  // namespace tidewatt::net
