// Following a collection of an API server: lines out of pieces, what an answer means for the next question,
// and how long to wait before it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tidewatt/units/time.h"

namespace tidewatt::k8s {

/// Cuts the pieces of a watch into its lines.
class WatchLines {
 public:
  explicit WatchLines(std::size_t longest) : longest_(longest) {}
  /// @param on_line  false ends
  /// @return false: on_line said so, or a line is longer than the bound
  bool add(std::string_view piece, const std::function<bool(std::string_view line)>& on_line);

 private:
  std::size_t longest_;
  std::string begun_;
};

/// Doubles with each failure in a row from half a second to 30 s, and spread over the upper half of that, so
/// that replicas don't come back at once. Never less than what the server asked for, up to 5 minutes.
/// @param failures  in a row, 1 for the first
/// @param random    uniform in [0, 1)
Milliseconds back_off(unsigned failures, double random, std::optional<Milliseconds> retry_after);
/// Retry-After in seconds; a date isn't read.
std::optional<Milliseconds> retry_after_of(std::string_view header);

}  // namespace tidewatt::k8s
