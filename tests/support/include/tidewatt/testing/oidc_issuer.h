// Keys made anew for each test program, tokens signed with them, and an issuer without sockets.
#pragma once

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tidewatt/net/client.h"

namespace tidewatt::oidc::testing {

using Json = nlohmann::json;

inline std::string base64url(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  while (text.ends_with('=')) text.pop_back();
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return text;
}

class TestKey {
 public:
  static TestKey rsa(std::string id, unsigned bits = 2048) {
    return TestKey{std::move(id), EVP_RSA_gen(bits), true};
  }
  static TestKey ec(std::string id) { return TestKey{std::move(id), EVP_EC_gen("P-256"), false}; }

  [[nodiscard]] Json jwk() const {
    Json json{{"kid", id_}, {"use", "sig"}};
    if (rsa_) {
      json.update(
          {{"kty", "RSA"}, {"n", number(OSSL_PKEY_PARAM_RSA_N, 0)}, {"e", number(OSSL_PKEY_PARAM_RSA_E, 0)}});
    } else {
      json.update({{"kty", "EC"},
                   {"crv", "P-256"},
                   {"x", number(OSSL_PKEY_PARAM_EC_PUB_X, 32)},
                   {"y", number(OSSL_PKEY_PARAM_EC_PUB_Y, 32)}});
    }
    return json;
  }
  [[nodiscard]] Json header() const {
    return {{"alg", rsa_ ? "RS256" : "ES256"}, {"kid", id_}, {"typ", "JWT"}};
  }
  [[nodiscard]] std::string token(const Json& claims) const { return token(header(), claims.dump()); }
  [[nodiscard]] std::string token(const Json& header, const std::string& payload) const {
    const std::string text = base64url(header.dump()) + "." + base64url(payload);
    return text + "." + base64url(signature(text));
  }
  [[nodiscard]] const std::string& id() const { return id_; }

 private:
  TestKey(std::string id, EVP_PKEY* key, bool rsa)
      : id_(std::move(id)), key_(key, EVP_PKEY_free), rsa_(rsa) {}

  [[nodiscard]] std::string number(const char* name, int size) const {
    BIGNUM* value = nullptr;
    EVP_PKEY_get_bn_param(key_.get(), name, &value);
    std::string bytes(static_cast<std::size_t>(size > 0 ? size : BN_num_bytes(value)), '\0');
    BN_bn2binpad(value, reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
    BN_free(value);
    return base64url(bytes);
  }

  [[nodiscard]] std::string signature(const std::string& text) const {
    const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context{EVP_MD_CTX_new(), EVP_MD_CTX_free};
    EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get());
    const auto* const input = reinterpret_cast<const unsigned char*>(text.data());
    std::size_t size = 0;
    EVP_DigestSign(context.get(), nullptr, &size, input, text.size());
    std::string out(size, '\0');
    EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size, input, text.size());
    out.resize(size);
    if (rsa_) return out;
    const auto* der = reinterpret_cast<const unsigned char*>(out.data());
    ECDSA_SIG* both = d2i_ECDSA_SIG(nullptr, &der, static_cast<long>(out.size()));
    std::string raw(64, '\0');
    BN_bn2binpad(ECDSA_SIG_get0_r(both), reinterpret_cast<unsigned char*>(raw.data()), 32);
    BN_bn2binpad(ECDSA_SIG_get0_s(both), reinterpret_cast<unsigned char*>(raw.data()) + 32, 32);
    ECDSA_SIG_free(both);
    return raw;
  }

  std::string id_;
  std::shared_ptr<EVP_PKEY> key_;
  bool rsa_;
};

/// Signed with a secret: what nobody may accept.
inline std::string hs256_token(const std::string& secret, const Json& claims) {
  const std::string text = base64url(R"({"alg":"HS256","typ":"JWT"})") + "." + base64url(claims.dump());
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest, &size);
  return text + "." + base64url({reinterpret_cast<const char*>(digest), size});
}

/// Answers by URL without query; remembers what it was asked.
class FakeWeb {
 public:
  std::map<std::string, std::function<Result<net::Response>(const net::ClientRequest&)>> pages;
  std::vector<net::ClientRequest> asked;

  std::unique_ptr<net::HttpClient> client() { return std::make_unique<Client>(*this); }
  [[nodiscard]] std::size_t times(std::string_view url) const {
    std::size_t count = 0;
    for (const auto& request : asked)
      if (request.url == url) ++count;
    return count;
  }

 private:
  class Client final : public net::HttpClient {
   public:
    explicit Client(FakeWeb& web) : web_(web) {}
    Result<net::Response> stream(const net::ClientRequest& request, const net::Streaming&) override {
      return send(request);
    }
    Result<net::Response> send(const net::ClientRequest& request) override {
      web_.asked.push_back(request);
      const auto page = web_.pages.find(request.url);
      if (page == web_.pages.end()) return net::Response{404, {}, ""};
      return page->second(request);
    }

   private:
    FakeWeb& web_;
  };
};

}  // namespace tidewatt::oidc::testing
