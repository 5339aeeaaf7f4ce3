// The HTTP API: requests in, answers out. No sockets: libs/net calls handle() on its worker threads.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tidewatt/api/access.h"
#include "tidewatt/api/power_forward.h"
#include "tidewatt/api/rate_limit.h"
#include "tidewatt/base/clock.h"
#include "tidewatt/base/rng.h"
#include "tidewatt/carbon/cpu_estimate.h"
#include "tidewatt/carbon/factor.h"
#include "tidewatt/carbon/signals.h"
#include "tidewatt/k8s/admission.h"
#include "tidewatt/k8s/cluster_view.h"
#include "tidewatt/k8s/placement.h"
#include "tidewatt/k8s/replica_policy.h"
#include "tidewatt/ledger/ledger.h"
#include "tidewatt/ledger/store.h"
#include "tidewatt/net/http.h"
#include "tidewatt/net/server.h"
#include "tidewatt/oidc/sign_on.h"
#include "tidewatt/reports/policy.h"

namespace tidewatt::api {

/// What a value of the issuer's role claim means here.
struct SsoRole {
  std::string value;
  Role role = Role::viewer;
  std::string team;  ///< of a tenant
};

/// Sign-in through an OpenID Connect issuer.
struct SsoOptions {
  oidc::Options issuer;
  std::vector<SsoRole> roles;  ///< the first that fits counts
  oidc::HttpFactory http;
};

/// A Kubernetes cluster that asks where work should run.
struct KubernetesOptions {
  std::string cluster = "default";  ///< as the agents of its nodes name it
  k8s::ScoreRules scores;
  k8s::ClusterRules nodes;
  k8s::AdmissionRules admission;
  std::map<std::string, WattHours, std::less<>> team_quotas;  ///< by team, for a calendar month (UTC)
  std::map<std::string, k8s::ReplicaPolicy, std::less<>> policies;
};

/// How teams trade their carbon budgets.
struct MarketOptions {
  int carry_percent = 0;    ///< of what is left when a month ends
  bool daily_call = false;  ///< orders meet once a day at one price, not at once
  std::string currency = "EUR";
};

struct ApiOptions {
  std::string version = "0.0.0";
  std::string
      server_run;  ///< differs with each server process: makes monotonic times comparable only inside one
  carbon::FactorInForce factor;
  std::optional<carbon::CpuPowerModel> cpu_model;  ///< nullopt = no CPU estimate
  Milliseconds max_gap{60'000};
  Milliseconds curve_retention{7LL * 24 * 3600 * 1000};
  Milliseconds silent_after{90'000};  ///< a node unheard of for longer is silent, its power unknown
  bool secure_cookies = false;        ///< under TLS
  RateLimit people{50, 200};          ///< per token or session
  RateLimit agents{50'000, 100'000};  ///< a token may be shared by a whole cluster
  RateLimit sign_in{1, 20};           ///< per remote address
  std::shared_ptr<const carbon::Signals> signals;  ///< nullptr = no zone is configured
  reports::Policy accounting;     ///< what the operator states; factor and zones are taken from above
  std::optional<SsoOptions> sso;  ///< nullopt = tokens and login links only
  KubernetesOptions kubernetes;
  MarketOptions market;
  std::shared_ptr<PowerForward> forward;  ///< nullptr = power stays here
};

class Api {
 public:
  /// @param store, ledger, clock, rng outlive this; rng fit for secrets
  Api(ledger::Store& store, ledger::Ledger& ledger, const Clock& clock, Rng& rng, ApiOptions options);
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  /// Thread-safe. Never throws for what a caller sends; the server turns what is thrown into a 500.
  net::Response handle(const net::Request& request);
  /// The same for what comes by the cluster listener: its routes alone, and nobody is asked who they are.
  net::Response handle_cluster(const net::Request& request);
  /// GET /api/v1/stream: nullopt = go on streaming on `sink`.
  std::optional<net::Response> open_stream(const net::Request& request, std::shared_ptr<net::EventSink> sink);
  /// Sends a tick to every open stream, and alerts that came up. Called every 5 s.
  void send_tick();
  /// What a policy of keda.policies wants now; nullopt = there is no such policy. Thread-safe.
  [[nodiscard]] std::optional<int> wanted_replicas(std::string_view policy);
  /// Looks at nodes and signals anew for schedulers' questions. Called every 5 s.
  void renew_cluster_view();
  /// Drops curves past their retention, seals months that are due, renews the conservation gauges. Called
  /// every 30 s.
  Status housekeep();

  [[nodiscard]] Access& access();
  /// What the server counts, for /metrics.
  void set_server_stats(std::function<net::ServerStats()> stats);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidewatt::api
