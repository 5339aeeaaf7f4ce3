// Accounts, sources, factors.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "energy_view.h"
#include "handlers.h"
#include "node_view.h"
#include "tenant_view.h"
#include "tidewatt/metering/node_total.h"
#include "tidewatt/metering/tool_parsers.h"

namespace tidewatt::api {
namespace {

Result<ledger::Scope> scope_of(const Call& call) {
  const std::string text = call.parameter("scope");
  if (const auto scope = ledger::scope_from(text)) return *scope;
  return fail(ErrorCode::invalid_input, fmt::format("scope={} is unknown", text),
              "known: device, node, task, task_device");
}

void split_into(std::vector<std::string>& parts, const std::string& text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const auto comma = std::min(text.find(',', begin), text.size());
    if (comma > begin) parts.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
}

/// ?ids=a,b and ?id=a,comma may both be repeated; none of them at all means every account.
Result<std::vector<std::string>> ids_of(const Call& call) {
  std::vector<std::string> ids;
  const auto lists = call.request.parameters("ids");
  for (const auto& list : lists) split_into(ids, list);
  const auto single = call.request.parameters("id");
  for (const auto& id : single)
    if (!id.empty()) ids.push_back(id);
  // A script whose list came out empty must not be answered with everything.
  if (ids.empty() && !(lists.empty() && single.empty()))
    return fail(ErrorCode::invalid_input, "ids= and id= name no account",
                "leave both out for all accounts, or give ids=a,b or id=a");
  return ids;
}

/// One account stands for itself, whatever its domain.
Totals lifetime(const ledger::Account& account) {
  Totals totals;
  totals.sum = account.totals;
  totals.rows = 1;
  totals.first_sample_at = account.first_sample_at;
  totals.last_sample_at = account.last_sample_at;
  totals.domains.push_back({account.key.domain, true, account.totals});
  return totals;
}

/// The devices of one source on one node.
struct SourceState {
  int devices = 0;
  int known = 0;
  int estimated = 0;
  int simulated = 0;
  int totalled = 0;  ///< of the known ones, those that are part of a total
  bool power = false;
  bool counter = false;
  std::string why_not;
};

/// @param fresh  the node's last beat tells of now
Json source_json(const std::string& name, const SourceState& state, const ledger::NodeInfo& node,
                 bool fresh) {
  const bool silent = state.known > 0 && !fresh;
  Json row{{"source", name}, {"devices", state.devices > 0 ? Json(state.devices) : Json(nullptr)}};
  row["state"] = silent                ? "silent"
                 : state.totalled > 0  ? "booked"
                 : state.known > 0     ? "beside"
                 : state.estimated > 0 ? "estimated"
                                       : "unknown";
  row["simulated"] = state.simulated > 0;
  row["gives"] = state.power && state.counter ? Json("power+counter")
                 : state.power                ? Json("power")
                 : state.counter              ? Json("counter")
                                              : Json(nullptr);
  row["last_read_at"] = state.known > 0 || state.estimated > 0 ? time(node.last_sample_at) : Json(nullptr);
  row["why_not"] = silent ? Json("nothing came since its last sample: look at the agent there")
                   : state.why_not.empty() ? Json(nullptr)
                                           : Json(state.why_not);
  return row;
}

}  // namespace

net::Response list_accounts(Core& core, const Call& call) {
  API_TRY(const auto scope, scope_of(call));
  API_TRY(auto ids, ids_of(call));
  ledger::AccountFilter filter{scope, call.parameter("cluster"), std::move(ids), call.parameter("domain")};
  const bool of_tasks = scope == ledger::Scope::task || scope == ledger::Scope::task_device;
  TenantView view;
  if (call.is_tenant()) {
    if (!of_tasks)
      return problem_answer(
          "forbidden", fmt::format("scope {} holds other teams' energy too (use scope=task or task_device)",
                                   ledger::to_string(scope)));
    API_TRY(view, tenant_view(core, call, nullptr));
  }
  API_TRY(const auto accounts, core.store.accounts(filter));
  Json list = Json::array();
  std::optional<WideMicrojoules> sum;
  for (const auto& account : accounts) {
    if (call.is_tenant() && !view.tasks.contains({account.key.cluster, account.key.id})) continue;
    sum = sum.value_or(WideMicrojoules{}) + account.totals.energy;
    Json row = energy_json(core, call,
                           {ledger::to_string(scope), account.key.id, account.key.cluster,
                            scope == ledger::Scope::node, of_tasks},
                           nullptr, lifetime(account));
    row["domain"] = account.key.domain;
    if (!account.key.part.empty()) row["part"] = account.key.part;
    list.push_back(std::move(row));
  }
  const auto rows = list.size();
  return json_answer(
      200,
      Json{{"accounts", std::move(list)}, {"rows", rows}, {"sum", sum ? amount_json(sum) : Json(nullptr)}});
}

net::Response list_sources(Core& core, const Call&) {
  const auto now = core.clock.utc_now();
  API_TRY(const auto nodes, core.store.nodes());
  Json list = Json::array();
  for (const auto& shared : nodes) {
    const auto& node = *shared;
    const bool fresh = is_fresh(node, now, core.options.silent_after);
    std::map<std::string, SourceState> sources;
    for (const auto& device : node.devices) {
      SourceState& state = sources[device.source.empty() ? "unnamed" : device.source];
      ++state.devices;
      if (device.quality == Quality::simulated) ++state.simulated;
      if (device.quality == Quality::estimated) {
        ++state.estimated;
        state.why_not = "estimates are shown apart and never booked";
      } else if (device.power || device.energy_total) {
        ++state.known;
        if (metering::layer_of(device.domain) != metering::Layer::beside) ++state.totalled;
        state.power = state.power || device.power.has_value();
        state.counter = state.counter || device.energy_total.has_value();
      } else if (state.why_not.empty()) {
        state.why_not = device.reason.empty() ? "gave no power in the last round" : device.reason;
      }
    }
    // A source that gives nothing delivered no device that could say why.
    for (const auto& report : node.sources) {
      if (report.state == ::tidewatt::SourceState::ok || sources.contains(report.source)) continue;
      sources[report.source].why_not = report.reason.empty() ? std::string{"not read yet"} : report.reason;
    }
    Json rows = Json::array();
    for (const auto& [name, state] : sources) rows.push_back(source_json(name, state, node, fresh));
    list.push_back(
        Json{{"node_id", node.key.node_id}, {"cluster", node.key.cluster}, {"sources", std::move(rows)}});
  }
  return json_answer(200, Json{{"nodes", std::move(list)}});
}

net::Response list_coverage(Core&, const Call&) {
  Json rows = Json::array();
  for (const auto& row : metering::tool_coverage())
    rows.push_back(Json{{"vendor", row.vendor},
                        {"tool", row.tool},
                        {"form", row.form},
                        {"state", metering::to_string(row.state)},
                        {"agent_sources", row.agent_sources},
                        {"note", row.note}});
  return json_answer(200, Json{{"rows", std::move(rows)}});
}

net::Response list_factors(Core& core, const Call& call) {
  const auto view = carbon_view(core, call);
  Json answer = Json::object();
  if (view.visible)
    answer["in_force"] = factor_json(core.options.factor.factor);
  else
    answer["carbon_hidden_reason"] = view.hidden_reason;
  if (call.principal.role == Role::ops) answer["warnings"] = core.options.factor.warnings;
  answer["catalogue"] = Json::array();
  return json_answer(200, answer);
}

}  // namespace tidewatt::api
