#pragma once

#include "tidewatt/net/http.h"

namespace tidewatt::api {

/// A GET outside the API: an embedded file, else index.html (pages have their own paths), else a page that
/// says how to build the pages.
net::Response serve_web(const net::Request& request);
/// What every answer carries so that browsers don't guess, frame or load foreign things.
void add_security_headers(net::Response& response, bool tls);
/// Whether If-None-Match names this tag.
bool matches_etag(const net::Request& request, std::string_view etag);

}  // namespace tidewatt::api
