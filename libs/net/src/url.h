#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tidewatt/base/result.h"

namespace tidewatt::net {

/// nullopt for "%" without two hex digits and for an encoded NUL.
std::optional<std::string> percent_decode(std::string_view text);

using Query = std::map<std::string, std::string, std::less<>>;
/// "a=1&b=x+y": form-decoded ("+" is a space); a repeated key keeps its last value. nullopt as
/// percent_decode.
std::optional<Query> parse_query(std::string_view text);
using QueryItems = std::vector<std::pair<std::string, std::string>>;
/// The same with every value of a repeated key, in order.
std::optional<QueryItems> parse_query_items(std::string_view text);

/// What stands between method and version on a request's first line.
struct Target {
  std::string path;      ///< decoded
  std::string raw_path;  ///< as sent
  Query query;
  QueryItems query_items;
};
/// Origin form ("/a?b"), absolute form ("http://host/a?b") and "*". nullopt for anything else.
std::optional<Target> parse_target(std::string_view text);

struct Url {
  bool tls = false;
  std::string host;  ///< without brackets
  std::uint16_t port = 0;
  std::string target;       ///< path and query as sent, at least "/"
  std::string host_header;  ///< host and, unless it is the scheme's own, port
};
/// @error invalid_input: not http(s), user info, spaces, a bad port
Result<Url> parse_url(std::string_view text);

}  // namespace tidewatt::net
