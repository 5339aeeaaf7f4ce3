#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "tidewatt/base/result.h"
#include "tidewatt/net/http.h"
#include "tidewatt/units/time.h"

namespace tidewatt::net {

/// Sends server-sent events on one connection, from any thread. Bounded: a client that doesn't read is
/// dropped.
class EventSink {
 public:
  virtual ~EventSink() = default;
  /// @return false when the client is gone or too slow: stop sending
  virtual bool send(std::string_view event, std::string_view data) = 0;
  [[nodiscard]] virtual bool open() const = 0;
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;                  ///< 0 = any free port
  std::size_t max_body_bytes = 8U << 20U;  ///< before and after decompression
  std::size_t max_decompression_ratio = 100;
  std::size_t max_header_bytes = 16U << 10U;
  Milliseconds read_timeout{15'000};  ///< for a whole request once its first byte came; slow clients are cut
  Milliseconds idle_timeout{60'000};
  /// Beyond it an idle connection is closed for a new one, the oldest of the address that holds the most; 503
  /// where none is idle. Fewer where the process may not open so many files.
  std::size_t max_connections = 4096;
  std::size_t worker_threads =
      2;  ///< handlers run here, may block: so many for reads (GET), so many for writes
  std::size_t max_queued_requests = 512;  ///< of either kind; beyond it: 503 + Retry-After
  /// The same for writes while the first of their queue has waited for so long, or one more would: senders
  /// can be put off, and shall not all wait. People who wait for a page can't.
  Milliseconds longest_write_wait{500};
  /// By path, the content encoding that its handler unpacks itself: the body reaches it as it was sent.
  std::map<std::string, std::string, std::less<>> own_encodings{};
  std::string tls_certificate_file;  ///< PEM; empty = plain HTTP
  std::string tls_key_file;
};

struct ServerStats {
  std::uint64_t requests = 0, refused_busy = 0, bad_requests = 0, connections = 0, event_streams = 0,
                closed_idle = 0;           ///< for another connection
  std::optional<UtcTime> certificate_end;  ///< of the chain that new connections get; nullopt = no TLS
};

/// HTTP/1.1 server: one io thread and `worker_threads`; HEAD reaches the handler as GET; keep-alive,
/// pipelining-safe, gzip/zstd request bodies, gzip answers when asked (> 1 KiB), Expect: 100-continue,
/// request ids, limits as above with problem+json answers (413, 415, 431, 400, 408, 503).
class Server {
 public:
  /// Called on a worker thread. Exceptions become 500 with the request id.
  using Handler = std::function<Response(const Request&)>;
  /// Called on a worker thread for a GET of its path. It keeps `sink` and returns nullopt: the connection is
  /// an event stream from then on; or it returns an answer and forgets `sink`.
  using StreamHandler =
      std::function<std::optional<Response>(const Request&, std::shared_ptr<EventSink> sink)>;

  /// @error invalid_input (address, an expired certificate), conflict (port taken), io (TLS files, anything
  /// else)
  static Result<std::unique_ptr<Server>> listen(ServerOptions options, Handler handler);
  virtual ~Server() = default;
  /// Requests whose path is `path` become event streams: `on_open` returns nullopt to go on streaming, or an
  /// answer (401, 503, ...) that is sent instead. Call before traffic comes.
  virtual void add_stream(std::string path, StreamHandler on_open) = 0;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  [[nodiscard]] virtual ServerStats stats() const = 0;
  /// Reads the certificate and key files again: connections made from now on get the new pair, those that are
  /// open keep theirs. When the pair can't be used the old one stays. Thread-safe.
  /// @error invalid_input (this server has no TLS, the certificate has expired), io (which file, and what to
  /// do)
  virtual Status reload_tls() = 0;
  /// Stops accepting, lets running requests finish for at most `drain`, then closes. Idempotent.
  virtual void stop(Milliseconds drain) = 0;
};

/// Whether a server could use this pair.
/// @error invalid_input (the certificate has expired), io (which file, and what to do)
Status check_tls_files(const std::string& certificate, const std::string& key);

}  // namespace tidewatt::net
