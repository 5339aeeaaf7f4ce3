#include "routes.h"

#include "handlers.h"

namespace tidewatt::api {
namespace {

constexpr RoleSet kReaders{Role::ops, Role::viewer, Role::tenant};
constexpr RoleSet kOps{Role::ops};
constexpr RoleSet kOverview{Role::ops, Role::viewer};
constexpr RoleSet kIngest{Role::ops, Role::agent};
constexpr RoleSet kReporters{Role::ops, Role::agent, Role::tenant};
constexpr RoleSet kTraders{Role::ops, Role::tenant};
constexpr RoleSet kControlPlane{Role::ops, Role::cluster};
constexpr RoleSet kSignalReaders{Role::ops, Role::viewer, Role::tenant, Role::cluster};
constexpr RoleSet kAnyone = RoleSet::anyone();

// The stream is opened by Api::open_stream; a plain request for it is told so.
net::Response stream_needs_events(Core&, const Call&) {
  return problem_answer("invalid_request", "this is an event stream: read it with an EventSource or curl -N");
}

const Route kRoutes[] = {
    {{"POST", "/api/v1/heartbeats", kIngest}, post_heartbeats},
    {{"POST", "/api/v1/write", kIngest}, post_remote_write},
    {{"POST", "/v1/traces", kReporters}, post_otlp_traces},
    {{"GET", "/api/v1/nodes", kReaders}, list_nodes},
    {{"GET", "/api/v1/nodes/{id}", kReaders}, get_node},
    {{"GET", "/api/v1/nodes/{id}/energy", kReaders}, get_node_energy},
    {{"GET", "/api/v1/nodes/{id}/power", kReaders}, get_node_power},
    {{"GET", "/api/v1/nodes/{id}/carbon-rate", kReaders}, get_node_carbon_rate},
    {{"GET", "/api/v1/tasks", kReaders}, list_tasks},
    {{"POST", "/api/v1/tasks", kOps}, post_task},
    {{"GET", "/api/v1/tasks/{id}", kReaders}, get_task},
    {{"GET", "/api/v1/tasks/{id}/energy", kReaders}, get_task_energy},
    {{"GET", "/api/v1/tasks/{id}/power", kReaders}, get_task_power},
    {{"GET", "/api/v1/tasks/{id}/endpoints", kReaders}, get_task_endpoints},
    {{"GET", "/api/v1/tasks/{id}/traces", kReaders}, get_task_traces},
    {{"POST", "/api/v1/tasks/{id}/events", kOps}, post_task_event},
    {{"POST", "/api/v1/tasks/{id}/progress", kReporters}, post_task_progress},
    {{"POST", "/api/v1/tasks/{id}/usage", kReporters}, post_task_usage},
    {{"POST", "/api/v1/usage", kReporters}, post_usage},
    {{"GET", "/api/v1/task-groups/{id}/efficiency", kReaders}, get_task_group_efficiency},
    {{"GET", "/api/v1/energy/accounts", kReaders}, list_accounts},
    {{"GET", "/api/v1/energy/export", kOps}, export_energy},
    {{"GET", "/api/v1/ledger/seals", kOverview}, list_seals},
    {{"POST", "/api/v1/ledger/seals", kOps}, seal_month},
    {{"GET", "/api/v1/ledger/verify", kOps}, verify_ledger},
    {{"GET", "/api/v1/dashboard/stats", kReaders}, get_dashboard},
    {{"GET", "/api/v1/settings/sources", kOverview}, list_sources},
    {{"GET", "/api/v1/settings/coverage", kReaders}, list_coverage},
    {{"GET", "/api/v1/factors", kReaders}, list_factors},
    {{"GET", "/api/v1/carbon/zones", kReaders}, list_carbon_zones},
    {{"GET", "/api/v1/carbon/{zone}/latest", kReaders}, get_carbon_latest},
    {{"GET", "/api/v1/carbon/{zone}/history", kReaders}, get_carbon_history},
    {{"GET", "/api/v1/carbon/{zone}/forecast", kReaders}, get_carbon_forecast},
    {{"GET", "/api/v1/carbon/accounting", kReaders}, get_accounting},
    {{"GET", "/api/v1/reports/{period}", kReaders}, get_report},
    {{"GET", "/api/v1/quotas", kReaders}, list_quotas},
    {{"POST", "/api/v1/quotas", kOps}, post_quota},
    {{"POST", "/api/v1/quotas/adjustments", kOps}, post_quota_adjustment},
    {{"POST", "/api/v1/quotas/transfers", kTraders}, post_quota_transfer},
    {{"POST", "/api/v1/admission", kTraders}, post_admission},
    {{"DELETE", "/api/v1/admission/{id}", kTraders}, delete_admission},
    {{"GET", "/api/v1/market/offers", kReaders}, list_offers},
    {{"POST", "/api/v1/market/offers", kTraders}, post_offer},
    {{"GET", "/api/v1/market/bids", kReaders}, list_bids},
    {{"POST", "/api/v1/market/bids", kTraders}, post_bid},
    {{"GET", "/api/v1/market/trades", kReaders}, list_trades},
    {{"DELETE", "/api/v1/market/orders/{id}", kTraders}, delete_order},
    {{"POST", "/api/v1/market/money", kOps}, post_money},
    {{"GET", "/api/v1/market/history", kOps}, list_market_history},
    {{"POST", "/k8s/extender/filter", kControlPlane, true}, post_extender_filter},
    {{"POST", "/k8s/extender/prioritize", kControlPlane, true}, post_extender_prioritize},
    {{"POST", "/k8s/admission/mutate", kControlPlane, true}, post_admission_mutate},
    {{"POST", "/k8s/admission/validate", kControlPlane, true}, post_admission_validate},
    {{"GET", "/api/v1/carbon-intensity", kSignalReaders}, get_carbon_intensity},
    {{"GET", "/api/v1/keda/replicas", kSignalReaders}, get_keda_replicas},
    {{"GET", "/api/v1/audit", kOps}, list_audit},
    {{"GET", "/api/v1/tokens", kOps}, list_tokens},
    {{"POST", "/api/v1/tokens", kOps}, create_token},
    {{"DELETE", "/api/v1/tokens/{id}", kOps}, revoke_token},
    {{"POST", "/api/v1/tokens/{id}/rotate", kOps}, rotate_token},
    {{"GET", "/api/v1/session", kReaders}, get_session},
    {{"POST", "/api/v1/session", kAnyone}, sign_in},
    {{"DELETE", "/api/v1/session", kReaders}, sign_out},
    {{"GET", "/api/v1/stream", kReaders}, stream_needs_events},
    {{"GET", "/api/v1/sign-in", kAnyone}, get_sign_in_ways},
    {{"GET", "/login", kAnyone}, open_login_link},
    {{"GET", "/login/sso", kAnyone}, start_sso},
    {{"GET", "/login/sso/callback", kAnyone}, finish_sso},
    {{"GET", "/healthz", kAnyone, true}, get_healthz},
    {{"GET", "/readyz", kAnyone, true}, get_readyz},
    {{"GET", "/metrics", kOverview}, get_metrics},  // and anyone on loopback: see Api
    {{"GET", "/api/openapi.json", kAnyone}, get_openapi},
};

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_value(text[i + 1]);
    const int low = hex_value(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

/// Takes the next segment off; both texts begin with '/'.
std::string_view next_segment(std::string_view& rest) {
  rest.remove_prefix(1);
  const auto slash = rest.find('/');
  const auto segment = rest.substr(0, slash);
  rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash);
  return segment;
}

}  // namespace

std::span<const Route> routes() { return kRoutes; }

std::vector<RouteInfo> route_table() {
  std::vector<RouteInfo> table;
  for (const auto& route : kRoutes) table.push_back(route.info);
  return table;
}

std::optional<std::vector<std::string>> match_path(std::string_view path_template,
                                                   std::string_view raw_path) {
  std::vector<std::string> values;
  while (path_template.starts_with('/') && raw_path.starts_with('/')) {
    const auto expected = next_segment(path_template);
    const auto segment = next_segment(raw_path);
    if (expected.starts_with('{')) {
      auto value = percent_decode(segment);
      if (!value || value->empty()) return std::nullopt;
      values.push_back(*std::move(value));
    } else if (expected != segment) {
      return std::nullopt;
    }
  }
  if (!path_template.empty() || !raw_path.empty()) return std::nullopt;
  return values;
}

}  // namespace tidewatt::api
