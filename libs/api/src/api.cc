#include "tidewatt/api/api.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "core.h"
#include "energy_view.h"
#include "handlers.h"
#include "policy_now.h"
#include "routes.h"
#include "tenant_view.h"
#include "tidewatt/base/log.h"
#include "tidewatt/ledger/months.h"
#include "token_view.h"
#include "web.h"

namespace tidewatt::api {
namespace {

constexpr std::string_view kStreamPath = "/api/v1/stream";
constexpr std::size_t kMostStreams = 1'000;
constexpr Milliseconds kLookForMonths{10LL * 60 * 1000};
/// A failure that lasts is told once in this time, not once a request.
constexpr Milliseconds kSameFailureAgain{10LL * 60 * 1000};

bool is_api_path(std::string_view path) {
  return path.starts_with("/api/") || path == "/api" || path == "/login" || path.starts_with("/login/") ||
         path.starts_with("/k8s/") || path.starts_with("/v1/") || path == "/healthz" || path == "/readyz" ||
         path == "/metrics";
}

/// GETs that change something: a one-time link is used, a flow begins or ends.
bool is_sign_in_step(std::string_view path) { return path == "/login" || path.starts_with("/login/"); }

bool is_loopback(std::string_view address) {
  return address == "::1" || address.starts_with("127.") || address.starts_with("::ffff:127.");
}

constexpr std::string_view kBearer = "Bearer ";

/// The scheme's case doesn't matter.
bool is_bearer(std::string_view header) {
  return header.size() > kBearer.size() &&
         std::equal(kBearer.begin(), kBearer.end(), header.begin(),
                    [](char expected, char c) { return (expected | 0x20) == (c | 0x20); });
}

/// What authentication gave: somebody, nobody, or why not.
struct Caller {
  std::optional<Principal> principal;
  std::optional<net::Response> refusal;
};

Caller authenticate(Core& core, const net::Request& request) {
  Caller caller;
  if (const auto header = request.header("authorization")) {
    if (!is_bearer(*header)) {
      caller.refusal = problem_answer("invalid_token", "the Authorization header is no \"Bearer TOKEN\"");
      return caller;
    }
    auto principal = core.access.by_token(header->substr(kBearer.size()));
    if (!principal) {
      caller.refusal = problem_answer(principal.error());
    } else if (!*principal) {
      core.access.note_refused_token(request.remote_address);
      caller.refusal = problem_answer("invalid_token",
                                      "no such token, or it is revoked or expired: ask an operator for one");
    } else {
      caller.principal = **principal;
    }
    return caller;
  }
  const std::string cookie = session_cookie(request);
  if (cookie.empty()) return caller;
  auto principal = core.access.by_session(cookie);
  if (!principal)
    caller.refusal = problem_answer(principal.error());
  else if (*principal)
    caller.principal = **principal;
  return caller;
}

net::Response rate_limited(Milliseconds wait) {
  auto response =
      problem_answer("rate_limited", "too many requests with this token: wait as Retry-After says");
  response.headers["retry-after"] = std::to_string((wait.count() + 999) / 1000);
  return response;
}

std::string methods_of(std::string_view raw_path) {
  std::set<std::string_view> methods;
  for (const auto& route : routes())
    if (match_path(route.info.path, raw_path)) methods.insert(route.info.method);
  std::string text;
  for (const auto method : methods) text += (text.empty() ? "" : ", ") + std::string{method};
  return text;
}

/// FNV-1a: an ETag needs no secret, only to differ.
std::string etag_of(std::string_view body) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : body) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return fmt::format("\"{:016x}-{:x}\"", hash, body.size());
}

void finish_get(const net::Request& request, net::Response& response) {
  if (response.status != 200 || response.headers.contains("etag")) return;
  const std::string etag = etag_of(response.body);
  response.headers["etag"] = etag;
  if (!matches_etag(request, etag)) return;
  response.status = 304;
  response.body.clear();
}

/// Who asks by the cluster listener, as far as anybody knows.
Principal cluster_listener_principal() {
  Principal principal;
  principal.role = Role::cluster;
  principal.name = "cluster listener";
  return principal;
}

struct Stream {
  std::shared_ptr<net::EventSink> sink;
  Principal principal;
};

}  // namespace

struct Api::Impl {
  Core core;
  std::mutex streams_mutex;
  std::vector<Stream> streams;
  std::set<std::string> known_alerts;
  std::optional<SteadyTime> months_looked_at;

  std::optional<net::Response> admit(const net::Request& request, const Route& route, Principal& principal);
  net::Response dispatch(const net::Request& request, Principal& principal);
  net::Response dispatch_cluster(const net::Request& request);
  /// Calls the route's handler for somebody who is let in.
  net::Response serve(const net::Request& request, const Route& route, const Principal& principal,
                      std::vector<std::string> ids);
  /// What every answer gets: nothing inner, headers, counts.
  void finish(const net::Request& request, net::Response& response, const Principal& principal,
              SteadyTime started);
  /// Keeps from everybody but operators what a failed store says, and tells the log.
  void conceal(net::Response& response, const Principal& principal);

  std::mutex failure_mutex;
  std::string told_failure;
  SteadyTime told_failure_at{};
};

/// @return why not; nullopt = let in, `principal` says who
std::optional<net::Response> Api::Impl::admit(const net::Request& request, const Route& route,
                                              Principal& principal) {
  const bool open =
      route.info.roles.is_anyone() || (route.info.path == "/metrics" && is_loopback(request.remote_address));
  if (open) return std::nullopt;
  Caller caller = authenticate(core, request);
  if (caller.refusal) return std::move(caller.refusal);
  if (!caller.principal)
    return problem_answer("not_signed_in", "send Authorization: Bearer TOKEN, or sign in at /login-page");
  principal = *std::move(caller.principal);
  // Before the role is looked at: being refused costs us as much as being answered.
  const bool is_program = principal.role == Role::agent || principal.role == Role::cluster;
  const auto& limit = is_program ? core.options.agents : core.options.people;
  const std::string key =
      principal.token_id.empty() ? "login " + session_cookie(request) : principal.token_id;
  if (const auto wait = core.limiter.take(key, limit, core.clock.mono_now())) return rate_limited(*wait);
  if (principal.by_cookie && request.method != "GET" && request.method != "HEAD" &&
      request.header("x-tidewatt-csrf") != std::string_view{"1"})
    return problem_answer(
        "csrf", "requests with the session cookie that change something need the header X-Tidewatt-CSRF: 1");
  if (!route.info.roles.has(principal.role))
    return problem_answer("forbidden", fmt::format("role {} may not {} {}", to_string(principal.role),
                                                   route.info.method, route.info.path));
  return std::nullopt;
}

void Api::Impl::conceal(net::Response& response, const Principal& principal) {
  const bool is_operator = principal.role == Role::ops;
  const auto failure = conceal_inner_failure(response, is_operator);
  if (!failure) return;
  const auto now = core.clock.mono_now();
  {
    const std::scoped_lock lock{failure_mutex};
    if (*failure == told_failure && now - told_failure_at < kSameFailureAgain) return;
    told_failure = *failure;
    told_failure_at = now;
  }
  log::error("requests fail", {{"error", *failure}});
}

net::Response Api::Impl::serve(const net::Request& request, const Route& route, const Principal& principal,
                               std::vector<std::string> ids) {
  const bool is_get = route.info.method == "GET";
  net::Response response = route.handler(core, Call{request, principal, std::move(ids)});
  response.headers.try_emplace("cache-control", is_get ? "private, no-cache" : "no-store");
  if (is_get) finish_get(request, response);
  return response;
}

net::Response Api::Impl::dispatch_cluster(const net::Request& request) {
  const std::string_view method =
      request.method == "HEAD" ? std::string_view{"GET"} : std::string_view{request.method};
  const std::string& raw_path = request.raw_path.empty() ? request.path : request.raw_path;
  for (const auto& route : routes()) {
    if (!route.info.cluster_listener || route.info.method != method) continue;
    if (auto ids = match_path(route.info.path, raw_path))
      return serve(request, route, cluster_listener_principal(), *std::move(ids));
  }
  return problem_answer(
      "not_found", fmt::format("there is no {} {} on the cluster listener", request.method, request.path));
}

net::Response Api::Impl::dispatch(const net::Request& request, Principal& principal) {
  const std::string_view method =
      request.method == "HEAD" ? std::string_view{"GET"} : std::string_view{request.method};
  const std::string& raw_path = request.raw_path.empty() ? request.path : request.raw_path;
  if (!is_api_path(raw_path)) {
    if (method != "GET") {
      auto response =
          problem_answer("method_not_allowed", fmt::format("{} is not for pages: use GET", request.method));
      response.headers["allow"] = "GET";
      return response;
    }
    return serve_web(request);
  }
  for (const auto& route : routes()) {
    if (route.info.method != method) continue;
    auto ids = match_path(route.info.path, raw_path);
    if (!ids) continue;
    if (request.method == "HEAD" && is_sign_in_step(route.info.path)) {
      auto response = problem_answer("method_not_allowed",
                                     "HEAD is not for a sign-in, which a look ahead would use up: use GET");
      response.headers["allow"] = "GET";
      return response;
    }
    if (auto refusal = admit(request, route, principal)) return *std::move(refusal);
    return serve(request, route, principal, *std::move(ids));
  }
  if (const auto allowed = methods_of(raw_path); !allowed.empty()) {
    auto response = problem_answer("method_not_allowed",
                                   fmt::format("{} is not allowed here: use {}", request.method, allowed));
    response.headers["allow"] = allowed;
    return response;
  }
  return problem_answer(
      "not_found", fmt::format("there is no {} {}: see /api/openapi.json", request.method, request.path));
}

void Api::Impl::finish(const net::Request& request, net::Response& response, const Principal& principal,
                       SteadyTime started) {
  conceal(response, principal);
  add_security_headers(response, request.tls);
  const auto status_class = static_cast<std::size_t>(response.status / 100);
  if (status_class < core.metrics.answers.size())
    core.metrics.answers.at(status_class).fetch_add(1, std::memory_order_relaxed);
  const auto took = core.clock.mono_now() - started;
  core.metrics.requests.observe(Seconds{static_cast<double>(took.count()) / 1000.0});
}

Api::Api(ledger::Store& store, ledger::Ledger& ledger, const Clock& clock, Rng& rng, ApiOptions options)
    : impl_(new Impl{{store,
                      ledger,
                      clock,
                      std::move(options),
                      Access{store, clock, rng},
                      {},
                      {},
                      {},
                      SpanBooks{clock},
                      {},
                      {},
                      {},
                      {},
                      {},
                      {},
                      {},
                      {},
                      {},
                      {},
                      {},
                      {},
                      {},
                      {},
                      {},
                      std::make_unique<MarketDesk>(store),
                      std::make_unique<KeptAnswers>(clock, thread_cpu, KeptAnswers::Rule{})},
                     {},
                     {},
                     {},
                     {},
                     {},
                     {},
                     {}}) {
  if (const auto& sso = impl_->core.options.sso)
    impl_->core.sign_on = std::make_unique<oidc::SignOn>(sso->issuer, sso->http, clock, rng);
  impl_->core.kept->start();
  ledger.watch(&impl_->core.span_books);
}
Api::~Api() {
  auto& ledger = impl_->core.ledger;
  if (ledger.watched_by() == &impl_->core.span_books) ledger.watch(nullptr);
}

net::Response Api::handle(const net::Request& request) {
  const auto started = impl_->core.clock.mono_now();
  Principal principal;
  net::Response response = impl_->dispatch(request, principal);
  impl_->finish(request, response, principal, started);
  return response;
}

net::Response Api::handle_cluster(const net::Request& request) {
  const auto started = impl_->core.clock.mono_now();
  net::Response response = impl_->dispatch_cluster(request);
  impl_->finish(request, response, cluster_listener_principal(), started);
  return response;
}

std::optional<int> Api::wanted_replicas(std::string_view policy) {
  const auto found = asked_policy(impl_->core, policy);
  return found ? std::optional{found->wanted.replicas} : std::nullopt;
}

void Api::renew_cluster_view() { impl_->core.renew_cluster_view(); }

std::optional<net::Response> Api::open_stream(const net::Request& request,
                                              std::shared_ptr<net::EventSink> sink) {
  for (const auto& route : routes()) {
    if (route.info.path != kStreamPath) continue;
    Principal principal;
    if (auto refusal = impl_->admit(request, route, principal)) {
      impl_->conceal(*refusal, principal);
      add_security_headers(*refusal, request.tls);
      return refusal;
    }
    const std::scoped_lock lock{impl_->streams_mutex};
    if (impl_->streams.size() >= kMostStreams)
      return problem_answer("unavailable", fmt::format("{} streams are open: try again later", kMostStreams));
    impl_->streams.push_back({std::move(sink), std::move(principal)});
    return std::nullopt;
  }
  return problem_answer("not_found", "there is no stream");
}

void Api::send_tick() {
  Core& core = impl_->core;
  std::vector<Stream> open;
  {
    const std::scoped_lock lock{impl_->streams_mutex};
    std::erase_if(impl_->streams, [&core](const Stream& stream) {
      return !stream.sink->open() || !core.access.still_valid(stream.principal);
    });
    open = impl_->streams;
  }
  if (open.empty()) return;
  const auto nodes = core.store.nodes();
  if (!nodes) return;
  const Principal overview{Role::viewer, {}, {}, {}, {}, false};
  const std::string tick =
      tick_json(core, overview, *nodes).dump(-1, ' ', false, Json::error_handler_t::replace);
  std::vector<std::string> fresh_alerts;
  std::set<std::string> now;
  const auto alerts = alerts_of(core, *nodes, {});
  for (const auto& alert : alerts.shown) {
    std::string name =
        fmt::format("{} {}", alert.at("kind").get<std::string>(), alert.at("subject").get<std::string>());
    if (!impl_->known_alerts.contains(name))
      fresh_alerts.push_back(alert.dump(-1, ' ', false, Json::error_handler_t::replace));
    now.insert(std::move(name));
  }
  impl_->known_alerts = std::move(now);
  for (const auto& stream : open) {
    if (stream.principal.role == Role::tenant) {
      const net::Request nothing;
      const auto view = tenant_view(core, Call{nothing, stream.principal, {}}, nullptr);
      if (!view) continue;
      auto own = *nodes;
      std::erase_if(own, [&](const auto& node) {
        return !view->nodes.contains({node->key.cluster, node->key.node_id});
      });
      stream.sink->send(
          "tick",
          tick_json(core, stream.principal, own).dump(-1, ' ', false, Json::error_handler_t::replace));
    } else {
      stream.sink->send("tick", tick);
      for (const auto& alert : fresh_alerts) stream.sink->send("alert", alert);
    }
    core.metrics.events_sent.fetch_add(1, std::memory_order_relaxed);
  }
}

Status Api::housekeep() {
  Core& core = impl_->core;
  core.access.tell_failures();
  auto audit = ledger::audit(core.store);
  if (audit) {
    const WideMicrojoules nothing{};
    if (audit->devices_minus_nodes != nothing || audit->tasks_and_unattributed_minus_nodes != nothing)
      log::error(
          "the ledger's sums differ",
          {{"devices_minus_nodes_uj", audit->devices_minus_nodes.to_string()},
           {"tasks_and_unattributed_minus_nodes_uj", audit->tasks_and_unattributed_minus_nodes.to_string()}});
    const std::scoped_lock lock{core.metrics.audit_mutex};
    core.metrics.audit = *audit;
  }
  if (const auto now = core.clock.mono_now();
      !impl_->months_looked_at || now - *impl_->months_looked_at >= kLookForMonths) {
    impl_->months_looked_at = now;
    TW_TRY(const auto apart, ledger::audit_team_hours(core.store));
    if (apart != WideMicrojoules{})
      log::error("the sums by team differ from the ledger's rows", {{"difference_uj", apart.to_string()}});
    {
      const std::scoped_lock lock{core.metrics.audit_mutex};
      core.metrics.team_hours_difference = apart;
    }
    TW_TRY(const auto made, ledger::seal_due(core.store, core.clock.utc_now()));
    for (const auto& seal : made)
      log::info("a month is sealed", {{"month", ledger::to_string(seal.month)}, {"hash", seal.hash}});
  }
  if (const auto tended = tend_market(core); !tended)
    log::warning("the carbon market isn't up to date", {{"error", tended.error().to_string()}});
  TW_TRY_STATUS(core.store.drop_curves(core.clock.utc_now() - core.options.curve_retention));
  core.span_books.settle();
  TW_TRY_STATUS(core.store.forget_requests(core.clock.utc_now() - kOldestUsage));
  if (!audit) return tl::unexpected(audit.error());
  return {};
}

Access& Api::access() { return impl_->core.access; }

void Api::set_server_stats(std::function<net::ServerStats()> stats) {
  impl_->core.server_stats = std::move(stats);
}

}  // namespace tidewatt::api
