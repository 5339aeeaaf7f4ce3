// Teams' carbon budgets and admission: /api/v1/quotas, /api/v1/admission.
#include <fmt/format.h>

#include <algorithm>

#include "market_view.h"

namespace tidewatt::api {
namespace {

using market::Budget;
using market::Micrograms;
using market::Period;

/// At the pace of the month so far; null in its first hour and before it.
Json projected(const Budget& budget, Period period, UtcTime now) {
  constexpr Milliseconds kTooSoon{3'600'000};
  if (now - period.begin() < kTooSoon) return nullptr;
  const double whole = static_cast<double>((period.end() - period.begin()).count());
  const double gone = std::min(whole, static_cast<double>((now - period.begin()).count()));
  return market::kg_of({budget.used}) * whole / gone;
}

Json quota_json(const Core& core, const std::string& team, Period period, const Budget& budget,
                const market::Wallet& wallet) {
  const bool known = knows_carbon(core);
  const auto kg = [known](std::int64_t n) { return known ? Json(market::kg_of({n})) : Json(nullptr); };
  Json row{{"team", team}, {"month", to_string(period)}};
  row["budget_kg"] = static_cast<double>(budget.budget()) / static_cast<double>(market::kMicrogramsAKg);
  row["used_kg"] = kg(budget.used);
  row["reserved_kg"] = kg(budget.reserved);
  row["offered_kg"] = market::kg_of({budget.offered});
  row["remaining_kg"] = kg(budget.free);
  row["overdraft_kg"] = kg(budget.overdraft);
  row["expired_kg"] = market::kg_of({budget.expired});
  row["utilization"] = known ? Json(budget.utilization()) : Json(nullptr);
  row["projected_kg"] = known ? projected(budget, period, core.clock.utc_now()) : Json(nullptr);
  row["remaining_ug"] = known ? Json(std::to_string(budget.free)) : Json(nullptr);
  row["made_of"] = {{"allotted_kg", market::kg_of({budget.allotted})},
                    {"adjusted_kg", market::kg_of({budget.adjusted})},
                    {"transferred_kg", market::kg_of({budget.transferred})},
                    {"carried_kg", market::kg_of({budget.carried})},
                    {"bought_kg", market::kg_of({budget.bought})},
                    {"sold_kg", market::kg_of({budget.sold})}};
  row["money"] = {{"cash", money_json(wallet.cash)}, {"locked", money_json(wallet.locked)}};
  return row;
}

Result<net::Response> quota_answer(Core& core, int status, const std::string& team, Period period) {
  return core.market->read([&](const market::Book& book) {
    const auto* budget = book.budget(period, team);
    return json_answer(
        status, quota_json(core, team, period, budget == nullptr ? Budget{} : *budget, book.wallet(team)));
  });
}

/// Runs it and answers with the team's quota.
net::Response changed_quota(Core& core, const Call& call, const std::string& key, const std::string& team,
                            Period period, const market::Command& command) {
  API_TRY(const auto request, request_of(call, key, command));
  API_TRY(const auto done, core.market->run(request, core.clock.utc_now()));
  tell_audit(core, call, done);
  API_TRY(auto answer, quota_answer(core, done.repeated ? 200 : 201, team, period));
  return answer;
}

struct Asked {
  market::Admit admit;
  std::string key;
  bool dry_run = false;
};

Result<Asked> asked_admission(Core& core, const Call& call) {
  TW_TRY(const auto body, Body::parse(call.request, {"team", "task_id", "cluster", "estimate_kg",
                                                     "energy_kwh", "priority", "dry_run", "key"}));
  Asked asked;
  TW_TRY(asked.admit.team, own_team(call, body));
  TW_TRY(const auto task, body.name("task_id"));
  TW_TRY(auto cluster, body.name("cluster"));
  TW_TRY(asked.key, body.name("key"));
  TW_TRY(asked.dry_run, body.flag("dry_run"));
  TW_TRY(const auto estimate, body.amount("estimate_kg", market::kg_of(market::kMostCarbon)));
  TW_TRY(const auto energy, body.amount("energy_kwh", market::kg_of(market::kMostCarbon)));
  TW_TRY(const auto priority, body.text("priority"));
  if (cluster.empty()) cluster = "default";
  if (!task.empty()) asked.admit.task = cluster + "/" + task;
  if (asked.key.empty() && !task.empty()) asked.key = "task/" + asked.admit.task;
  if (asked.key.empty() && !asked.dry_run)
    return fail(ErrorCode::invalid_input, "neither task_id nor key is given",
                "give one of them, so that the same request is charged once; or dry_run");
  if (estimate && energy)
    return fail(ErrorCode::invalid_input, "both estimate_kg and energy_kwh are given", "give one");
  if (estimate) asked.admit.estimate = market::micrograms_of_kg(*estimate);
  if (energy) asked.admit.estimate = carbon_of_kwh(core, *energy);
  const auto known = priority_from(priority.empty() ? "normal" : priority);
  if (!known)
    return fail(ErrorCode::invalid_input, fmt::format("priority \"{}\" is unknown", priority),
                "known: critical, high, normal, low");
  asked.admit.priority = *known;
  return asked;
}

Json admission_json(const Asked& asked, const market::Admission& answer, UtcTime now) {
  const auto& decision = answer.decision;
  Json json{{"allowed", decision.allowed}, {"reason", decision.reason}, {"dry_run", asked.dry_run}};
  json["team"] = asked.admit.team;
  json["month"] = to_string(market::period_of(now));
  const bool no_budget = decision.reason == "no_budget";
  json["remaining_kg"] = no_budget ? Json(nullptr) : Json(market::kg_of(decision.remaining));
  json["estimate_g"] =
      asked.admit.estimate ? Json(market::kg_of(*asked.admit.estimate) * kPerKilo) : Json(nullptr);
  json["labels"] = Json::object();
  if (decision.constrained)
    json["labels"] = {{"carbon-tolerance", "weekly"}, {"carbon-budget-constrained", "true"}};
  json["reservation_id"] = answer.reservation == 0 ? Json(nullptr) : Json(answer.reservation);
  json["expires_at"] = time(answer.expires_at);
  json["repeated"] = answer.repeated;
  json["advice"] = decision.allowed ? Json(nullptr) : Json(advice_of(asked.admit, decision));
  return json;
}

}  // namespace

net::Response list_quotas(Core& core, const Call& call) {
  API_TRY(const auto period, month_of_call(core, call));
  const auto team = call.is_tenant() ? call.principal.team : call.parameter("team");
  API_TRY(auto rows, core.market->read([&](const market::Book& book) {
    Json list = Json::array();
    for (const auto& [whose, budget] : book.budgets())
      if (whose.first == period && (team.empty() || whose.second == team))
        list.push_back(quota_json(core, whose.second, period, budget, book.wallet(whose.second)));
    return list;
  }));
  Json answer{{"month", to_string(period)}, {"from", time(period.begin())}, {"to", time(period.end())}};
  answer["carbon_known"] = knows_carbon(core);
  answer["currency"] = core.options.market.currency;
  answer["quotas"] = std::move(rows);
  return json_answer(200, answer);
}

net::Response post_quota(Core& core, const Call& call) {
  API_TRY(const auto body, Body::parse(call.request, {"team", "month", "budget_kg", "key"}));
  API_TRY(const auto team, body.name("team"));
  API_TRY(const auto period, month_of_body(core, body));
  API_TRY(const auto key, body.name("key"));
  API_TRY(const auto kg, body.amount("budget_kg", market::kg_of(market::kMostCarbon)));
  if (!kg) return problem_answer("invalid_request", "budget_kg is missing: give the month's budget");
  return changed_quota(core, call, key, team, period,
                       market::Allot{team, period, market::micrograms_of_kg(*kg).value_or(Micrograms{})});
}

net::Response post_quota_adjustment(Core& core, const Call& call) {
  API_TRY(const auto body, Body::parse(call.request, {"team", "month", "change_kg", "reason", "key"}));
  API_TRY(const auto team, body.name("team"));
  API_TRY(const auto period, month_of_body(core, body));
  API_TRY(const auto key, body.name("key"));
  API_TRY(const auto reason, body.name("reason"));
  API_TRY(const auto kg, body.signed_amount("change_kg", market::kg_of(market::kMostCarbon)));
  if (!kg) return problem_answer("invalid_request", "change_kg is missing: give more or less than 0");
  return changed_quota(
      core, call, key, team, period,
      market::Adjust{team, period, market::micrograms_of_kg(*kg).value_or(Micrograms{}), reason});
}

net::Response post_quota_transfer(Core& core, const Call& call) {
  API_TRY(const auto body, Body::parse(call.request, {"team", "to", "month", "amount_kg", "key"}));
  API_TRY(const auto team, own_team(call, body));
  API_TRY(const auto to, body.name("to"));
  API_TRY(const auto period, month_of_body(core, body));
  API_TRY(const auto key, body.name("key"));
  API_TRY(const auto kg, body.amount("amount_kg", market::kg_of(market::kMostCarbon)));
  return changed_quota(
      core, call, key, team, period,
      market::Transfer{team, to, period, market::micrograms_of_kg(kg.value_or(0)).value_or(Micrograms{})});
}

net::Response post_admission(Core& core, const Call& call) {
  API_TRY(const auto asked, asked_admission(core, call));
  const auto now = core.clock.utc_now();
  if (!knows_carbon(core)) {
    market::Admission open;
    open.decision.reason = "no_factor";
    auto json = admission_json(asked, open, now);
    json["remaining_kg"] = nullptr;
    return json_answer(200, json);
  }
  API_TRY(const auto request,
          request_of(call, asked.dry_run && asked.key.empty() ? "dry" : asked.key, asked.admit));
  API_TRY(const auto answer, core.market->admit(request, now, asked.dry_run));
  return json_answer(200, admission_json(asked, answer, now));
}

net::Response delete_admission(Core& core, const Call& call) {
  API_TRY(const auto id, id_of_path(call));
  API_TRY(const auto team, core.market->read([&](const market::Book& book) {
    const auto found = book.reservations().find(id);
    return found == book.reservations().end() ? std::string{} : found->second.team;
  }));
  if (team.empty() || (call.is_tenant() && team != call.principal.team))
    return problem_answer("not_found", fmt::format("there is no reservation {}: it may have ended", id));
  const market::Request request{fmt::format("release/{}", id), call.principal.name,
                                market::Release{id, "given back by " + call.principal.name}};
  API_TRY(const auto done, core.market->run(request, core.clock.utc_now()));
  tell_audit(core, call, done);
  return empty_answer(204);
}

}  // namespace tidewatt::api
