// A running server: store, ledger, API, sockets and the threads that keep house.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "server_carbon.h"
#include "server_settings.h"
#include "tidewatt/api/api.h"
#include "tidewatt/keda_grpc/scaler.h"
#include "tidewatt/ledger/ledger.h"
#include "tidewatt/net/file_watch.h"
#include "tidewatt/net/server.h"
#include "tidewatt/os/posix.h"

namespace tidewatt::cli {

class ServerRuntime {
 public:
  /// Opens the store, makes tokens where there are none, listens.
  /// @error what kept it from serving, in one line
  static Result<std::unique_ptr<ServerRuntime>> start(const ServerArguments& arguments, FileSystem& files);
  ~ServerRuntime();
  ServerRuntime(const ServerRuntime&) = delete;
  ServerRuntime& operator=(const ServerRuntime&) = delete;

  /// Where a browser on this machine finds it: "http://127.0.0.1:7310".
  [[nodiscard]] const std::string& url() const { return url_; }
  /// Where a cluster's control plane finds it; empty without kubernetes.listen.
  [[nodiscard]] std::string cluster_url() const;
  /// Of KEDA's external scaler; nullopt without keda.listen.
  [[nodiscard]] std::optional<std::uint16_t> scaler_port() const {
    return scaler_ ? std::optional{scaler_->port()} : std::nullopt;
  }
  /// A fresh one-time login link.
  [[nodiscard]] std::string login_link(std::string_view next);
  [[nodiscard]] const std::string& ops_token() const { return ops_token_; }
  [[nodiscard]] const std::string& agent_token() const { return agent_token_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  /// Takes the certificate and key files as they are now, for new connections; logs how it went. When the
  /// pair can't be used the old one stays. Without TLS nothing happens.
  void reload_certificate();
  /// Lets running requests end, then closes. Idempotent.
  void stop();

 private:
  explicit ServerRuntime(ServerArguments arguments) : arguments_(std::move(arguments)) {}
  Status open(FileSystem& files);
  Status open_store(FileSystem& files);
  void open_carbon(FileSystem& files);
  Status listen();
  Status listen_for_cluster();
  Status listen_for_keda();
  [[nodiscard]] std::string url_of(const std::string& address, std::uint16_t port) const;
  [[nodiscard]] net::ServerOptions server_options(const Endpoint& endpoint) const;
  Result<std::string> keep_token(FileSystem& files, const std::string& file, api::Role role,
                                 const std::string& name);
  void keep_house();
  void look_after_certificate();
  void take_certificate();
  void warn_of_certificate();

  ServerArguments arguments_;
  os::SystemClock clock_;
  os::SecureRng rng_;
  std::unique_ptr<ledger::Store> store_;
  std::unique_ptr<ledger::Ledger> ledger_;
  std::unique_ptr<api::Api> api_;
  std::unique_ptr<net::Server> server_;
  std::unique_ptr<net::Server> cluster_server_;  ///< nullptr without kubernetes.listen
  std::unique_ptr<keda_grpc::Scaler> scaler_;    ///< nullptr without keda.listen
  std::unique_ptr<CarbonThread> carbon_;         ///< nullptr without zones
  std::mutex certificate_mutex_;
  std::unique_ptr<net::FileWatch> certificate_watch_;  ///< nullptr without TLS
  std::string url_;
  std::string ops_token_;
  std::string agent_token_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread housekeeper_;
};

/// From here on SIGINT and SIGTERM don't kill the process: call before any thread is started.
void block_stop_signals();
/// Waits for SIGINT or SIGTERM, at most so long. @return true when one came
bool wait_for_stop(Milliseconds at_most);
/// The same for SIGHUP, too, which asks to read again what can change.
void block_stop_and_reload_signals();
/// Waits for SIGINT, SIGTERM or SIGHUP. A SIGHUP because the terminal went away is a stop.
enum class Asked : std::uint8_t { stop, reload };
Asked wait_for_stop_or_reload();

}  // namespace tidewatt::cli
