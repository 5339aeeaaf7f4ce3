#include "tidewatt/oidc/id_token.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <cmath>
#include <optional>

#include "json_text.h"

namespace tidewatt::oidc {
namespace {

constexpr std::size_t kLongestName = 128;
constexpr double kLatestSecond = 253402300800.0;  ///< the year 10000

std::string shown(const Json& value) { return value.dump().substr(0, 80); }

tl::unexpected<Error> refused(std::string why, std::string hint = {}) {
  return fail(ErrorCode::permission_denied, "the ID token " + std::move(why), std::move(hint));
}

/// nullopt: absent. @error invalid_input: no number of seconds
Result<std::optional<UtcTime>> time_of(const Json& claims, const char* key) {
  const auto found = claims.find(key);
  if (found == claims.end()) return std::optional<UtcTime>{};
  if (!found->is_number() || !(std::abs(found->get<double>()) < kLatestSecond))
    return fail(ErrorCode::invalid_input,
                fmt::format("the ID token's \"{}\" is no time: {}", key, shown(*found)));
  return std::optional<UtcTime>{
      UtcTime{Milliseconds{static_cast<std::int64_t>(found->get<double>() * 1000.0)}}};
}

Status check_audience(const Json& claims, const std::string& client_id) {
  const auto audience = claims.find("aud");
  const bool alone = audience != claims.end() && audience->is_string();
  bool ours = alone && *audience == client_id;
  std::size_t count = 1;
  if (audience != claims.end() && audience->is_array()) {
    count = audience->size();
    for (const auto& one : *audience) ours = ours || one == client_id;
  }
  if (!ours)
    return refused(fmt::format("is for {}, not for client \"{}\"",
                               audience == claims.end() ? "nobody" : shown(*audience), client_id),
                   "check oidc.client_id");
  const auto party = claims.find("azp");
  if (count > 1 && party == claims.end())
    return refused("is for several clients and doesn't say which asked");
  if (party != claims.end() && *party != client_id)
    return refused(fmt::format("was asked for by client {}", shown(*party)));
  return {};
}

Status check_times(const Json& claims, UtcTime now) {
  TW_TRY(const auto expiry, time_of(claims, "exp"));
  TW_TRY(const auto not_before, time_of(claims, "nbf"));
  TW_TRY(const auto issued, time_of(claims, "iat"));
  if (!expiry) return fail(ErrorCode::invalid_input, "the ID token doesn't say when it expires");
  if (now >= *expiry + kClockSkew)
    return refused("expired at " + format_rfc3339_short(*expiry),
                   "compare this machine's clock with the issuer's");
  for (const auto& from : {not_before, issued})
    if (from && now < *from - kClockSkew)
      return refused("is valid from " + format_rfc3339_short(*from) + " on, which is to come",
                     "compare this machine's clock with the issuer's");
  return {};
}

std::string readable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) continue;
    // At the start of a character only, while the longest one still fits.
    if (out.size() + 4 > kLongestName && (byte & 0xC0U) != 0x80U) break;
    out += c;
  }
  return out;
}

/// The claim by its whole name, else along the dots.
const Json* claim_at(const Json& claims, std::string_view path) {
  if (const auto found = claims.find(path); found != claims.end()) return &*found;
  const Json* at = &claims;
  while (!path.empty()) {
    const auto dot = path.find('.');
    const auto found = at->is_object() ? at->find(path.substr(0, dot)) : at->end();
    if (found == at->end()) return nullptr;
    at = &*found;
    path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
  }
  return at == &claims ? nullptr : at;
}

std::vector<std::string> values_of(const Json& claims, std::string_view path) {
  std::vector<std::string> values;
  const Json* claim = claim_at(claims, path);
  if (claim == nullptr) return values;
  if (claim->is_string()) values.push_back(claim->get<std::string>());
  if (claim->is_array())
    for (const auto& one : *claim)
      if (one.is_string()) values.push_back(one.get<std::string>());
  return values;
}

}  // namespace

Result<Identity> check_id_token(std::string_view payload, const Expected& expected, UtcTime now) {
  const auto claims = Json::parse(payload, nullptr, false);
  if (!claims.is_object()) return fail(ErrorCode::invalid_input, "the ID token's claims are no JSON object");
  if (text_of(claims, "iss") != expected.issuer)
    return refused(fmt::format("is from issuer \"{}\", not from \"{}\"", readable(text_of(claims, "iss")),
                               expected.issuer),
                   "give oidc.issuer exactly as the issuer writes itself");
  TW_TRY_STATUS(check_audience(claims, expected.client_id));
  TW_TRY_STATUS(check_times(claims, now));
  const auto nonce = text_of(claims, "nonce");
  if (expected.nonce.empty() || nonce.size() != expected.nonce.size() ||
      CRYPTO_memcmp(nonce.data(), expected.nonce.data(), nonce.size()) != 0)
    return refused("answers another sign-in: its nonce is not ours");
  Identity identity;
  identity.subject = readable(text_of(claims, "sub"));
  if (identity.subject.empty()) return fail(ErrorCode::invalid_input, "the ID token names no subject");
  for (const char* key : {"preferred_username", "email", "name", "sub"})
    if (identity.name.empty()) identity.name = readable(text_of(claims, key));
  identity.values = values_of(claims, expected.role_claim);
  return identity;
}

}  // namespace tidewatt::oidc
