// Expected failures are values: Result<T>. Exceptions are for broken invariants only.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace tidewatt {

enum class ErrorCode {
  invalid_input,      ///< what was given can't be used; retrying the same changes nothing
  not_found,          ///< no such thing
  permission_denied,  ///< the thing is there, we may not
  unavailable,        ///< try again later: peer down, store busy, queue full
  timed_out,          ///< no answer within the deadline
  conflict,           ///< somebody else was first (compare-and-write lost)
  io,                 ///< disk or socket failed
  corrupt,            ///< stored data doesn't add up
  internal,           ///< our own fault
};

std::string_view to_string(ErrorCode code);

/// A failure that a caller or a person can act on.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;  ///< what happened, where, with the offending value; one line
  std::string hint;     ///< what to do now; may be empty

  /// "message (hint)" on one line.
  [[nodiscard]] std::string to_string() const;
  /// The same failure, seen from one level up: "context: message".
  [[nodiscard]] Error with_context(std::string_view context) const;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string hint = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(hint)});
}

}  // namespace tidewatt

#define TW_CONCAT_INNER(a, b) a##b
#define TW_CONCAT(a, b) TW_CONCAT_INNER(a, b)
/// TW_TRY(const auto x, f()): x is f()'s value, or this function returns f()'s error.
#define TW_TRY(declaration, expression)                                        \
  auto TW_CONCAT(tw_result_, __LINE__) = (expression);                         \
  if (!TW_CONCAT(tw_result_, __LINE__))                                        \
    return tl::unexpected(std::move(TW_CONCAT(tw_result_, __LINE__)).error()); \
  declaration = *std::move(TW_CONCAT(tw_result_, __LINE__))
/// The same for a Status.
#define TW_TRY_STATUS(expression)                                                                       \
  do {                                                                                                  \
    if (auto tw_status = (expression); !tw_status) return tl::unexpected(std::move(tw_status).error()); \
  } while (false)
