// How the client commands reach a server: where it is, and with which token.
#pragma once

#include <memory>
#include <string>

#include "tidewatt/base/result.h"
#include "tidewatt/net/client.h"

namespace CLI {
class App;
}

namespace tidewatt::cli {

struct ServerAccess {
  std::string url = "http://127.0.0.1:7310";
  std::string
      token_file;  ///< empty: TIDEWATT_TOKEN, else the files that a server and a demo of this user wrote
  std::string ca_file;
  bool anonymous = false;  ///< no token is sent

  /// Adds --server, --token-file and --ca-file.
  void add_options(CLI::App& command);
};

/// GETs `path_and_query` ("/api/v1/nodes/n1/energy?range=24h") and returns the body of a 200 answer.
/// @error what went wrong in one line: not reachable, no right, or the server's own problem `detail`
Result<std::string> get(const ServerAccess& access, const std::string& path_and_query);
/// The same with another method; the body of any 2xx answer. `body` is JSON, empty = none.
Result<std::string> request(const ServerAccess& access, const std::string& method,
                            const std::string& path_and_query, const std::string& body);
/// The same with its headers, names in lower case.
Result<net::Response> get_answer(const ServerAccess& access, const std::string& path_and_query);
/// The status code and body whatever they are.
Result<net::Response> get_any(const ServerAccess& access, const std::string& path_and_query);
/// The file whose token the server takes; empty: it isn't from a file, or none is taken.
std::string token_file_in_use(const ServerAccess& access);
/// Why the token that would be sent can't be read; success when it can, or when none is named.
Status token_is_readable(const ServerAccess& access);
/// Where a server of this user keeps its data unless told otherwise.
std::string default_data_folder();
/// Why this is no URL of a server; empty when it is one.
std::string url_problem(const std::string& url);
/// Percent-encodes one path segment or query value.
std::string encode_component(std::string_view text);

}  // namespace tidewatt::cli
