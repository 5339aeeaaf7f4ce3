#include <fmt/format.h>

#include "tidewatt/base/result.h"

namespace tidewatt {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_input:
      return "invalid_input";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::permission_denied:
      return "permission_denied";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::timed_out:
      return "timed_out";
    case ErrorCode::conflict:
      return "conflict";
    case ErrorCode::io:
      return "io";
    case ErrorCode::corrupt:
      return "corrupt";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

std::string Error::to_string() const {
  return hint.empty() ? message : fmt::format("{} ({})", message, hint);
}

Error Error::with_context(std::string_view context) const {
  return Error{code, fmt::format("{}: {}", context, message), hint};
}

}  // namespace tidewatt
