#include "server_runtime.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>

#include "tidewatt/base/log.h"
#include "tidewatt/net/client.h"
#include "tidewatt/store/memory.h"
#include "tidewatt/store/postgres.h"
#include "tidewatt/store/sqlite.h"
#include "tidewatt/units/text.h"

namespace tidewatt::cli {
namespace {

constexpr Milliseconds kTick{5'000};
constexpr int kTicksPerHousekeeping = 6;
constexpr int kTicksPerDay = 24 * 3600 / 5;
constexpr Milliseconds kCertificateNews{21LL * 24 * 3600 * 1000};
constexpr Milliseconds kDrain{10'000};
/// Schedulers that don't send names alone send every node whole.
constexpr std::size_t kLargestClusterBody = 64U << 20U;

sigset_t stop_signals(bool and_reload = false) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  if (and_reload) sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

void block_stop_signals() {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

bool wait_for_stop(Milliseconds at_most) {
  const sigset_t set = stop_signals();
  timespec timeout{};
  timeout.tv_sec = at_most.count() / 1000;
  timeout.tv_nsec = (at_most.count() % 1000) * 1'000'000;
  return sigtimedwait(&set, nullptr, &timeout) > 0;
}

void block_stop_and_reload_signals() {
  const sigset_t set = stop_signals(true);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Asked wait_for_stop_or_reload() {
  static const bool from_terminal = isatty(STDIN_FILENO) == 1;
  const sigset_t set = stop_signals(true);
  int signal = 0;
  while (sigwait(&set, &signal) != 0) {
  }
  if (signal != SIGHUP || (from_terminal && isatty(STDIN_FILENO) != 1)) return Asked::stop;
  return Asked::reload;
}

Result<std::unique_ptr<ServerRuntime>> ServerRuntime::start(const ServerArguments& arguments,
                                                            FileSystem& files) {
  std::unique_ptr<ServerRuntime> runtime{new ServerRuntime{arguments}};
  TW_TRY_STATUS(runtime->open(files));
  return runtime;
}

Status ServerRuntime::open_store(FileSystem& files) {
  TW_TRY_STATUS(files.make_folders(arguments_.data_folder));
  if (arguments_.store == "memory") {
    store_ = store::make_memory_store();
    return {};
  }
  if (store::is_postgres_url(arguments_.store)) {
    store::PostgresOptions options;
    options.url = arguments_.store;
    options.password = arguments_.store_password;
    TW_TRY(store_, store::open_postgres_store(options));
    return {};
  }
  store::SqliteOptions options;
  options.path = arguments_.data_folder + "/tidewatt.db";
  TW_TRY(store_, store::open_sqlite_store(options));
  return {};
}

/// The token of a file in the data folder. A secret that the store doesn't know (it is new, or in memory) is
/// made known again rather than replaced: agents may already use it. A folder without the file that joins a
/// shared ledger gets none: that ledger has its token, and one more for each folder would be one more that
/// can leak.
/// @return empty where the ledger's token is in another server's folder
Result<std::string> ServerRuntime::keep_token(FileSystem& files, const std::string& file, api::Role role,
                                              const std::string& name) {
  const std::string path = arguments_.data_folder + "/" + file;
  std::string secret;
  if (const auto text = files.read_text(path)) secret = std::string{trim(*text)};
  // From the store, not through Access: asking it would remember the tokens as they are before this one is
  // adopted.
  TW_TRY(const auto records, store_->tokens());
  if (secret.empty() && store::is_postgres_url(arguments_.store)) {
    const auto there = std::find_if(records.begin(), records.end(), [&](const ledger::TokenRecord& r) {
      return r.name == name && r.role == api::to_string(role) && !r.revoked_at && !r.expires_at;
    });
    if (there != records.end()) {
      log::warning(
          "the ledger has this token already, in another server's data folder: copy it here, or make another "
          "one after signing in",
          {{"copy_to", path}, {"token", there->id}, {"name", name}});
      return std::string{};
    }
  }
  if (!secret.empty()) {
    if (records.empty() && arguments_.store != "memory")
      // Tokens outlive a lost or emptied ledger: an empty one beside them is a loss, not a beginning.
      log::warning(
          "the ledger begins empty though this folder was used before: restore a backup if one was lost",
          {{"ledger", store::is_postgres_url(arguments_.store) ? store::without_password(arguments_.store)
                                                               : arguments_.data_folder + "/tidewatt.db"},
           {"used_before", path}});
    const std::string hash = api::sha256_hex(secret);
    const auto same = std::find_if(records.begin(), records.end(),
                                   [&](const ledger::TokenRecord& r) { return r.sha256_hex == hash; });
    if (same != records.end() && !same->revoked_at && !same->expires_at && same->role == api::to_string(role))
      return secret;
    if (same == records.end()) {
      ledger::TokenRecord record;
      record.id = os::random_hex_256(rng_).substr(0, 16);
      record.name = name;
      record.role = std::string{api::to_string(role)};
      record.sha256_hex = hash;
      record.created_at = clock_.utc_now();
      TW_TRY_STATUS(store_->put_token(record));
      TW_TRY_STATUS(
          store_->append_audit({clock_.utc_now(), "server", "token.adopted", record.id + " " + name}));
      return secret;
    }
  }
  TW_TRY(const auto token, api_->access().create_token(name, role, {}, std::nullopt, "server"));
  TW_TRY_STATUS(files.write_atomically(path, token.secret + "\n"));
  return token.secret;
}

void ServerRuntime::open_carbon(FileSystem& files) {
  if (arguments_.carbon.zones.empty()) return;
  arguments_.carbon.cache_folder = arguments_.data_folder + "/carbon";
  net::ClientOptions client;
  client.deadline = arguments_.carbon_timeout;
  client.max_response_bytes = 16U << 20U;
  client.ca_file = arguments_.carbon_ca_file;
  const emma::HttpFactory http = [client] { return net::make_http_client(client); };
  auto mixer = std::make_shared<emma::Emma>(arguments_.carbon, http, files, clock_);
  arguments_.api.signals = mixer;
  const auto& targets = arguments_.carbon_alerts;
  auto alerts = targets.webhook_url.empty() && targets.alertmanager_url.empty()
                    ? nullptr
                    : std::make_unique<emma::ChainAlerts>(targets, http, clock_);
  carbon_ = std::make_unique<CarbonThread>(std::move(mixer), std::move(alerts));
}

net::ServerOptions ServerRuntime::server_options(const Endpoint& endpoint) const {
  net::ServerOptions options;
  options.address = endpoint.address;
  options.port = endpoint.port;
  options.worker_threads = arguments_.workers;
  options.tls_certificate_file = arguments_.tls_certificate;
  options.tls_key_file = arguments_.tls_key;
  return options;
}

Status ServerRuntime::listen() {
  auto options = server_options({arguments_.address, arguments_.port});
  options.own_encodings = {{"/api/v1/write", "snappy"}};
  auto listening =
      net::Server::listen(options, [this](const net::Request& request) { return api_->handle(request); });
  if (!listening)
    return tl::unexpected(
        listening.error().with_context(fmt::format("listen on {}:{}", arguments_.address, arguments_.port)));
  server_ = *std::move(listening);
  server_->add_stream("/api/v1/stream",
                      [this](const net::Request& request, std::shared_ptr<net::EventSink> sink) {
                        return api_->open_stream(request, std::move(sink));
                      });
  return {};
}

Status ServerRuntime::listen_for_cluster() {
  if (!arguments_.cluster_listen) return {};
  const auto& endpoint = *arguments_.cluster_listen;
  auto options = server_options(endpoint);
  options.max_body_bytes = kLargestClusterBody;
  auto listening = net::Server::listen(
      options, [this](const net::Request& request) { return api_->handle_cluster(request); });
  if (!listening)
    return tl::unexpected(listening.error().with_context(
        fmt::format("kubernetes.listen on {}:{}", endpoint.address, endpoint.port)));
  cluster_server_ = *std::move(listening);
  return {};
}

Status ServerRuntime::listen_for_keda() {
  if (!arguments_.keda_listen) return {};
  keda_grpc::ScalerOptions options;
  options.address = arguments_.keda_listen->address;
  options.port = arguments_.keda_listen->port;
  options.tls_certificate_file = arguments_.tls_certificate;
  options.tls_key_file = arguments_.tls_key;
  auto listening = keda_grpc::Scaler::listen(
      options, [this](std::string_view policy) { return api_->wanted_replicas(policy); });
  if (!listening) return tl::unexpected(listening.error().with_context("keda.listen"));
  scaler_ = *std::move(listening);
  return {};
}

std::string ServerRuntime::url_of(const std::string& address, std::uint16_t port) const {
  std::string host = address == "0.0.0.0" ? "127.0.0.1" : address == "::" ? "::1" : address;
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return fmt::format("{}://{}:{}", arguments_.tls_certificate.empty() ? "http" : "https", host, port);
}

std::string ServerRuntime::cluster_url() const {
  return cluster_server_ ? url_of(arguments_.cluster_listen->address, cluster_server_->port())
                         : std::string{};
}

Status ServerRuntime::open(FileSystem& files) {
  TW_TRY_STATUS(open_store(files));
  ledger_ = std::make_unique<ledger::Ledger>(*store_, ledger::Rules{arguments_.api.max_gap});
  open_carbon(files);
  if (!arguments_.forward.url.empty())
    arguments_.api.forward = std::make_shared<RemoteWriteForward>(arguments_.forward, files);
  arguments_.api.server_run = os::random_hex_256(rng_).substr(0, 16);
  api_ = std::make_unique<api::Api>(*store_, *ledger_, clock_, rng_, arguments_.api);
  TW_TRY(ops_token_, keep_token(files, "ops.token", api::Role::ops, "operator"));
  TW_TRY(agent_token_, keep_token(files, "agent.token", api::Role::agent, "agents"));
  if (!arguments_.agent_token_copy.empty() && agent_token_.empty())
    return fail(ErrorCode::conflict,
                fmt::format("{}: there is no agents' token in {} to copy", arguments_.agent_token_copy,
                            arguments_.data_folder),
                "copy agent.token there from the folder of the ledger's first server");
  if (!arguments_.agent_token_copy.empty())
    TW_TRY_STATUS(files.write_atomically(arguments_.agent_token_copy, agent_token_ + "\n"));

  TW_TRY_STATUS(listen());
  TW_TRY_STATUS(listen_for_cluster());
  TW_TRY_STATUS(listen_for_keda());
  if (!arguments_.tls_certificate.empty())
    certificate_watch_ =
        std::make_unique<net::FileWatch>(files, std::vector{arguments_.tls_certificate, arguments_.tls_key});
  api_->set_server_stats([this] { return server_->stats(); });
  url_ = url_of(arguments_.address, server_->port());
  housekeeper_ = std::thread{[this] { keep_house(); }};
  return {};
}

void ServerRuntime::keep_house() {
  int ticks = 0;
  bool failing = false;
  for (;;) {
    if (ticks % kTicksPerHousekeeping == 0) {
      const auto done = api_->housekeep();
      if (!done && !failing) log::error("housekeeping fails", {{"error", done.error().to_string()}});
      if (done && failing) log::info("housekeeping works again");
      failing = !done;
    }
    look_after_certificate();
    if (ticks % kTicksPerDay == 0) warn_of_certificate();
    api_->send_tick();
    if (cluster_server_) api_->renew_cluster_view();
    ++ticks;
    std::unique_lock lock{mutex_};
    if (wake_.wait_for(lock, kTick, [this] { return stopping_; })) return;
  }
}

void ServerRuntime::take_certificate() {
  auto taken = server_->reload_tls();
  if (taken && cluster_server_) taken = cluster_server_->reload_tls();
  if (!taken) {
    log::error("the TLS certificate can't be taken, the one before stays in use",
               {{"error", taken.error().to_string()}});
    return;
  }
  log::info("new connections get the TLS certificate as it is now", {{"file", arguments_.tls_certificate}});
}

void ServerRuntime::warn_of_certificate() {
  const auto end = server_->stats().certificate_end;
  const auto left = end ? *end - clock_.utc_now() : kCertificateNews;
  if (left >= kCertificateNews) return;
  log::warning("the TLS certificate ends soon: renew it, the server takes the new files by itself",
               {{"file", arguments_.tls_certificate},
                {"expires", format_rfc3339_short(*end)},
                {"days", std::to_string(std::chrono::floor<std::chrono::days>(left).count())}});
}

void ServerRuntime::look_after_certificate() {
  const std::scoped_lock lock{certificate_mutex_};
  if (certificate_watch_ && certificate_watch_->settled_change()) take_certificate();
}

void ServerRuntime::reload_certificate() {
  const std::scoped_lock lock{certificate_mutex_};
  if (!certificate_watch_) {
    log::info("asked to reload: there is no TLS certificate, and other settings are read at the start only");
    return;
  }
  certificate_watch_->accept();
  take_certificate();
}

std::string ServerRuntime::login_link(std::string_view next) {
  return fmt::format("{}/login?code={}&next={}", url_, api_->access().make_login_code(), next);
}

void ServerRuntime::stop() {
  {
    const std::scoped_lock lock{mutex_};
    if (stopping_) return;
    stopping_ = true;
  }
  wake_.notify_all();
  if (housekeeper_.joinable()) housekeeper_.join();
  carbon_.reset();
  scaler_.reset();
  if (cluster_server_) cluster_server_->stop(kDrain);
  if (server_) server_->stop(kDrain);
}

ServerRuntime::~ServerRuntime() { stop(); }

}  // namespace tidewatt::cli
