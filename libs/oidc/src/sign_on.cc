#include "tidewatt/oidc/sign_on.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <utility>

#include "encoding.h"
#include "json_text.h"
#include "provider.h"
#include "tidewatt/oidc/token.h"

namespace tidewatt::oidc {
namespace {

void add_parameter(std::string& text, std::string_view name, std::string_view value) {
  if (!text.empty()) text += '&';
  text += fmt::format("{}={}", name, percent_encode(value));
}

bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

/// Counts one exchange with the issuer while it lives.
class SignOn::Exchange {
 public:
  explicit Exchange(SignOn& owner)
      : count_(owner.exchanges_), may_(++count_ <= owner.options_.most_exchanges) {}
  ~Exchange() { --count_; }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  [[nodiscard]] bool may() const { return may_; }
  static tl::unexpected<Error> busy() {
    return fail(ErrorCode::conflict, "other sign-ins are being checked with the issuer",
                "try again in a second");
  }

 private:
  std::atomic<std::size_t>& count_;
  bool may_;
};

SignOn::SignOn(Options options, HttpFactory http, const Clock& clock, Rng& rng)
    : options_(std::move(options)),
      http_(std::move(http)),
      clock_(clock),
      rng_(rng),
      provider_(std::make_unique<Provider>(options_.issuer, clock)) {}
SignOn::~SignOn() = default;

std::string SignOn::random() {
  std::string bytes;
  for (int i = 0; i < 4; ++i) {
    std::uint64_t word = rng_.next();
    for (int j = 0; j < 8; ++j, word >>= 8U) bytes += static_cast<char>(word & 255U);
  }
  return base64url(bytes);
}

Result<SignOn::Started> SignOn::start(std::string next) {
  const Exchange exchange{*this};
  if (!exchange.may()) return Exchange::busy();
  TW_TRY(const auto endpoints, provider_->endpoints(*http_()));
  SignIn sign_in;
  sign_in.next = std::move(next);
  sign_in.until = clock_.utc_now() + kSignInLife;
  std::string state;
  Started started;
  {
    const std::scoped_lock lock{mutex_};
    state = random();
    started.browser_secret = random();
    sign_in.nonce = random();
    sign_in.verifier = random();
    sign_in.state_hash = sha256(state);
    sign_in.browser_hash = sha256(started.browser_secret);
  }
  std::string query;
  add_parameter(query, "response_type", "code");
  add_parameter(query, "client_id", options_.client_id);
  add_parameter(query, "redirect_uri", options_.redirect_url);
  add_parameter(query, "scope", options_.scopes);
  add_parameter(query, "state", state);
  add_parameter(query, "nonce", sign_in.nonce);
  add_parameter(query, "code_challenge", base64url(sha256(sign_in.verifier)));
  add_parameter(query, "code_challenge_method", "S256");
  const char joint = endpoints.authorization.find('?') == std::string::npos ? '?' : '&';
  started.url = fmt::format("{}{}{}", endpoints.authorization, joint, query);
  const std::scoped_lock lock{mutex_};
  const auto now = clock_.utc_now();
  std::erase_if(under_way_, [now](const SignIn& one) { return one.until <= now; });
  if (under_way_.size() >= kMostSignIns) under_way_.pop_front();
  under_way_.push_back(std::move(sign_in));
  return started;
}

std::optional<SignOn::SignIn> SignOn::take(const Answer& answer) {
  const std::string state_hash = sha256(answer.state);
  const std::string browser_hash = sha256(answer.browser_secret);
  const auto now = clock_.utc_now();
  const std::scoped_lock lock{mutex_};
  for (auto at = under_way_.begin(); at != under_way_.end(); ++at) {
    if (!same(at->state_hash, state_hash)) continue;
    // Another browser must not even use it up: whoever learns a state could keep its owner out.
    if (!same(at->browser_hash, browser_hash)) return std::nullopt;
    std::optional<SignIn> found{std::move(*at)};
    under_way_.erase(at);
    if (found->until <= now) return std::nullopt;
    return found;
  }
  return std::nullopt;
}

Result<std::string> SignOn::redeem(net::HttpClient& http, const std::string& code,
                                   const std::string& verifier) {
  TW_TRY(const auto endpoints, provider_->endpoints(http));
  net::ClientRequest request;
  request.method = "POST";
  request.url = endpoints.token;
  request.headers["content-type"] = "application/x-www-form-urlencoded";
  request.headers["accept"] = "application/json";
  add_parameter(request.body, "grant_type", "authorization_code");
  add_parameter(request.body, "code", code);
  add_parameter(request.body, "redirect_uri", options_.redirect_url);
  add_parameter(request.body, "code_verifier", verifier);
  if (options_.client_secret.empty() || endpoints.secret_in_body)
    add_parameter(request.body, "client_id", options_.client_id);
  if (!options_.client_secret.empty() && endpoints.secret_in_body)
    add_parameter(request.body, "client_secret", options_.client_secret);
  if (!options_.client_secret.empty() && !endpoints.secret_in_body)
    request.headers["authorization"] =
        "Basic " + base64(percent_encode(options_.client_id) + ":" + percent_encode(options_.client_secret));
  TW_TRY(const auto answer, http.send(request));
  const auto body = Json::parse(answer.body, nullptr, false);
  if (answer.status >= 500)
    return fail(ErrorCode::unavailable, fmt::format("the issuer's token endpoint answered {}", answer.status),
                "see whether the issuer works");
  if (answer.status != 200) {
    // Its error code is one of a few known words; the rest of its answer isn't for our log.
    const bool told = body.is_object() && body.contains("error") && body["error"].is_string();
    return fail(
        ErrorCode::permission_denied,
        fmt::format("the issuer gave no token: {} {}", answer.status,
                    told ? Json(body["error"].get<std::string>().substr(0, 40)).dump() : std::string{}),
        "check oidc.client_id, oidc.client_secret_file and the redirect URL registered at the issuer");
  }
  if (!body.is_object() || !body.contains("id_token") || !body["id_token"].is_string())
    return fail(ErrorCode::invalid_input, "the issuer's answer has no id_token", "ask for the scope openid");
  return body["id_token"].get<std::string>();
}

Status SignOn::verify(net::HttpClient& http, std::string_view id_token, std::string& payload) {
  TW_TRY(auto token, parse_token(id_token));
  TW_TRY(const auto known, provider_->keys(http, false));
  auto verdict = known->verify(token);
  if (!verdict && verdict.error().code == ErrorCode::not_found) {
    // The issuer may have changed its keys since.
    TW_TRY(const auto fresh, provider_->keys(http, true));
    verdict = fresh->verify(token);
    if (!verdict && verdict.error().code == ErrorCode::not_found)
      return fail(ErrorCode::permission_denied, verdict.error().message);
  }
  if (verdict) payload = std::move(token.payload);
  return verdict;
}

Result<SignOn::Finished> SignOn::finish(const Answer& answer) {
  const Exchange exchange{*this};
  if (!exchange.may()) return Exchange::busy();
  auto sign_in = take(answer);
  if (!sign_in)
    return fail(ErrorCode::not_found,
                "no such sign-in is under way: it is used, too old, or of another browser", "begin again");
  if (!answer.error.empty())
    return fail(ErrorCode::permission_denied,
                "the issuer refused: " +
                    Json(answer.error.substr(0, 40)).dump(-1, ' ', true, Json::error_handler_t::replace));
  if (!answer.issuer.empty() && answer.issuer != options_.issuer)
    return fail(ErrorCode::permission_denied, "the answer is another issuer's");
  if (answer.code.empty()) return fail(ErrorCode::permission_denied, "the issuer's answer has no code");
  const auto http = http_();
  TW_TRY(const auto id_token, redeem(*http, answer.code, sign_in->verifier));
  std::string payload;
  TW_TRY_STATUS(verify(*http, id_token, payload));
  Finished finished;
  TW_TRY(finished.identity,
         check_id_token(payload, {options_.issuer, options_.client_id, sign_in->nonce, options_.role_claim},
                        clock_.utc_now()));
  finished.next = std::move(sign_in->next);
  return finished;
}

}  // namespace tidewatt::oidc
