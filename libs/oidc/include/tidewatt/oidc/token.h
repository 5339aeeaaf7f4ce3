// A signed token (RFC 7515, compact form) taken apart. Nothing in it is true until its signature is verified.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tidewatt/base/result.h"

namespace tidewatt::oidc {

/// The two that are accepted. "none" and the symmetric ones (HS256...) are not among them: a key that the
/// issuer publishes would then be good for signing.
enum class Algorithm : std::uint8_t { rs256, es256 };

struct SignedToken {
  Algorithm algorithm = Algorithm::rs256;
  std::optional<std::string> key_id;
  std::string signed_part;  ///< what the signature is over
  std::string signature;    ///< raw bytes
  std::string payload;      ///< JSON text
};

/// @error invalid_input: no token, larger than 64 KiB, an algorithm that isn't accepted, or critical
/// extensions that nobody here understands
Result<SignedToken> parse_token(std::string_view compact);

}  // namespace tidewatt::oidc
