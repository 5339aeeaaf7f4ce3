// HTTP messages as values, shared by server and client. No Beast in here: it is slow to compile.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidewatt::net {

/// Header names are lower case.
using Headers = std::map<std::string, std::string, std::less<>>;

struct Request {
  std::string method;    ///< "GET", "POST", ...
  std::string path;      ///< percent-decoded, without query
  std::string raw_path;  ///< as sent, without query: split into segments before decoding (ids may hold "%2F")
  std::map<std::string, std::string, std::less<>> query;  ///< decoded; a repeated key keeps its last value
  std::vector<std::pair<std::string, std::string>> query_items;  ///< the same, all of it as sent
  Headers headers;
  std::string body;  ///< decompressed
  std::string remote_address;
  std::string request_id;  ///< from X-Request-Id when sane, else made
  bool tls = false;

  [[nodiscard]] std::optional<std::string_view> header(std::string_view lower_case_name) const;
  [[nodiscard]] std::optional<std::string_view> parameter(std::string_view name) const;
  /// All values of a key that may be repeated, in order; empty when it isn't there.
  [[nodiscard]] std::vector<std::string> parameters(std::string_view name) const;
};

struct Response {
  int status = 200;
  Headers headers;
  std::string body;
};

/// RFC 9457 body. `detail` says what to do.
Response problem(int status, std::string_view code, std::string_view title, std::string_view detail);
Response json_response(int status, std::string body);

}  // namespace tidewatt::net
