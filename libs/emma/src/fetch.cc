#include "fetch.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tidewatt/carbon/provider_parsers.h"

namespace tidewatt::emma {
namespace {

using carbon::FetchFailure;

/// Logins count against a limit that the whole fleet shares.
constexpr Milliseconds kBetweenLogins{60'000};
constexpr std::size_t kMostShown = 120;

FetchFailure failure_of(const Error& error) {
  return error.code == ErrorCode::timed_out ? FetchFailure::timed_out : FetchFailure::unreachable;
}

/// Foreign text for a message: one line of plain ASCII.
std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kMostShown)) out += c < ' ' ? ' ' : c > '~' ? '?' : c;
  return out;
}

bool is_json(std::string_view text) { return nlohmann::json::accept(text); }

/// A token that ended looks like 401, or like a proxy's page with 403; a 403 in JSON is the plan.
bool token_refused(const net::Response& response) {
  return response.status == 401 || (response.status == 403 && !is_json(response.body));
}

Fetched read(const carbon::ProviderSettings& settings, const carbon::ProviderCall& call,
             const net::Response& response) {
  if (const auto failure = carbon::failure_of_status(response.status)) {
    auto out = failed(*failure, fmt::format("HTTP {}: {}", response.status, shown(response.body)));
    if (const auto header = response.headers.find("retry-after"); header != response.headers.end())
      out.retry_after = carbon::parse_retry_after(header->second);
    return out;
  }
  auto parsed =
      carbon::parse_provider_payload(settings.provider, call.endpoint, settings.zone, response.body);
  if (!parsed)
    return failed(carbon::is_wrong_zone(parsed.error()) ? FetchFailure::wrong_zone : FetchFailure::malformed,
                  parsed.error().message);
  if (parsed->points.empty())
    return failed(FetchFailure::empty, parsed->skipped.empty() ? std::string{"no points in the answer"}
                                                               : parsed->skipped.front().reason);
  Fetched out;
  out.signal = *std::move(parsed);
  return out;
}

}  // namespace

Fetched failed(FetchFailure failure, std::string why) {
  Fetched out;
  out.failure = failure;
  out.why = std::move(why);
  return out;
}

bool Fetcher::has(const carbon::ProviderSettings& settings, carbon::Want want) const {
  return carbon::call_for(settings, want, clock_.utc_now(), secrets_).has_value();
}

Result<net::Response> Fetcher::send(const carbon::ProviderCall& call, const std::string& token) {
  net::ClientRequest request;
  request.url = call.url;
  for (const auto& [name, value] : call.headers) request.headers[name] = value;
  if (!token.empty()) request.headers["authorization"] = "Bearer " + token;
  return http_()->send(request);
}

Result<std::string> Fetcher::token(const carbon::ProviderSettings& settings, const std::string& refused) {
  const std::scoped_lock lock{login_mutex_};
  const auto now = clock_.mono_now();
  const bool usable = !login_.token.empty() && login_.token != refused;
  if (usable && now - login_.since < carbon::kLoginLife) return login_.token;
  if (login_.tried && now - *login_.tried < kBetweenLogins) {
    // Too early to ask again; a token past its time may still do.
    if (usable) return login_.token;
    return fail(ErrorCode::permission_denied, "the login was refused less than a minute ago");
  }
  login_.tried = now;
  TW_TRY(const auto response, send(carbon::login_call(settings, secrets_), {}));
  const auto answer = nlohmann::json::parse(response.body, nullptr, false);
  if (response.status != 200 || !answer.is_object() || !answer.contains("token") ||
      !answer["token"].is_string())
    return fail(response.status == 401 || response.status == 403 ? ErrorCode::permission_denied
                                                                 : ErrorCode::unavailable,
                fmt::format("login: HTTP {}: {}", response.status,
                            response.status == 200 ? "no token" : shown(response.body)));
  login_.token = answer["token"].get<std::string>();
  login_.since = now;
  return login_.token;
}

Fetched Fetcher::fetch(const carbon::ProviderSettings& settings, carbon::Want want) {
  const auto call = carbon::call_for(settings, want, clock_.utc_now(), secrets_);
  if (!call) return failed(FetchFailure::empty, "the provider has no such answer");
  std::string bearer;
  for (int attempt = 0;; ++attempt) {
    if (call->needs_login) {
      auto got = token(settings, attempt == 0 ? std::string{} : bearer);
      if (!got)
        return failed(got.error().code == ErrorCode::permission_denied ? FetchFailure::unauthorised
                                                                       : failure_of(got.error()),
                      got.error().message);
      bearer = *std::move(got);
    }
    auto response = send(*call, bearer);
    if (!response) return failed(failure_of(response.error()), response.error().message);
    if (call->needs_login && attempt == 0 && token_refused(*response)) continue;
    return read(settings, *call, *response);
  }
}

}  // namespace tidewatt::emma
