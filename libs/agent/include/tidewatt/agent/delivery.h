// What an answer of the server means for the beats that were sent. Pure: no clock, no sockets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/net/http.h"
#include "tidewatt/units/time.h"

namespace tidewatt::agent {

/// How delivery goes, as an operator sees it. Logged when it changes.
enum class Link : std::uint8_t {
  unknown,       ///< nothing was sent yet
  delivering,    ///< the server takes beats
  unreachable,   ///< no answer, or one that says: later
  unauthorised,  ///< 401 or 403: the token is wrong
  misdirected,   ///< whatever answers is no Tidewatt server, or none of our version
};
std::string_view to_string(Link link);

/// Beats that the server won't ever take, for the same reason.
struct Rejection {
  std::string reason;
  std::uint64_t beats = 0;
  std::size_t first = 0;  ///< position of the first one in the batch
};

struct Verdict {
  Link link = Link::unreachable;
  std::size_t done = 0;  ///< so many from the front of the batch need not be sent again
  std::uint64_t accepted = 0;
  std::uint64_t duplicates = 0;
  std::vector<Rejection> rejections;
  bool back_off = false;  ///< wait before the next try
  bool reread_token = false;
  bool smaller_batches = false;             ///< this one was too large
  std::optional<Milliseconds> retry_after;  ///< wait at least so long
  std::string trouble;  ///< for the log when `link` is not delivering; what to do included
};

/// @param answer  the server's answer, or why there was none
/// @param beats   how many were sent; at least 1
/// @param now     for a Retry-After that is a date
Verdict judge(const Result<net::Response>& answer, std::size_t beats, UtcTime now);

}  // namespace tidewatt::agent
