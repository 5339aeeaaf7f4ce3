// One function a route; routes.cc says which.
#pragma once

#include <map>
#include <vector>

#include "core.h"
#include "energy_view.h"

namespace tidewatt::api {

net::Response post_heartbeats(Core& core, const Call& call);
net::Response post_remote_write(Core& core, const Call& call);
net::Response post_otlp_traces(Core& core, const Call& call);

net::Response list_nodes(Core& core, const Call& call);
net::Response get_node(Core& core, const Call& call);
net::Response get_node_energy(Core& core, const Call& call);
net::Response get_node_power(Core& core, const Call& call);
net::Response get_node_carbon_rate(Core& core, const Call& call);

net::Response list_tasks(Core& core, const Call& call);
net::Response post_task(Core& core, const Call& call);
net::Response post_task_event(Core& core, const Call& call);
net::Response get_task(Core& core, const Call& call);
net::Response post_task_progress(Core& core, const Call& call);
net::Response post_task_usage(Core& core, const Call& call);
net::Response post_usage(Core& core, const Call& call);
net::Response get_task_energy(Core& core, const Call& call);
net::Response get_task_endpoints(Core& core, const Call& call);
net::Response get_task_traces(Core& core, const Call& call);
net::Response get_task_power(Core& core, const Call& call);
net::Response get_task_group_efficiency(Core& core, const Call& call);

net::Response list_accounts(Core& core, const Call& call);
net::Response export_energy(Core& core, const Call& call);
net::Response list_seals(Core& core, const Call& call);
net::Response seal_month(Core& core, const Call& call);
net::Response verify_ledger(Core& core, const Call& call);
net::Response get_dashboard(Core& core, const Call& call);
net::Response list_sources(Core& core, const Call& call);
net::Response list_coverage(Core& core, const Call& call);
net::Response list_factors(Core& core, const Call& call);

net::Response list_carbon_zones(Core& core, const Call& call);
net::Response get_carbon_latest(Core& core, const Call& call);
net::Response get_carbon_history(Core& core, const Call& call);
net::Response get_carbon_forecast(Core& core, const Call& call);

net::Response post_extender_filter(Core& core, const Call& call);
net::Response post_extender_prioritize(Core& core, const Call& call);
net::Response post_admission_mutate(Core& core, const Call& call);
net::Response post_admission_validate(Core& core, const Call& call);
net::Response get_carbon_intensity(Core& core, const Call& call);
net::Response get_keda_replicas(Core& core, const Call& call);

net::Response list_quotas(Core& core, const Call& call);
net::Response post_quota(Core& core, const Call& call);
net::Response post_quota_adjustment(Core& core, const Call& call);
net::Response post_quota_transfer(Core& core, const Call& call);
net::Response post_admission(Core& core, const Call& call);
net::Response delete_admission(Core& core, const Call& call);
net::Response list_offers(Core& core, const Call& call);
net::Response list_bids(Core& core, const Call& call);
net::Response list_trades(Core& core, const Call& call);
net::Response post_offer(Core& core, const Call& call);
net::Response post_bid(Core& core, const Call& call);
net::Response delete_order(Core& core, const Call& call);
net::Response post_money(Core& core, const Call& call);
net::Response list_market_history(Core& core, const Call& call);

net::Response get_accounting(Core& core, const Call& call);
net::Response get_report(Core& core, const Call& call);

net::Response get_session(Core& core, const Call& call);
net::Response sign_in(Core& core, const Call& call);
net::Response sign_out(Core& core, const Call& call);
net::Response open_login_link(Core& core, const Call& call);
net::Response get_sign_in_ways(Core& core, const Call& call);
net::Response start_sso(Core& core, const Call& call);
net::Response finish_sso(Core& core, const Call& call);
net::Response list_tokens(Core& core, const Call& call);
net::Response create_token(Core& core, const Call& call);
net::Response rotate_token(Core& core, const Call& call);
net::Response revoke_token(Core& core, const Call& call);
net::Response list_audit(Core& core, const Call& call);

net::Response get_healthz(Core& core, const Call& call);
net::Response get_readyz(Core& core, const Call& call);
net::Response get_metrics(Core& core, const Call& call);
net::Response get_openapi(Core& core, const Call& call);

/// The session cookie's value, empty when there is none.
std::string session_cookie(const net::Request& request);
/// A tick of the stream as one caller may see it.
Json tick_json(Core& core, const Principal& principal, const std::vector<ledger::SharedNode>& nodes);
struct Alerts {
  Json shown;             ///< at most 50 of a kind; by node in natural order: n2 before n10
  std::size_t total = 0;  ///< with those that aren't shown
};
/// What should worry somebody about these nodes.
Alerts alerts_of(Core& core, const std::vector<ledger::SharedNode>& nodes,
                 const std::map<SubjectKey, Totals>& totals);

}  // namespace tidewatt::api
