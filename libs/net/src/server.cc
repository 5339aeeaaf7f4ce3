#include "tidewatt/net/server.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <ctime>
#include <limits>
#include <thread>

#include "connection.h"
#include "server_core.h"
#include "tidewatt/net/certificate.h"
#include "tidewatt/os/posix.h"

namespace tidewatt::net {

std::string RequestIds::next() { return fmt::format("{:016x}", next_++); }

namespace {

/// What else the process opens (files, pipes to tools, its own connections) needs descriptors too.
constexpr std::size_t kOtherDescriptors = 128;
constexpr std::size_t kFewestConnections = 16;

std::size_t descriptors_for_connections() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<std::size_t>::max();
  const auto all = static_cast<std::size_t>(limit.rlim_cur);
  return std::max(all > kOtherDescriptors ? all - kOtherDescriptors : 0, kFewestConnections);
}

/// Readers wait as long as their connection holds.
constexpr Milliseconds kPatience{60'000};

}  // namespace

ServerCore::ServerCore(ServerOptions given, Server::Handler on_request, std::uint64_t id_seed)
    : options(std::move(given)),
      handler(std::move(on_request)),
      max_connections(std::min(options.max_connections, descriptors_for_connections())),
      ids(id_seed),
      reads(options.worker_threads, options.max_queued_requests, kPatience),
      writes(options.worker_threads, options.max_queued_requests, options.longest_write_wait) {}

void ServerCore::remove(ConnectionBase* connection) {
  connections.erase(connection);
  note_emptiness();
}

bool ServerCore::close_an_idle_one() {
  struct Of {
    std::size_t count = 0;
    ConnectionBase* oldest = nullptr;
    SteadyClock::time_point since;
  };
  std::map<std::string_view, Of> addresses;
  for (auto* connection : connections) {
    const auto since = connection->idle_since();
    if (!since) continue;
    auto& of = addresses[connection->remote_address()];
    if (of.count++ == 0 || *since < of.since) {
      of.oldest = connection;
      of.since = *since;
    }
  }
  const Of* most = nullptr;
  for (const auto& [address, of] : addresses)
    if (most == nullptr || of.count > most->count || (of.count == most->count && of.since < most->since))
      most = &of;
  if (most == nullptr) return false;
  ++closed_idle;
  most->oldest->close_now();
  return true;
}

void ServerCore::note_emptiness() {
  const bool now_empty = connections.empty();
  {
    const std::lock_guard lock{empty_mutex_};
    empty_ = now_empty;
  }
  if (now_empty) empty_changed_.notify_all();
}

bool ServerCore::wait_until_empty(Milliseconds at_most) {
  std::unique_lock lock{empty_mutex_};
  return empty_changed_.wait_for(lock, at_most, [this] { return empty_; });
}

std::string_view ServerCore::date() {
  const std::int64_t second = std::time(nullptr);
  if (second != date_second_) date_ = http_date(second);
  date_second_ = second;
  return date_;
}

namespace {

using boost::asio::ip::tcp;

Result<tcp::endpoint> parse_endpoint(const ServerOptions& options) {
  error_code error;
  const auto address = asio::ip::make_address(options.address, error);
  if (error)
    return fail(ErrorCode::invalid_input,
                fmt::format("can't listen on \"{}\": not an IP address", options.address),
                "give one like 127.0.0.1, 0.0.0.0 or ::");
  return tcp::endpoint{address, options.port};
}

/// What connections are made with. No context = plain HTTP.
struct Tls {
  std::shared_ptr<asio::ssl::context> context;
  std::optional<UtcTime> certificate_end;
};

/// Clients would refuse it one by one, with words that don't reach whoever can renew it.
Result<UtcTime> end_of_certificate(const std::string& file) {
  TW_TRY(const auto pem, os::make_file_system()->read_text(file));
  const auto life = certificate_life(pem);
  if (!life) return tl::unexpected(life.error().with_context(file));
  if (life->end <= os::SystemClock{}.utc_now())
    return fail(ErrorCode::invalid_input,
                fmt::format("{}: the TLS certificate expired at {}", file, format_rfc3339_short(life->end)),
                "renew it; nothing is served with it");
  return life->end;
}

Result<Tls> make_tls(const ServerOptions& options) {
  if (options.tls_certificate_file.empty()) return Tls{};
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_mode(context->native_handle(), SSL_MODE_RELEASE_BUFFERS);  // 34 KiB less per idle connection
  error_code error;
  context->use_certificate_chain_file(options.tls_certificate_file, error);
  if (error)
    return fail(
        ErrorCode::io,
        fmt::format("{}: can't use as TLS certificate: {}", options.tls_certificate_file, error.message()),
        "give a PEM file with the certificate and its chain");
  context->use_private_key_file(options.tls_key_file, asio::ssl::context::pem, error);
  if (error || SSL_CTX_check_private_key(context->native_handle()) != 1)
    return fail(
        ErrorCode::io,
        fmt::format("{}: can't use as key of {}: {}", options.tls_key_file, options.tls_certificate_file,
                    error ? error.message() : "it belongs to another one"),
        "give the PEM file with the certificate's own key, without pass phrase");
  TW_TRY(const auto end, end_of_certificate(options.tls_certificate_file));
  return Tls{std::move(context), end};
}

class ServerImpl final : public Server {
 public:
  ServerImpl(ServerOptions options, Handler handler, Tls tls)
      : core_(std::move(options), std::move(handler), os::SecureRng{}.next()), tls_(std::move(tls)) {}
  ~ServerImpl() override { stop(Milliseconds{0}); }

  Status open(const tcp::endpoint& endpoint);

  void add_stream(std::string path, StreamHandler on_open) override {
    core_.streams.insert_or_assign(std::move(path), std::move(on_open));
  }
  std::uint16_t port() const override { return port_; }
  ServerStats stats() const override {
    const std::lock_guard lock{tls_mutex_};
    return ServerStats{core_.requests,      core_.refused_busy, core_.bad_requests,  core_.accepted,
                       core_.event_streams, core_.closed_idle,  tls_.certificate_end};
  }
  Status reload_tls() override;
  void stop(Milliseconds drain) override;

 private:
  std::shared_ptr<asio::ssl::context> tls();
  void accept();
  void welcome(Socket socket);
  void check_connections();

  // Connections are owned by the operations they wait for: by core_.io.
  ServerCore core_;
  mutable std::mutex tls_mutex_;
  Tls tls_;  ///< without a context: plain HTTP, then and always
  asio::basic_socket_acceptor<tcp, asio::io_context::executor_type> acceptor_{core_.io};
  asio::basic_waitable_timer<SteadyClock, asio::wait_traits<SteadyClock>, asio::io_context::executor_type>
      check_timer_{core_.io};
  asio::basic_waitable_timer<SteadyClock, asio::wait_traits<SteadyClock>, asio::io_context::executor_type>
      accept_pause_{core_.io};
  bool checking_ = false;
  std::uint16_t port_ = 0;
  std::thread io_thread_;
  std::mutex stop_mutex_;
  bool stopped_ = false;
};

std::shared_ptr<asio::ssl::context> ServerImpl::tls() {
  const std::lock_guard lock{tls_mutex_};
  return tls_.context;
}

Status ServerImpl::reload_tls() {
  TW_TRY(auto fresh, make_tls(core_.options));
  if (!fresh.context)
    return fail(ErrorCode::invalid_input, "this server has no TLS", "give it a certificate and a key first");
  // Open connections keep the old context alive themselves, through OpenSSL's count of its users.
  const std::lock_guard lock{tls_mutex_};
  tls_ = std::move(fresh);
  return {};
}

Status ServerImpl::open(const tcp::endpoint& endpoint) {
  const auto failure = [&](const error_code& error) -> tl::unexpected<Error> {
    const bool taken = error == asio::error::address_in_use;
    return fail(
        taken ? ErrorCode::conflict : ErrorCode::io,
        fmt::format("can't listen on {}:{}: {}", core_.options.address, core_.options.port, error.message()),
        taken ? "another program has that port: stop it or choose another port"
              : "choose another address or port");
  };
  error_code error;
  acceptor_.open(endpoint.protocol(), error);
  if (error) return failure(error);
  acceptor_.set_option(asio::socket_base::reuse_address{true}, error);
  if (endpoint.address().is_v6()) acceptor_.set_option(asio::ip::v6_only{false}, error);
  acceptor_.bind(endpoint, error);
  if (error) return failure(error);
  acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) return failure(error);
  port_ = acceptor_.local_endpoint(error).port();
  accept();
  io_thread_ = std::thread{[this] {
    auto busy = asio::make_work_guard(core_.io);
    for (bool ended = false; !ended;) {
      // Out of memory in one connection's step ends that connection, not the server.
      try {
        core_.io.run();
        ended = true;
      } catch (const std::exception& thrown) {
        log::error("a connection failed", {{"cause", thrown.what()}});
      }
    }
  }};
  return {};
}

void ServerImpl::accept() {
  acceptor_.async_accept(core_.io.get_executor(), [this](const error_code& error, Socket socket) {
    if (error == asio::error::operation_aborted || core_.stopping) return;
    if (error) {
      // Out of descriptors, most likely: it would fail again at once, unless room is made.
      const bool full = error == asio::error::no_descriptors || error.value() == ENFILE;
      if (full && core_.close_an_idle_one()) return accept();
      accept_pause_.expires_after(Milliseconds{100});
      accept_pause_.async_wait([this](const error_code& cancelled) {
        if (!cancelled) accept();
      });
      return;
    }
    accept();
    welcome(std::move(socket));
  });
}

void ServerImpl::welcome(Socket socket) {
  ++core_.accepted;
  error_code error;
  const auto peer = socket.remote_endpoint(error);
  if (error) return;  // gone already
  const auto context = tls();
  // Those that only hold a connection make room for one that may have something to say.
  if (core_.connections.size() >= core_.max_connections && !core_.close_an_idle_one()) {
    static constexpr std::string_view kFull =
        "HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: "
        "close\r\n\r\n";
    ++core_.refused_busy;
    socket.non_blocking(true, error);
    if (!context) socket.send(asio::buffer(kFull), 0, error);
    return;
  }
  socket.set_option(tcp::no_delay{true}, error);
  std::shared_ptr<ConnectionBase> connection;
  if (context) {
    using TlsStream = asio::ssl::stream<Socket>;
    connection = std::make_shared<Connection<TlsStream>>(TlsStream{std::move(socket), *context}, core_,
                                                         peer.address().to_string());
  } else {
    connection = std::make_shared<Connection<Socket>>(std::move(socket), core_, peer.address().to_string());
  }
  core_.note_emptiness();
  connection->start();
  if (!checking_) check_connections();
}

/// One timer for all: cheaper than one each, and nothing runs while nobody is connected.
void ServerImpl::check_connections() {
  const auto now = SteadyClock::now();
  const std::vector<ConnectionBase*> all{core_.connections.begin(), core_.connections.end()};
  for (auto* connection : all) connection->check(now);
  checking_ = !core_.connections.empty();
  if (!checking_) return;
  const auto period = std::min(core_.options.read_timeout, core_.options.idle_timeout) / 8;
  check_timer_.expires_after(std::clamp(period, Milliseconds{10}, Milliseconds{1000}));
  check_timer_.async_wait([this](const error_code& error) {
    if (!error) check_connections();
  });
}

void ServerImpl::stop(Milliseconds drain) {
  const std::lock_guard lock{stop_mutex_};
  if (stopped_) return;
  stopped_ = true;
  if (!io_thread_.joinable()) return;
  asio::post(core_.io, [this] {
    core_.stopping = true;
    error_code ignored;
    acceptor_.close(ignored);
    const std::vector<ConnectionBase*> all{core_.connections.begin(), core_.connections.end()};
    for (auto* connection : all) connection->finish_soon();
  });
  core_.wait_until_empty(drain);
  core_.io.stop();
  io_thread_.join();
  core_.reads.stop();
  core_.writes.stop();
  for (auto* connection : core_.connections) {
    connection->silence_events();
    connection->close_now();
  }
}

}  // namespace

Status check_tls_files(const std::string& certificate, const std::string& key) {
  ServerOptions options;
  options.tls_certificate_file = certificate;
  options.tls_key_file = key;
  if (const auto tls = make_tls(options); !tls) return tl::unexpected(tls.error());
  return {};
}

Result<std::unique_ptr<Server>> Server::listen(ServerOptions options, Handler handler) {
  TW_TRY(const tcp::endpoint endpoint, parse_endpoint(options));
  TW_TRY(auto tls, make_tls(options));
  auto server = std::make_unique<ServerImpl>(std::move(options), std::move(handler), std::move(tls));
  TW_TRY_STATUS(server->open(endpoint));
  return server;
}

}  // namespace tidewatt::net
