// What an issuer says of itself: discovery document and keys, asked for now and then.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "tidewatt/base/clock.h"
#include "tidewatt/base/result.h"
#include "tidewatt/net/client.h"
#include "tidewatt/oidc/keys.h"

namespace tidewatt::oidc {

struct Endpoints {
  std::string authorization;
  std::string token;
  std::string keys;
  bool secret_in_body = false;  ///< client_secret_post, where the issuer doesn't take client_secret_basic
};

class Provider {
 public:
  static constexpr Milliseconds kLife{3600 * 1000};    ///< then it is asked again
  static constexpr Milliseconds kKeyPause{60 * 1000};  ///< between two looks for a key that isn't known

  Provider(std::string issuer, const Clock& clock) : issuer_(std::move(issuer)), clock_(clock) {}

  /// @error what asking gave, or invalid_input: it is no discovery document of this issuer
  Result<Endpoints> endpoints(net::HttpClient& http);
  /// @param unknown_key a key that was looked for isn't among those known: asks again, once a minute
  Result<std::shared_ptr<const KeySet>> keys(net::HttpClient& http, bool unknown_key);

 private:
  const std::string issuer_;
  const Clock& clock_;
  std::mutex mutex_;
  std::optional<Endpoints> endpoints_;
  SteadyTime endpoints_at_{};
  std::shared_ptr<const KeySet> keys_;
  SteadyTime keys_at_{};
};

/// GETs a JSON document. @error as the client's, or unavailable when the status isn't 200
Result<std::string> get_document(net::HttpClient& http, const std::string& url);
/// "https://...", or "http://" where `issuer` itself is http, on this machine.
bool may_be_asked(std::string_view url, std::string_view issuer);

}  // namespace tidewatt::oidc
