#include "tidewatt/oidc/keys.h"

#include <fmt/format.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <memory>
#include <utility>

#include "encoding.h"
#include "json_text.h"

namespace tidewatt::oidc {
namespace {

template <class T, void (*Free)(T*)>
struct Freed {
  void operator()(T* pointer) const { Free(pointer); }
};
using Number = std::unique_ptr<BIGNUM, Freed<BIGNUM, BN_free>>;
using PublicKey = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY, EVP_PKEY_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX, EVP_PKEY_CTX_free>>;
using ParameterBuilder = std::unique_ptr<OSSL_PARAM_BLD, Freed<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free>>;
using Parameters = std::unique_ptr<OSSL_PARAM, Freed<OSSL_PARAM, OSSL_PARAM_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX, EVP_MD_CTX_free>>;
using Signature = std::unique_ptr<ECDSA_SIG, Freed<ECDSA_SIG, ECDSA_SIG_free>>;

constexpr std::size_t kCoordinate = 32;  ///< bytes, on P-256
constexpr int kFewestRsaBits = 2048;
constexpr int kMostRsaBits = 16384;  ///< verifying with more takes long: keys are foreign input

const unsigned char* bytes_of(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Number number_of(const std::string& big_endian) {
  return Number{BN_bin2bn(bytes_of(big_endian), static_cast<int>(big_endian.size()), nullptr)};
}

PublicKey build(const char* kind, OSSL_PARAM_BLD* builder) {
  const Parameters parameters{OSSL_PARAM_BLD_to_param(builder)};
  const KeyContext context{EVP_PKEY_CTX_new_from_name(nullptr, kind, nullptr)};
  EVP_PKEY* key = nullptr;
  if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1)
    return nullptr;
  return PublicKey{key};
}

PublicKey rsa_key(const std::string& modulus, const std::string& exponent) {
  const Number n = number_of(modulus);
  const Number e = number_of(exponent);
  const ParameterBuilder builder{OSSL_PARAM_BLD_new()};
  if (!n || !e || !builder || OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1)
    return nullptr;
  auto key = build("RSA", builder.get());
  if (!key || EVP_PKEY_get_bits(key.get()) < kFewestRsaBits) return nullptr;
  return key;
}

PublicKey ec_key(const std::string& x, const std::string& y) {
  const std::string point = "\x04" + x + y;
  const ParameterBuilder builder{OSSL_PARAM_BLD_new()};
  if (!builder ||
      OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) != 1 ||
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()) !=
          1)
    return nullptr;
  return build("EC", builder.get());
}

/// OpenSSL wants r and s in DER, tokens carry them side by side.
std::string der_signature(const std::string& raw) {
  const Signature signature{ECDSA_SIG_new()};
  Number r = number_of(raw.substr(0, kCoordinate));
  Number s = number_of(raw.substr(kCoordinate));
  if (!signature || !r || !s) return {};
  ECDSA_SIG_set0(signature.get(), r.release(), s.release());
  const int size = i2d_ECDSA_SIG(signature.get(), nullptr);
  if (size <= 0) return {};
  std::string der(static_cast<std::size_t>(size), '\0');
  auto* out = reinterpret_cast<unsigned char*>(der.data());
  i2d_ECDSA_SIG(signature.get(), &out);
  return der;
}

bool signed_by(EVP_PKEY* key, const std::string& text, const std::string& signature) {
  const DigestContext context{EVP_MD_CTX_new()};
  return context && EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key) == 1 &&
         EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(text),
                          text.size()) == 1;
}

std::string bytes_at(const Json& object, const char* key) {
  return from_base64url(text_of(object, key)).value_or(std::string{});
}

}  // namespace

Result<KeySet> KeySet::parse(std::string_view json) {
  const auto document = Json::parse(json, nullptr, false);
  if (!document.is_object() || !document.contains("keys") || !document["keys"].is_array())
    return fail(ErrorCode::invalid_input, "the issuer's keys are no JSON object with a list \"keys\"");
  KeySet set;
  for (const auto& entry : document["keys"]) {
    if (!entry.is_object()) continue;
    if (const auto use = text_of(entry, "use"); !use.empty() && use != "sig") continue;
    const auto named = text_of(entry, "alg");
    Key key;
    if (entry.contains("kid")) key.id = text_of(entry, "kid");
    const auto kind = text_of(entry, "kty");
    if (kind == "RSA" && (named.empty() || named == "RS256")) {
      key.algorithm = Algorithm::rs256;
      key.first = bytes_at(entry, "n");
      key.second = bytes_at(entry, "e");
      if (key.first.size() > kMostRsaBits / 8 || key.second.size() > 8 || !rsa_key(key.first, key.second))
        continue;
    } else if (kind == "EC" && text_of(entry, "crv") == "P-256" && (named.empty() || named == "ES256")) {
      key.algorithm = Algorithm::es256;
      key.first = bytes_at(entry, "x");
      key.second = bytes_at(entry, "y");
      if (key.first.size() != kCoordinate || key.second.size() != kCoordinate ||
          !ec_key(key.first, key.second))
        continue;
    } else {
      continue;
    }
    set.keys_.push_back(std::move(key));
  }
  return set;
}

Status KeySet::verify(const SignedToken& token) const {
  std::vector<const Key*> fitting;
  for (const auto& key : keys_)
    if (key.algorithm == token.algorithm && (!token.key_id || key.id == token.key_id))
      fitting.push_back(&key);
  if (fitting.empty())
    return fail(ErrorCode::not_found,
                fmt::format("the ID token is signed with key \"{}\", which the issuer doesn't list",
                            token.key_id.value_or("").substr(0, 80)));
  if (!token.key_id && fitting.size() > 1)
    return fail(ErrorCode::permission_denied,
                "the ID token doesn't say with which of the issuer's keys it is signed",
                "let the issuer put a kid into its tokens");
  const bool rsa = token.algorithm == Algorithm::rs256;
  if (!rsa && token.signature.size() != 2 * kCoordinate)
    return fail(ErrorCode::permission_denied, "the ID token's signature has a wrong length");
  const std::string signature = rsa ? token.signature : der_signature(token.signature);
  for (const Key* key : fitting) {
    const PublicKey openssl_key = rsa ? rsa_key(key->first, key->second) : ec_key(key->first, key->second);
    if (openssl_key && signed_by(openssl_key.get(), token.signed_part, signature)) return {};
  }
  return fail(ErrorCode::permission_denied, "the ID token's signature is not the issuer's");
}

}  // namespace tidewatt::oidc
