#include "provider.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "json_text.h"
#include "tidewatt/oidc/sign_on.h"

namespace tidewatt::oidc {
namespace {

bool is_loopback_http(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  if (!url.starts_with(kScheme)) return false;
  url.remove_prefix(kScheme.size());
  auto host = url.substr(0, url.find_first_of("/?#"));
  if (host.find('@') != std::string_view::npos) return false;
  host = host.starts_with('[') ? host.substr(0, host.find(']') + 1) : host.substr(0, host.find(':'));
  return host == "localhost" || host == "[::1]" || host == "127.0.0.1";
}

/// client_secret_basic is what an issuer takes that says nothing.
bool wants_secret_in_body(const Json& document) {
  const auto methods = document.find("token_endpoint_auth_methods_supported");
  if (methods == document.end() || !methods->is_array()) return false;
  const auto has = [&](const char* method) {
    return std::find(methods->begin(), methods->end(), method) != methods->end();
  };
  return !has("client_secret_basic") && has("client_secret_post");
}

Result<KeySet> fetch_keys(net::HttpClient& http, const std::string& url) {
  TW_TRY(const auto text, get_document(http, url));
  return KeySet::parse(text);
}

}  // namespace

bool may_be_asked(std::string_view url, std::string_view issuer) {
  return url.starts_with("https://") || (is_loopback_http(issuer) && is_loopback_http(url));
}

std::string issuer_problem(std::string_view url) {
  if (!may_be_asked(url, url))
    return fmt::format("\"{}\" is no issuer: give its https:// URL (http:// on this machine only)", url);
  if (url.find_first_of("?# ") != std::string_view::npos)
    return fmt::format("\"{}\" is no issuer: its URL has no query and no fragment", url);
  return {};
}

Result<std::string> get_document(net::HttpClient& http, const std::string& url) {
  net::ClientRequest request;
  request.url = url;
  request.headers["accept"] = "application/json";
  TW_TRY(auto answer, http.send(request));
  if (answer.status != 200)
    return fail(ErrorCode::unavailable, fmt::format("GET {}: the issuer answered {}", url, answer.status),
                "check oidc.issuer, and whether the issuer works");
  return std::move(answer.body);
}

Result<Endpoints> Provider::endpoints(net::HttpClient& http) {
  {
    const std::scoped_lock lock{mutex_};
    if (endpoints_ && clock_.mono_now() - endpoints_at_ < kLife) return *endpoints_;
  }
  std::string base = issuer_;
  while (base.ends_with('/')) base.pop_back();
  const std::string url = base + "/.well-known/openid-configuration";
  TW_TRY(const auto text, get_document(http, url));
  const auto document = Json::parse(text, nullptr, false);
  if (!document.is_object())
    return fail(ErrorCode::invalid_input, fmt::format("{} is no JSON object", url), "check oidc.issuer");
  if (const auto named = text_of(document, "issuer"); named != issuer_)
    return fail(
        ErrorCode::invalid_input,
        fmt::format("{} is about issuer \"{}\", not about \"{}\"", url, named.substr(0, 200), issuer_),
        "give oidc.issuer exactly as the issuer writes itself");
  Endpoints found{text_of(document, "authorization_endpoint"), text_of(document, "token_endpoint"),
                  text_of(document, "jwks_uri"), wants_secret_in_body(document)};
  for (const auto& [name, address] :
       {std::pair{"authorization_endpoint", &found.authorization}, std::pair{"token_endpoint", &found.token},
        std::pair{"jwks_uri", &found.keys}})
    if (!may_be_asked(*address, issuer_))
      return fail(ErrorCode::invalid_input,
                  fmt::format("{}: {} \"{}\" is no https:// URL", url, name, address->substr(0, 200)),
                  "check oidc.issuer");
  const std::scoped_lock lock{mutex_};
  endpoints_ = found;
  endpoints_at_ = clock_.mono_now();
  return found;
}

Result<std::shared_ptr<const KeySet>> Provider::keys(net::HttpClient& http, bool unknown_key) {
  TW_TRY(const auto endpoints, this->endpoints(http));
  {
    const std::scoped_lock lock{mutex_};
    const auto age = clock_.mono_now() - keys_at_;
    if (keys_ && age < (unknown_key ? kKeyPause : kLife)) return keys_;
    // Also when it fails: a token with an unknown key must not make us ask more often.
    keys_at_ = clock_.mono_now();
  }
  Result<KeySet> set = fetch_keys(http, endpoints.keys);
  const std::scoped_lock lock{mutex_};
  if (!set) {
    if (keys_ && unknown_key) return keys_;
    keys_.reset();
    return tl::unexpected(std::move(set).error());
  }
  keys_ = std::make_shared<const KeySet>(*std::move(set));
  return keys_;
}

}  // namespace tidewatt::oidc
