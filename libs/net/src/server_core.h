// What all connections of a server share. Everything here belongs to the io thread unless it says otherwise.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>

#include "response_text.h"
#include "tidewatt/net/server.h"
#include "worker_pool.h"

namespace tidewatt::net {

using SteadyClock = std::chrono::steady_clock;
using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

/// A connection as the server sees it.
class ConnectionBase {
 public:
  virtual ~ConnectionBase() = default;
  virtual void start() = 0;
  /// Cuts what took too long, keeps event streams warm.
  virtual void check(SteadyClock::time_point now) = 0;
  /// Closes unless a request is being answered; that answer will be the last.
  virtual void finish_soon() = 0;
  virtual void close_now() = 0;
  /// Since when no request of this one is under way; nullopt = one is.
  [[nodiscard]] virtual std::optional<SteadyClock::time_point> idle_since() const = 0;
  [[nodiscard]] virtual const std::string& remote_address() const = 0;
  /// The io thread is gone: nobody may be woken any more.
  virtual void silence_events() = 0;
};

/// Makes request ids: unguessable where they start, then counted.
class RequestIds {
 public:
  explicit RequestIds(std::uint64_t seed) : next_(seed) {}
  std::string next();

 private:
  std::uint64_t next_;
};

struct ServerCore {
  /// Request bodies held in memory by all connections together; beyond it: 503.
  static constexpr std::size_t kMaxBuffered = 256U << 20U;

  ServerCore(ServerOptions given, Server::Handler on_request, std::uint64_t id_seed);

  void add(ConnectionBase* connection) { connections.insert(connection); }
  void remove(ConnectionBase* connection);
  /// Closes an idle connection to make room: of the address that has the most of them, the oldest.
  /// @return false when none is idle
  bool close_an_idle_one();
  /// To be called whenever `connections` changed.
  void note_emptiness();
  std::string_view date();
  /// Waits until no connection is left. From any other thread.
  bool wait_until_empty(Milliseconds at_most);

  const ServerOptions options;
  const Server::Handler handler;      ///< called by workers
  const std::size_t max_connections;  ///< as the options say, and as the process may have descriptors
  std::map<std::string, Server::StreamHandler, std::less<>> streams;  ///< never changed once traffic comes
  std::unordered_set<ConnectionBase*> connections;
  RequestIds ids;
  bool stopping = false;
  std::size_t buffered = 0;
  std::size_t open_streams = 0;
  std::array<char, 16384> discarded{};  ///< where bytes go that nobody will look at

  // From any thread.
  std::atomic<std::uint64_t> requests{0}, refused_busy{0}, bad_requests{0}, accepted{0}, event_streams{0},
      closed_idle{0};

 private:
  std::int64_t date_second_ = -1;
  std::string date_;
  std::mutex empty_mutex_;
  std::condition_variable empty_changed_;
  bool empty_ = true;

 public:
  // Last, hence gone first: it owns the connections, whose end needs what stands above.
  boost::asio::io_context io{1};
  /// Writes have threads of their own: slow reads (a long export, a month's curve) never delay ingest.
  WorkerPool& pool_of(std::string_view method) { return method == "GET" ? reads : writes; }
  WorkerPool reads;
  WorkerPool writes;
};

}  // namespace tidewatt::net
