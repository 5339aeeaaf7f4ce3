#include "tidewatt/net/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "url.h"

namespace tidewatt::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using SteadyClock = std::chrono::steady_clock;
using Socket = asio::basic_stream_socket<tcp, asio::io_context::executor_type>;
using TlsStream = asio::ssl::stream<Socket>;

constexpr std::uint32_t kMaxHeaderBytes = 16U << 10U;
constexpr std::size_t kMaxBuffer = 2 * kMaxHeaderBytes;
constexpr std::size_t kReadSize = 4096;
constexpr std::size_t kPieceSize = 16U << 10U;
constexpr Milliseconds kAskToGoOn{200};

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c > 0x20 && c < 0x7f && std::string_view{"()<>@,;:\\\"/[]?={}"}.find(c) == std::string_view::npos;
  });
}

/// The request's head. Fails where a value could smuggle in a line of its own.
Result<std::string> head_text(const ClientRequest& request, const Url& url) {
  if (!is_token(request.method))
    return fail(ErrorCode::invalid_input, fmt::format("\"{}\" is no HTTP method", request.method));
  std::string text =
      fmt::format("{} {} HTTP/1.1\r\nhost: {}\r\n", request.method, url.target, url.host_header);
  for (const auto& [name, value] : request.headers) {
    if (!is_token(name) || value.find_first_of(std::string_view{"\r\n\0", 3}) != std::string::npos)
      return fail(ErrorCode::invalid_input,
                  fmt::format("header \"{}\" can't be sent: a line break or a bad name", name));
    if (name == "host" || name == "content-length" || name == "transfer-encoding") continue;
    text += fmt::format("{}: {}\r\n", name, value);
  }
  if (!request.headers.contains("user-agent")) text += "user-agent: tidewatt\r\n";
  if (!request.body.empty() || (request.method != "GET" && request.method != "HEAD"))
    text += fmt::format("content-length: {}\r\n", request.body.size());
  text += "\r\n";
  return text;
}

template <class Message>
Response head_of(const Message& message) {
  Response response;
  response.status = static_cast<int>(message.result_int());
  for (const auto& field : message) {
    std::string name{field.name_string().data(), field.name_string().size()};
    for (char& c : name)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    const std::string_view value{field.value().data(), field.value().size()};
    const auto [place, is_new] = response.headers.try_emplace(std::move(name), value);
    if (!is_new) place->second.append(", ").append(value);
  }
  return response;
}

Response to_response(http::response<http::string_body>&& message) {
  Response response = head_of(message);
  response.body = std::move(message.body());
  return response;
}

class AsioClient final : public HttpClient {
 public:
  explicit AsioClient(ClientOptions options) : options_(std::move(options)) {}

  Result<Response> send(const ClientRequest& request) override;
  Result<Response> stream(const ClientRequest& request, const Streaming& streaming) override;

 private:
  /// How an exchange ended without a response.
  struct Broken {
    Error error;
    bool before_any_byte = false;  ///< the peer had closed: nothing of an answer came
  };
  template <class T>
  using Outcome = tl::expected<T, Broken>;

  template <class Initiate>
  error_code complete(SteadyClock::time_point until, Initiate initiate,
                      const std::function<bool()>& go_on = {});
  Result<std::vector<tcp::endpoint>> resolve(const Url& url);
  Status connect(const Url& url);
  Status connect_any(const Url& url, const std::vector<tcp::endpoint>& endpoints);
  Status start_tls(const Url& url);
  Status prepare_tls();
  Outcome<Response> exchange(const std::string& head, const ClientRequest& request);
  template <class Stream>
  Outcome<Response> exchange_on(Stream& stream, const std::string& head, const ClientRequest& request);
  template <class Stream>
  Result<Response> stream_on(Stream& stream, const std::string& head, const ClientRequest& request,
                             const Streaming& streaming);
  tl::unexpected<Broken> broken(const error_code& error, std::string_view doing, bool before_any_byte) const;
  Error failure(const error_code& error, std::string_view doing) const;
  void disconnect();
  Socket& socket() { return tls_stream_ ? tls_stream_->next_layer() : *plain_; }

  ClientOptions options_;
  asio::io_context io_{1};
  tcp::resolver resolver_{io_};
  std::optional<asio::ssl::context> tls_;  ///< made when the first https URL comes: it costs memory
  std::optional<Socket> plain_;
  std::optional<TlsStream> tls_stream_;
  std::string peer_;   ///< scheme, host and port of the kept connection; empty = none
  std::string where_;  ///< for messages
  SteadyClock::time_point until_;
};

/// Runs one socket operation. At `until` the socket is closed, which ends the operation; so it is when
/// `go_on` says no.
template <class Initiate>
error_code AsioClient::complete(SteadyClock::time_point until, Initiate initiate,
                                const std::function<bool()>& go_on) {
  std::optional<error_code> result;
  initiate([&result](const error_code& error, auto&&...) { result = error; });
  io_.restart();
  while (!result) {
    const auto next = go_on ? std::min(until, SteadyClock::now() + kAskToGoOn) : until;
    if (io_.run_one_until(next) == 0 && (SteadyClock::now() >= until || (go_on && !go_on()))) break;
  }
  if (result) return *result;
  error_code ignored;
  socket().close(ignored);
  io_.restart();
  while (!result) io_.run_one();
  return asio::error::timed_out;
}

Error AsioClient::failure(const error_code& error, std::string_view doing) const {
  if (error == asio::error::timed_out)
    return Error{ErrorCode::timed_out,
                 fmt::format("{}: {}: no end within {} ms", where_, doing, options_.deadline.count()),
                 {}};
  const bool ours = error.category() == http::make_error_code(http::error::bad_chunk).category() &&
                    error != http::error::end_of_stream && error != http::error::partial_message;
  return Error{ours ? ErrorCode::io : ErrorCode::unavailable,
               fmt::format("{}: {}: {}", where_, doing, error.message()),
               {}};
}

tl::unexpected<AsioClient::Broken> AsioClient::broken(const error_code& error, std::string_view doing,
                                                      bool before_any_byte) const {
  const bool closed = error == asio::error::eof || error == asio::error::connection_reset ||
                      error == asio::error::broken_pipe || error == asio::error::connection_aborted ||
                      error == http::error::end_of_stream || error == asio::ssl::error::stream_truncated;
  auto told = failure(error, doing);
  if (before_any_byte && closed && plain_)
    told.hint = "if this port speaks TLS, write https:// instead of http://";
  return tl::unexpected<Broken>(Broken{std::move(told), before_any_byte && closed});
}

Result<std::vector<tcp::endpoint>> AsioClient::resolve(const Url& url) {
  error_code error;
  const auto literal = asio::ip::make_address(url.host, error);
  if (!error) return std::vector{tcp::endpoint{literal, url.port}};

  // A look-up can't be interrupted: when it is late it ends on its own, so it owns where it writes.
  struct Found {
    std::optional<error_code> error;
    std::vector<tcp::endpoint> endpoints;
  };
  const auto found = std::make_shared<Found>();
  resolver_.async_resolve(url.host, std::to_string(url.port), tcp::resolver::numeric_service,
                          [found](const error_code& ended, const tcp::resolver::results_type& results) {
                            for (const auto& entry : results) found->endpoints.push_back(entry.endpoint());
                            found->error = ended;
                          });
  io_.restart();
  while (!found->error && io_.run_one_until(until_) != 0) {
  }
  if (!found->error) {
    resolver_.cancel();
    return tl::unexpected(failure(asio::error::timed_out, "look up the host"));
  }
  if (*found->error || found->endpoints.empty())
    return fail(ErrorCode::unavailable,
                fmt::format("{}: can't look up the host: {}", where_, found->error->message()),
                "check the name and the DNS settings");
  return found->endpoints;
}

Status AsioClient::prepare_tls() {
  if (tls_) return {};
  asio::ssl::context context{asio::ssl::context::tls_client};
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_mode(context.native_handle(), SSL_MODE_RELEASE_BUFFERS);
  error_code error;
  context.set_default_verify_paths(error);
  if (!options_.ca_file.empty()) {
    context.load_verify_file(options_.ca_file, error);
    if (error)
      return fail(ErrorCode::io,
                  fmt::format("{}: can't use as CA certificates: {}", options_.ca_file, error.message()),
                  "give a readable PEM file");
  }
  if (!options_.ca_pem.empty()) {
    context.add_certificate_authority(asio::buffer(options_.ca_pem), error);
    if (error)
      return fail(ErrorCode::invalid_input,
                  "the CA certificates given as text can't be used: " + error.message());
  }
  context.set_verify_mode(options_.insecure ? asio::ssl::verify_none : asio::ssl::verify_peer, error);
  tls_.emplace(std::move(context));
  return {};
}

Status AsioClient::start_tls(const Url& url) {
  TlsStream& stream = *tls_stream_;
  error_code not_an_address;
  asio::ip::make_address(url.host, not_an_address);
  if (not_an_address)  // SSL_set_tlsext_host_name, which is a macro with a C cast
    SSL_ctrl(stream.native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
             const_cast<char*>(url.host.c_str()));
  if (!options_.insecure) stream.set_verify_callback(asio::ssl::host_name_verification{url.host});
  const auto error = complete(
      until_, [&](auto done) { stream.async_handshake(asio::ssl::stream_base::client, std::move(done)); });
  if (!error) return {};
  if (error == asio::error::timed_out) return tl::unexpected(failure(error, "TLS handshake"));
  const long verdict = SSL_get_verify_result(stream.native_handle());
  // What the check of the name says by itself names neither.
  if (verdict == X509_V_ERR_UNSPECIFIED || verdict == X509_V_ERR_HOSTNAME_MISMATCH)
    return fail(ErrorCode::io,
                fmt::format("{}: the certificate is for another name than {}", where_, url.host),
                "ask the server by a name that stands in its certificate, or let one be made with this name");
  if (verdict == X509_V_ERR_CERT_HAS_EXPIRED || verdict == X509_V_ERR_CERT_NOT_YET_VALID)
    return fail(ErrorCode::io,
                fmt::format("{}: TLS handshake failed: {}", where_, X509_verify_cert_error_string(verdict)),
                "give the server a certificate that is valid now, or set this machine's clock");
  return fail(
      ErrorCode::io,
      fmt::format("{}: TLS handshake failed: {}", where_,
                  verdict == X509_V_OK ? error.message() : X509_verify_cert_error_string(verdict)),
      verdict == X509_V_OK ? "check that the server's name is in its certificate and that it speaks TLS 1.2"
      : options_.ca_file.empty()
          ? fmt::format("give the CA that signed the server's certificate: {}", options_.how_to_give_ca)
          : fmt::format("{} doesn't hold the CA that signed the server's certificate; give that one: {}",
                        options_.ca_file, options_.how_to_give_ca));
}

Status AsioClient::connect_any(const Url& url, const std::vector<tcp::endpoint>& endpoints) {
  error_code error;
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    if (url.tls) {
      tls_stream_.emplace(Socket{io_}, *tls_);
    } else {
      plain_.emplace(io_);
    }
    // An address that swallows packets must not eat the time of the next one.
    const auto now = SteadyClock::now();
    const auto share = (until_ - now) / static_cast<SteadyClock::rep>(endpoints.size() - i);
    error = complete(now + share, [&](auto done) { socket().async_connect(endpoints[i], std::move(done)); });
    if (!error) break;
    disconnect();
  }
  if (error == asio::error::timed_out) return tl::unexpected(failure(error, "connect"));
  if (error)
    return fail(ErrorCode::unavailable, fmt::format("{}: can't connect: {}", where_, error.message()),
                "check that the server runs and that its address and port are right");
  error_code ignored;
  socket().set_option(tcp::no_delay{true}, ignored);
  return {};
}

Status AsioClient::connect(const Url& url) {
  if (url.tls) TW_TRY_STATUS(prepare_tls());
  TW_TRY(const auto endpoints, resolve(url));
  TW_TRY_STATUS(connect_any(url, endpoints));
  if (!url.tls) return {};
  auto secured = start_tls(url);
  if (!secured) disconnect();
  return secured;
}

void AsioClient::disconnect() {
  peer_.clear();
  tls_stream_.reset();
  plain_.reset();
}

AsioClient::Outcome<Response> AsioClient::exchange(const std::string& head, const ClientRequest& request) {
  if (tls_stream_) return exchange_on(*tls_stream_, head, request);
  return exchange_on(*plain_, head, request);
}

template <class Stream>
AsioClient::Outcome<Response> AsioClient::exchange_on(Stream& stream, const std::string& head,
                                                      const ClientRequest& request) {
  const std::array<asio::const_buffer, 2> parts{asio::buffer(head), asio::buffer(request.body)};
  const auto write_error =
      complete(until_, [&](auto done) { asio::async_write(stream, parts, std::move(done)); });
  if (write_error == asio::error::timed_out) return broken(write_error, "send", false);

  // Also after a failed write: a server may answer "too large" and close before it has read all.
  beast::flat_buffer buffer{kMaxBuffer};
  buffer.reserve(kReadSize);
  for (;;) {
    http::response_parser<http::string_body> parser;
    parser.header_limit(kMaxHeaderBytes);
    parser.body_limit(options_.max_response_bytes);
    parser.skip(request.method == "HEAD");
    const auto error =
        complete(until_, [&](auto done) { http::async_read(stream, buffer, parser, std::move(done)); });
    if (error == http::error::body_limit)
      return tl::unexpected<Broken>(
          Broken{{ErrorCode::io,
                  fmt::format("{}: the answer is larger than {} bytes", where_, options_.max_response_bytes),
                  "ask for less at once"}});
    if (error) {
      const bool nothing_came = !parser.got_some() && buffer.size() == 0;
      return write_error && nothing_came ? broken(write_error, "send", true)
                                         : broken(error, "read the answer", nothing_came);
    }
    const auto status = parser.get().result_int();
    if (status >= 100 && status < 200) continue;  // "100 Continue" and the like announce the real answer
    if (!parser.get().keep_alive() || write_error || buffer.size() != 0) peer_.clear();
    return to_response(parser.release());
  }
}

Result<Response> AsioClient::send(const ClientRequest& request) {
  TW_TRY(const Url url, parse_url(request.url));
  TW_TRY(const std::string head, head_text(request, url));
  until_ = SteadyClock::now() + options_.deadline;
  where_ = fmt::format("{} {}://{}{}", request.method, url.tls ? "https" : "http", url.host_header,
                       url.target.substr(0, url.target.find('?')));
  const std::string peer = fmt::format("{}://{}", url.tls ? "https" : "http", url.host_header);
  const bool kept = peer_ == peer;
  for (bool first = true;; first = false) {
    if (!first || !kept) {
      disconnect();
      TW_TRY_STATUS(connect(url));
    }
    peer_ = peer;
    auto outcome = exchange(head, request);
    if (outcome) {
      if (peer_.empty()) disconnect();
      return std::move(*outcome);
    }
    disconnect();
    // A kept connection may have been closed at any time: then, and only then, the request was not seen.
    if (!first || !kept || !outcome.error().before_any_byte)
      return tl::unexpected(std::move(outcome.error().error));
  }
}

template <class Stream>
Result<Response> AsioClient::stream_on(Stream& stream, const std::string& head, const ClientRequest& request,
                                       const Streaming& streaming) {
  const std::array<asio::const_buffer, 2> parts{asio::buffer(head), asio::buffer(request.body)};
  if (const auto error =
          complete(until_, [&](auto done) { asio::async_write(stream, parts, std::move(done)); }))
    return tl::unexpected(failure(error, "send"));
  beast::flat_buffer buffer{kMaxBuffer};
  http::response_parser<http::buffer_body> parser;
  parser.header_limit(kMaxHeaderBytes);
  parser.body_limit(boost::none);
  if (const auto error = complete(
          until_, [&](auto done) { http::async_read_header(stream, buffer, parser, std::move(done)); },
          streaming.go_on))
    return tl::unexpected(failure(error, "read the answer"));
  Response response = head_of(parser.get());
  std::array<char, kPieceSize> piece{};
  while (!parser.is_done()) {
    auto& body = parser.get().body();
    body.data = piece.data();
    body.size = piece.size();
    const auto error = complete(
        SteadyClock::now() + streaming.silence,
        [&](auto done) { http::async_read_some(stream, buffer, parser, std::move(done)); }, streaming.go_on);
    if (streaming.go_on && !streaming.go_on()) return response;
    if (error && error != http::error::need_buffer)
      return tl::unexpected(failure(error, "read the answer as it comes"));
    const std::string_view got{piece.data(), piece.size() - body.size};
    if (response.status != 200) {
      response.body += got.substr(0, options_.max_response_bytes - response.body.size());
      if (response.body.size() == options_.max_response_bytes) return response;
    } else if (!got.empty() && !streaming.on_piece(got)) {
      return response;
    }
  }
  return response;
}

Result<Response> AsioClient::stream(const ClientRequest& request, const Streaming& streaming) {
  TW_TRY(const Url url, parse_url(request.url));
  TW_TRY(const std::string head, head_text(request, url));
  until_ = SteadyClock::now() + options_.deadline;
  where_ = fmt::format("{} {}://{}{}", request.method, url.tls ? "https" : "http", url.host_header,
                       url.target.substr(0, url.target.find('?')));
  disconnect();
  TW_TRY_STATUS(connect(url));
  auto answer = tls_stream_ ? stream_on(*tls_stream_, head, request, streaming)
                            : stream_on(*plain_, head, request, streaming);
  disconnect();
  return answer;
}

}  // namespace

std::unique_ptr<HttpClient> make_http_client(ClientOptions options) {
  return std::make_unique<AsioClient>(std::move(options));
}

}  // namespace tidewatt::net
