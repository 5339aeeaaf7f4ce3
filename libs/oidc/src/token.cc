#include "tidewatt/oidc/token.h"

#include <fmt/format.h>

#include "encoding.h"
#include "json_text.h"

namespace tidewatt::oidc {
namespace {

constexpr std::size_t kLargestToken = 64U << 10U;

tl::unexpected<Error> no_token(std::string why) {
  return fail(ErrorCode::invalid_input, "the ID token can't be read: " + std::move(why));
}

}  // namespace

Result<SignedToken> parse_token(std::string_view compact) {
  if (compact.size() > kLargestToken) return no_token(fmt::format("it is {} bytes long", compact.size()));
  const auto first = compact.find('.');
  const auto second = first == std::string_view::npos ? first : compact.find('.', first + 1);
  if (second == std::string_view::npos || compact.find('.', second + 1) != std::string_view::npos)
    return no_token("it has no three parts");
  const auto header_text = from_base64url(compact.substr(0, first));
  auto payload = from_base64url(compact.substr(first + 1, second - first - 1));
  auto signature = from_base64url(compact.substr(second + 1));
  if (!header_text || !payload || !signature) return no_token("a part is no base64url");
  const auto header = Json::parse(*header_text, nullptr, false);
  if (!header.is_object()) return no_token("its header is no JSON object");

  SignedToken token;
  const auto algorithm = header.find("alg");
  if (algorithm == header.end() || !algorithm->is_string()) return no_token("its header names no algorithm");
  if (*algorithm == "RS256") {
    token.algorithm = Algorithm::rs256;
  } else if (*algorithm == "ES256") {
    token.algorithm = Algorithm::es256;
  } else {
    return fail(ErrorCode::invalid_input,
                fmt::format("the ID token's algorithm \"{}\" is not accepted",
                            algorithm->get<std::string>().substr(0, 40)),
                "let the issuer sign with RS256 or ES256");
  }
  if (header.contains("crit")) return no_token("it has critical extensions");
  if (const auto key_id = header.find("kid"); key_id != header.end()) {
    if (!key_id->is_string()) return no_token("its key id is no text");
    token.key_id = key_id->get<std::string>();
  }
  token.signed_part = std::string{compact.substr(0, second)};
  token.signature = *std::move(signature);
  token.payload = *std::move(payload);
  return token;
}

}  // namespace tidewatt::oidc
