// Sessions, login links, tokens, the audit log.
#include <fmt/format.h>

#include <algorithm>

#include "body.h"
#include "handlers.h"
#include "node_view.h"
#include "sign_in.h"

namespace tidewatt::api {
namespace {

Json token_json(const ledger::TokenRecord& record) {
  return Json{{"id", record.id},
              {"name", record.name},
              {"role", record.role},
              {"team", record.team},
              {"created_at", time(record.created_at)},
              {"expires_at", time(record.expires_at)},
              {"revoked_at", time(record.revoked_at)}};
}

}  // namespace

net::Response get_session(Core& core, const Call& call) {
  API_TRY(const auto nodes, core.store.nodes());
  const bool simulated =
      std::any_of(nodes.begin(), nodes.end(), [](const auto& node) { return node->simulated; });
  const bool replay =
      std::any_of(nodes.begin(), nodes.end(), [](const auto& node) { return plays_a_log(*node); });
  return json_answer(200, Json{{"role", to_string(call.principal.role)},
                               {"team", call.principal.team},
                               {"name", call.principal.name},
                               {"expires_at", time(call.principal.expires_at)},
                               {"version", core.options.version},
                               {"simulated", simulated},
                               {"replay", replay},
                               {"factor_configured", core.options.factor.factor.configured},
                               {"curve_retention_seconds", seconds(core.options.curve_retention)},
                               {"max_gap_seconds", seconds(core.options.max_gap)}});
}

net::Response sign_in(Core& core, const Call& call) {
  if (auto wait = too_many_sign_ins(core, call)) return *std::move(wait);
  API_TRY(const auto body, Body::parse(call.request, {"token"}));
  API_TRY(const auto token, body.text("token"));
  API_TRY(const auto principal, core.access.by_token(token));
  if (!principal) {
    core.access.note_failed_sign_in(call.request.remote_address, "wrong token");
    return problem_answer("invalid_token",
                          "no such token, or it is revoked or expired: ask an operator for one");
  }
  if (principal->role == Role::agent || principal->role == Role::cluster) {
    core.access.note_failed_sign_in(call.request.remote_address,
                                    fmt::format("a token of role {}", to_string(principal->role)));
    return problem_answer("invalid_token",
                          fmt::format("tokens of role {} are for programs: sign in with another token",
                                      to_string(principal->role)));
  }
  API_TRY(const auto cookie, core.access.open_session(*principal));
  auto response = empty_answer(204);
  response.headers["set-cookie"] = session_cookie_header(core, cookie, session_seconds());
  return response;
}

net::Response sign_out(Core& core, const Call& call) {
  if (const auto closed = core.access.close_session(session_cookie(call.request), call.principal.name);
      !closed)
    return problem_answer(closed.error());
  auto response = empty_answer(204);
  response.headers["set-cookie"] = session_cookie_header(core, "", 0);
  return response;
}

net::Response open_login_link(Core& core, const Call& call) {
  API_TRY(const auto cookie, core.access.redeem(call.parameter("code")));
  if (!cookie) {
    core.access.note_failed_sign_in(call.request.remote_address, "a login link that is used, old or unknown");
    return see_other("/login-page?error=used");
  }
  const std::string next = call.parameter("next", "/");
  auto response = see_other(is_local_path(next) ? next : "/");
  response.headers["set-cookie"] = session_cookie_header(core, *cookie, session_seconds());
  return response;
}

net::Response list_tokens(Core& core, const Call&) {
  API_TRY(const auto tokens, core.store.tokens());
  Json list = Json::array();
  for (const auto& token : tokens) list.push_back(token_json(token));
  return json_answer(200, Json{{"tokens", std::move(list)}});
}

net::Response create_token(Core& core, const Call& call) {
  API_TRY(const auto body, Body::parse(call.request, {"name", "role", "team", "expires_at"}));
  API_TRY(const auto name, body.text("name"));
  API_TRY(const auto role_text, body.text("role"));
  API_TRY(const auto team, body.name("team"));
  API_TRY(const auto expires_at, body.time("expires_at"));
  const auto role = role_from(role_text);
  if (!role)
    return problem_answer(
        "invalid_request",
        fmt::format("role \"{}\" is unknown (known: ops, tenant, viewer, agent, cluster)", role_text));
  API_TRY(const auto token, core.access.create_token(name, *role, team, expires_at, call.principal.name));
  Json answer = token_json(token.record);
  answer["token"] = token.secret;
  return json_answer(201, answer);
}

net::Response revoke_token(Core& core, const Call& call) {
  if (const auto revoked = core.access.revoke_token(call.ids.at(0), call.principal.name); !revoked)
    return problem_answer(revoked.error());
  return empty_answer(204);
}

net::Response rotate_token(Core& core, const Call& call) {
  API_TRY(const auto body, Body::parse_optional(call.request, {"grace_seconds"}));
  API_TRY(const auto grace, body.whole_number("grace_seconds", 0, Access::kLongestGrace.count() / 1000));
  API_TRY(const auto rotated, core.access.rotate_token(call.ids.at(0), Milliseconds{grace.value_or(0) * 1000},
                                                       call.principal.name));
  Json answer = token_json(rotated.successor.record);
  answer["token"] = rotated.successor.secret;
  answer["replaces"] = call.ids.at(0);
  answer["replaced_until"] = time(rotated.old_until);
  answer["own"] = call.principal.token_id == call.ids.at(0);
  return json_answer(201, answer);
}

net::Response list_audit(Core& core, const Call& call) {
  API_TRY(const auto page, page_of(call));
  API_TRY(const auto entries, core.store.audit(page.limit));
  Json list = Json::array();
  for (const auto& entry : entries)
    list.push_back(Json{{"at", time(entry.at)},
                        {"actor", entry.actor},
                        {"action", entry.action},
                        {"subject", entry.subject}});
  return json_answer(200, Json{{"entries", std::move(list)}});
}

}  // namespace tidewatt::api
