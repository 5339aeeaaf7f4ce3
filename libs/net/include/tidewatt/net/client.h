#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "tidewatt/base/http_get.h"
#include "tidewatt/base/result.h"
#include "tidewatt/net/http.h"
#include "tidewatt/units/time.h"

namespace tidewatt::net {

struct ClientRequest {
  std::string method = "GET";
  std::string url;  ///< http:// or https://
  Headers headers;
  std::string body;
};

struct ClientOptions {
  Milliseconds deadline{10'000};  ///< for the whole exchange
  std::size_t max_response_bytes = 64U << 20U;
  std::string ca_file{};  ///< PEM to trust besides the system's store
  std::string ca_pem{};   ///< the same as text
  /// How a person gives it, for the hint of an error.
  std::string how_to_give_ca = "--ca-file, or ca_file in the settings";
  /// Neither certificate nor host name is verified: only for devices with a certificate of their own making.
  bool insecure = false;
};

/// How a body that comes in pieces over a long time is taken.
struct Streaming {
  Milliseconds silence{60'000};  ///< when so long nothing came, the exchange ends: timed_out
  std::function<bool(std::string_view piece)> on_piece;  ///< of a 200's body; false ends the exchange
  std::function<bool()> go_on;  ///< asked several times a second while nothing comes; false ends the exchange
};

/// Sends one request at a time, keeps the connection when it can. Injected where code talks to a server.
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  /// @error unavailable (refused, reset, DNS), timed_out, invalid_input (bad URL), io (TLS)
  virtual Result<Response> send(const ClientRequest& request) = 0;
  /// Sends one request on a connection of its own. The deadline holds up to the answer's head. A 200's body
  /// goes to `on_piece` as it comes; any other status comes with its body, cut at the bound.
  /// @return also where `on_piece` or `go_on` ended it
  /// @error as send()
  virtual Result<Response> stream(const ClientRequest& request, const Streaming& streaming) = 0;
};

/// What is wrong with `url` as the address of a server below which paths are called, in words with the URL
/// (without a password in it); empty when nothing is.
std::string server_url_problem(std::string_view url);

/// Asio + OpenSSL; certificates and host names are verified. Not thread-safe: one per thread.
std::unique_ptr<HttpClient> make_http_client(ClientOptions options);

/// The same, as what asks other machines only for documents.
std::unique_ptr<HttpGet> make_http_get(ClientOptions options);

}  // namespace tidewatt::net
