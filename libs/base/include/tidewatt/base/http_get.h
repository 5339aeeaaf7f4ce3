#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tidewatt/base/result.h"

namespace tidewatt {

struct HttpAnswer {
  int status = 0;
  std::string body;
};

/// Asks another machine for a document, injected. Not thread-safe: one per thread.
class HttpGet {
 public:
  virtual ~HttpGet() = default;
  /// Any status is an answer; redirects aren't followed.
  /// @error unavailable (refused, reset, DNS), timed_out, invalid_input (bad URL), io (TLS)
  virtual Result<HttpAnswer> get(const std::string& url,
                                 const std::vector<std::pair<std::string, std::string>>& headers) = 0;
};

}  // namespace tidewatt
