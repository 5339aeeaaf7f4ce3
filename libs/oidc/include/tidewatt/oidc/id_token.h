// What an ID token claims, and the checks after which it may be believed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/units/time.h"

namespace tidewatt::oidc {

/// How far the issuer's clock may be from ours.
inline constexpr Milliseconds kClockSkew{60'000};

struct Expected {
  std::string issuer;
  std::string client_id;
  std::string nonce;
  std::string role_claim;  ///< "groups", or a path: "realm_access.roles"
};

/// Somebody the issuer vouches for.
struct Identity {
  std::string subject;  ///< the issuer's lasting name for them
  std::string name;     ///< for people to read; without control characters, at most 128 bytes
  std::vector<std::string>
      values;  ///< of the role claim, in its order; a single text counts as a list of one
};

/// @param payload of a token whose signature is verified
/// @error permission_denied: from another issuer, for another client, expired, not yet valid, or not the
/// answer to our question; invalid_input: a claim is missing or of the wrong type
Result<Identity> check_id_token(std::string_view payload, const Expected& expected, UtcTime now);

}  // namespace tidewatt::oidc
