#include "market_view.h"

#include <fmt/format.h>

#include "tidewatt/base/log.h"
#include "tidewatt/units/text.h"

namespace tidewatt::api {

Json money_json(std::int64_t millionths) {
  return static_cast<double>(millionths) / static_cast<double>(market::kMicroAUnit);
}

std::optional<market::Priority> priority_from(std::string_view name) {
  for (const auto priority :
       {market::Priority::low, market::Priority::normal, market::Priority::high, market::Priority::critical})
    if (to_string(priority) == name) return priority;
  return std::nullopt;
}

namespace {

Result<market::Period> month_from(const Core& core, const std::string& text) {
  if (text.empty()) return market::period_of(core.clock.utc_now());
  if (const auto period = market::parse_period(text)) return *period;
  return fail(ErrorCode::invalid_input, fmt::format("\"{}\" is no month", text), "give one like 2026-11");
}

}  // namespace

Result<market::Period> month_of_call(const Core& core, const Call& call) {
  return month_from(core, call.parameter("month"));
}
Result<market::Period> month_of_body(const Core& core, const Body& body) {
  TW_TRY(const auto text, body.text("month"));
  return month_from(core, text);
}

Result<std::string> own_team(const Call& call, const Body& body) {
  TW_TRY(auto team, body.name("team"));
  if (!call.is_tenant()) {
    if (team.empty()) return fail(ErrorCode::invalid_input, "team is missing", "name the team");
    return team;
  }
  if (!team.empty() && team != call.principal.team)
    return fail(ErrorCode::permission_denied, fmt::format("\"{}\" is another team", team),
                "a tenant acts for its own team: leave it out");
  return call.principal.team;
}

Result<std::uint64_t> id_of_path(const Call& call) {
  const auto id = parse_uint64(call.ids.front());
  if (!id) return fail(ErrorCode::not_found, fmt::format("\"{}\" is no number", call.ids.front()));
  return *id;
}

Result<market::Request> request_of(const Call& call, const std::string& key, market::Command command) {
  if (key.empty())
    return fail(ErrorCode::invalid_input, "key is missing",
                "send a text that no other request of yours has: the same request again is then done once");
  const auto& who = call.principal;
  return market::Request{(call.is_tenant() ? "team/" + who.team : "ops") + "/" + key, who.name,
                         std::move(command)};
}

void tell_audit(Core& core, const Call& call, const market::Outcome& done) {
  if (done.repeated) return;
  const auto told =
      core.store.append_audit({core.clock.utc_now(), call.principal.name,
                               fmt::format("market.{}", to_string(done.record.kind)), done.record.request});
  if (!told) log::warning("the audit log can't be written", {{"error", told.error().to_string()}});
}

std::string advice_of(const market::Admit& ask, const market::Decision& decision) {
  const auto remaining = market::kg_of(decision.remaining);
  if (!ask.estimate || decision.remaining.n == 0)
    return fmt::format(
        "team \"{}\" has nothing left of its carbon budget this month: wait for the next month, buy budget "
        "on the "
        "market, or ask an operator",
        ask.team);
  return fmt::format(
      "the estimate is {:.6g} g and team \"{}\" has {:.6g} kg left this month: make the task smaller, run it "
      "in a "
      "cleaner hour, buy budget on the market, or ask an operator",
      market::kg_of(*ask.estimate) * kPerKilo, ask.team, remaining);
}

}  // namespace tidewatt::api
