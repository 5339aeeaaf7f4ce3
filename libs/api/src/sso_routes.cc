// Sign-in through an OpenID Connect issuer: to it, and back from it.
#include <fmt/format.h>

#include <algorithm>

#include "handlers.h"
#include "sign_in.h"
#include "tidewatt/base/log.h"
#include "tidewatt/oidc/sign_on.h"

namespace tidewatt::api {
namespace {

constexpr std::string_view kBrowserCookie = "tidewatt_sso";
constexpr std::string_view kSsoPath = "/login/sso";

/// Lax and not Strict: the way back from the issuer is a navigation from another site.
std::string browser_cookie(const Core& core, std::string_view value, std::int64_t max_age_seconds) {
  return fmt::format("{}={}; HttpOnly; SameSite=Lax; Path={}; Max-Age={}{}", kBrowserCookie, value, kSsoPath,
                     max_age_seconds, core.options.secure_cookies ? "; Secure" : "");
}

net::Response not_configured() {
  return problem_answer("not_found",
                        "this server has no single sign-on: sign in with a token at /login-page");
}

/// The browser asks the same again in a second, by itself.
net::Response come_again() {
  net::Response response;
  response.status = 503;
  response.headers["retry-after"] = "1";
  response.headers["refresh"] = "1";
  response.headers["content-type"] = "text/plain; charset=utf-8";
  response.body = "Other people are signing in right now. This page tries again in a second.\n";
  return response;
}

std::string_view page_error(ErrorCode code) {
  switch (code) {
    case ErrorCode::not_found:
      return "sso_expired";
    case ErrorCode::permission_denied:
      return "sso_refused";
    default:
      return "sso_down";
  }
}

/// Back to the sign-in page, which says what happened; a token still works there.
net::Response back_to_sign_in(Core& core, const Call& call, const Error& error) {
  if (error.code == ErrorCode::conflict) return come_again();
  const auto told = page_error(error.code);
  const bool down = told == "sso_down";
  // An issuer that is down is told when it begins to be and when it ends, not at each attempt.
  if (down ? !core.sso_down.exchange(true) : told == "sso_refused")
    log::warning("a sign-in through the issuer failed", {{"error", error.to_string()}});
  if (!down)
    core.access.note_failed_sign_in(
        call.request.remote_address,
        told == "sso_expired" ? "an SSO answer that is used, old or of another browser" : "SSO refused");
  return see_other(fmt::format("/login-page?error={}", told));
}

void note_working(Core& core) {
  if (core.sso_down.exchange(false)) log::info("sign-ins through the issuer work again");
}

/// The first line of the settings that one of the values fits.
std::optional<Principal> principal_of(const SsoOptions& options, const oidc::Identity& identity) {
  for (const auto& line : options.roles) {
    if (std::find(identity.values.begin(), identity.values.end(), line.value) == identity.values.end())
      continue;
    Principal principal;
    principal.role = line.role;
    principal.team = line.team;
    principal.name = identity.name;
    return principal;
  }
  return std::nullopt;
}

}  // namespace

net::Response get_sign_in_ways(Core& core, const Call&) {
  return json_answer(200, Json{{"sso_path", core.sign_on ? Json(kSsoPath) : Json(nullptr)}});
}

net::Response start_sso(Core& core, const Call& call) {
  if (!core.sign_on) return not_configured();
  if (auto wait = too_many_sign_ins(core, call)) return *std::move(wait);
  const std::string next = call.parameter("next", "/");
  const auto started = core.sign_on->start(is_local_path(next) ? next : "/");
  if (!started) return back_to_sign_in(core, call, started.error());
  auto response = see_other(started->url);
  response.headers["set-cookie"] =
      browser_cookie(core, started->browser_secret, oidc::SignOn::kSignInLife.count() / 1000);
  return response;
}

net::Response finish_sso(Core& core, const Call& call) {
  if (!core.sign_on) return not_configured();
  if (auto wait = too_many_sign_ins(core, call)) return *std::move(wait);
  const oidc::SignOn::Answer answer{call.parameter("state"), call.parameter("code"), call.parameter("error"),
                                    call.parameter("iss"), cookie_value(call.request, kBrowserCookie)};
  const auto finished = core.sign_on->finish(answer);
  if (!finished) return back_to_sign_in(core, call, finished.error());
  note_working(core);
  const auto principal = principal_of(*core.options.sso, finished->identity);
  if (!principal) {
    core.access.note_failed_sign_in(call.request.remote_address, "SSO, but no role for this account");
    log::warning("a sign-in through the issuer failed: no line of oidc.roles fits",
                 {{"account", finished->identity.name}, {"subject", finished->identity.subject}});
    return see_other("/login-page?error=sso_no_role");
  }
  API_TRY(const auto cookie, core.access.open_session(
                                 *principal, fmt::format(" by SSO, subject {}", finished->identity.subject)));
  auto response = see_other(finished->next);
  response.headers["set-cookie"] = session_cookie_header(core, cookie, session_seconds());
  return response;
}

}  // namespace tidewatt::api
