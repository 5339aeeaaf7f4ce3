#include "controller_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../command.h"
#include "../input.h"
#include "../server_runtime.h"
#include "controller_metrics.h"
#include "reconcile.h"
#include "tidewatt/base/log.h"
#include "tidewatt/os/posix.h"
#include "watcher.h"

namespace tidewatt::cli {
namespace {

struct ControllerCommand {
  KubeAccess kube;
  DeskOptions desk;
  ReconcileOptions reconcile;
  std::vector<std::string> zone_map;
  std::string metrics_listen;
  std::string lease_duration = "15s", refresh = "5m", settle = "2m", account_within = "1h";
  k8s::LeaseTimes lease;
};

/// Of this process alone: a host may have had others before.
std::string own_identity() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  os::SecureRng random;
  return fmt::format("{}_{:016x}", host[0] == '\0' ? "tidewatt" : host.data(), random.next());
}

Milliseconds duration_option(const std::string& option, const std::string& text) {
  const auto length = parse_duration(text);
  if (!length) usage_error(option, fmt::format("\"{}\" is no length of time, like 15s or 2m", text));
  return *length;
}

void complete(ControllerCommand& command) {
  for (const auto& entry : command.zone_map) {
    const auto equals = entry.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == entry.size())
      usage_error("--zone-map", fmt::format("\"{}\" is not TOPOLOGY=ZONE, like eu-west-3=FR", entry));
    command.reconcile.zones[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  const auto lease = duration_option("--lease-duration", command.lease_duration);
  if (lease < std::chrono::seconds{2} || lease > std::chrono::minutes{10})
    usage_error("--lease-duration", "give 2s to 10m");
  command.lease.duration = std::chrono::floor<std::chrono::seconds>(lease);
  command.lease.renew_every = lease * 4 / 15;
  command.lease.write_takes = lease / 3;
  command.desk.refresh = duration_option("--refresh", command.refresh);
  command.desk.retry = std::min(command.desk.retry, command.desk.refresh);
  command.reconcile.settle = duration_option("--settle", command.settle);
  command.reconcile.account_within = duration_option("--account-within", command.account_within);
}

/// The threads of a controller.
class Controller {
 public:
  explicit Controller(ControllerCommand command)
      : command_(std::move(command)),
        cache_(held_collections().size()),
        leader_(command_.kube, k8s::LeaseElection{command_.reconcile.identity, command_.lease}, clock_, stop_,
                random_),
        desk_(command_.desk, clock_, stop_, [this] { cache_.wake(); }),
        // Shorter than what the Lease allows: an exchange that is late has ended before another one leads.
        api_(command_.kube, command_.lease.write_takes * 4 / 5),
        reconciler_(api_, cache_, leader_, desk_, command_.reconcile, counts_, clock_, random_) {}

  Status listen() {
    if (command_.metrics_listen.empty()) return {};
    TW_TRY(metrics_, serve_controller_metrics(command_.metrics_listen, counts_,
                                              [this] { return leader_.may_write(); }));
    log::info("metrics and health", {{"port", std::to_string(metrics_->port())}});
    return {};
  }

  void start() {
    deciding_ = std::thread{[this] {
      while (!stop_) cache_.wait(reconciler_.pass());
    }};
    leading_ = std::thread{[this] { leader_.run(); }};
    std::size_t part = 0;
    for (auto& collection : held_collections())
      watchers_.push_back(
          std::make_unique<Watcher>(command_.kube, std::move(collection), cache_, part++, stop_, random_));
    for (const auto& watcher : watchers_) others_.emplace_back([&one = *watcher] { one.run(); });
    others_.emplace_back([this] { desk_.run(); });
  }

  void stop() {
    stop_ = true;
    if (metrics_) metrics_->stop(Milliseconds{100});
    cache_.wake();
    deciding_.join();
    leading_.join();
    leader_.release();  // before those that may hang in a request for a while
    for (auto& thread : others_) thread.join();
  }

 private:
  /// getrandom: safe for all threads.
  os::SecureRng random_;
  os::SystemClock clock_;
  StopFlag stop_{false};
  ControllerCommand command_;
  ControllerCounts counts_;
  HeldCache cache_;
  Leader leader_;
  ServerDesk desk_;
  KubeApi api_;
  Reconciler reconciler_;
  std::vector<std::unique_ptr<Watcher>> watchers_;
  std::thread deciding_, leading_;
  std::vector<std::thread> others_;
  std::unique_ptr<net::Server> metrics_;  ///< last: its answers look at all of the above
};

int run_controller(ControllerCommand command) {
  complete(command);
  if (const auto done = command.kube.complete(); !done) return report("k8s controller", done.error());
  command.reconcile.identity = own_identity();
  if (command.reconcile.zone.empty() && command.reconcile.zones.empty())
    log::warning(
        "no carbon zone is set: what is held is let go at once (--zone DE, --zone-map eu-west-3=FR)");
  log::info("controller begins", {{"api_server", command.kube.url},
                                  {"server", command.desk.server.url},
                                  {"identity", command.reconcile.identity}});
  block_stop_signals();
  Controller controller{std::move(command)};
  if (const auto listening = controller.listen(); !listening)
    return report("k8s controller", listening.error().with_context("--metrics-listen"));
  controller.start();
  while (!wait_for_stop(std::chrono::hours{1})) {
  }
  controller.stop();
  return kOk;
}

}  // namespace

void add_k8s_controller(CLI::App& group, int& exit_code) {
  auto* command = group.add_subcommand(
      "controller",
      "Open the gates of pods, and resume Jobs, in their clean window or at their latest start");
  const auto made = std::make_shared<ControllerCommand>();
  made->kube.add_options(*command);
  made->desk.server.add_options(*command);
  command->add_option("--zone", made->reconcile.zone, "Carbon zone of what asks for no place")
      ->type_name("ZONE");
  command
      ->add_option("--zone-map", made->zone_map,
                   "Carbon zone of a node's topology zone or region; may be repeated")
      ->type_name("TOPOLOGY=ZONE");
  command->add_option("--cluster", made->desk.cluster, "The cluster's name at the server (default default)");
  command
      ->add_option("--metrics-listen", made->metrics_listen,
                   "Serve /metrics and /healthz here (default: nowhere)")
      ->type_name("HOST:PORT");
  command->add_option("--lease-duration", made->lease_duration, "A silent leader is followed after so long")
      ->capture_default_str();
  command->add_option("--refresh", made->refresh, "How often forecasts are asked for")->capture_default_str();
  command->add_option("--settle", made->settle, "From a pod's end until its account is asked for")
      ->capture_default_str();
  command
      ->add_option("--account-within", made->account_within,
                   "From a pod's end until unknown carbon is written as unknown")
      ->capture_default_str();
  command->footer(
      "Example: tidewatt k8s controller --server https://tidewatt.tidewatt.svc:7310 --token-file "
      "viewer.token --zone DE\n"
      "Example: tidewatt k8s controller --kubeconfig ~/.kube/config --zone-map eu-central-1=DE --zone-map "
      "eu-west-3=FR");
  command->callback([made, &exit_code] { exit_code = run_controller(*made); });
}

}  // namespace tidewatt::cli
