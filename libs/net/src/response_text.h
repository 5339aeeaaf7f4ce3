// From a Response to bytes on the wire: pure text work.
#pragma once

#include <string>
#include <string_view>

#include "tidewatt/net/http.h"

namespace tidewatt::net {

/// Does an Accept-Encoding header allow gzip? ("gzip;q=0" doesn't, "*" does.)
bool accepts_gzip(std::string_view accept_encoding);
/// Compresses the body where that pays: more than 1 KiB of text, not compressed yet.
void compress_when_wanted(Response& response, std::string_view accept_encoding);
/// Puts "request_id" into a problem's body.
void stamp_problem(Response& response, std::string_view request_id);

struct Envelope {
  bool keep_alive = true;
  bool http_1_0 = false;
  std::string_view request_id;
  std::string_view date;  ///< the value of the Date header
};
/// Status line and headers with the empty line. Line breaks in header values become spaces.
std::string head_text(const Response& response, const Envelope& envelope);
/// May this status carry a body?
bool has_body(int status);
/// "Sun, 29 Nov 2026 17:30:00 GMT", whatever the locale.
std::string http_date(std::int64_t unix_seconds);

}  // namespace tidewatt::net
