// The keys that an issuer publishes (RFC 7517), and what they say of a signature.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/oidc/token.h"

namespace tidewatt::oidc {

class KeySet {
 public:
  /// Keys of other kinds, for encryption, or too weak (RSA below 2048 bits) are left out: an issuer may well
  /// publish more than we can use.
  /// @error invalid_input: no JSON object with a list "keys"
  static Result<KeySet> parse(std::string_view json);

  /// @error not_found: no key of this id and kind (the issuer may have a new one); permission_denied: the key
  /// did not sign this
  [[nodiscard]] Status verify(const SignedToken& token) const;
  [[nodiscard]] std::size_t size() const { return keys_.size(); }

 private:
  struct Key {
    std::optional<std::string> id;
    Algorithm algorithm = Algorithm::rs256;
    std::string first;   ///< RSA: modulus; EC: x
    std::string second;  ///< RSA: exponent; EC: y
  };
  std::vector<Key> keys_;
};

}  // namespace tidewatt::oidc
