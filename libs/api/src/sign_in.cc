#include "sign_in.h"

#include <fmt/format.h>

#include <algorithm>

#include "handlers.h"

namespace tidewatt::api {
namespace {

constexpr std::string_view kCookie = "tidewatt_session";

}  // namespace

std::string cookie_value(const net::Request& request, std::string_view name) {
  const auto header = request.header("cookie");
  if (!header) return {};
  std::string_view rest = *header;
  while (!rest.empty()) {
    const auto semicolon = std::min(rest.find(';'), rest.size());
    std::string_view pair = rest.substr(0, semicolon);
    rest.remove_prefix(std::min(semicolon + 1, rest.size()));
    while (!pair.empty() && pair.front() == ' ') pair.remove_prefix(1);
    if (pair.starts_with(name) && pair.size() > name.size() && pair[name.size()] == '=')
      return std::string{pair.substr(name.size() + 1)};
  }
  return {};
}

std::string session_cookie(const net::Request& request) { return cookie_value(request, kCookie); }

std::string session_cookie_header(const Core& core, std::string_view value, std::int64_t max_age_seconds) {
  return fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/; Max-Age={}{}", kCookie, value,
                     max_age_seconds, core.options.secure_cookies ? "; Secure" : "");
}

std::int64_t session_seconds() { return Access::kSessionLife.count() / 1000; }

bool is_local_path(std::string_view path) {
  if (path.empty() || path.front() != '/') return false;
  if (path.size() > 1 && (path[1] == '/' || path[1] == '\\')) return false;
  return std::all_of(path.begin(), path.end(), [](char c) { return c > ' ' && c != 0x7f; });
}

net::Response see_other(std::string location) {
  net::Response response;
  response.status = 303;
  response.headers["location"] = std::move(location);
  return response;
}

std::optional<net::Response> too_many_sign_ins(Core& core, const Call& call) {
  const auto wait = core.limiter.take("sign-in " + call.request.remote_address, core.options.sign_in,
                                      core.clock.mono_now());
  if (!wait) return std::nullopt;
  auto response =
      problem_answer("rate_limited", "too many sign-ins from this address: wait as Retry-After says");
  response.headers["retry-after"] = std::to_string((wait->count() + 999) / 1000);
  return response;
}

}  // namespace tidewatt::api
