// Sign-ins through an OpenID Connect issuer: authorization-code flow with PKCE (S256), state and nonce.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "tidewatt/base/clock.h"
#include "tidewatt/base/result.h"
#include "tidewatt/base/rng.h"
#include "tidewatt/net/client.h"
#include "tidewatt/oidc/id_token.h"
#include "tidewatt/units/time.h"

namespace tidewatt::oidc {

struct Options {
  std::string issuer;  ///< exactly as it writes itself: https, or http on loopback
  std::string client_id;
  std::string client_secret;  ///< empty = a public client: PKCE alone
  std::string redirect_url;   ///< where the issuer sends the browser back to, as registered there
  std::string scopes = "openid profile email";
  std::string role_claim = "groups";
  std::size_t most_exchanges = 1;  ///< at once: each holds a thread while the issuer thinks
};

/// Why this can't be an issuer's URL; empty when it can.
std::string issuer_problem(std::string_view url);

/// Makes a client with the deadline and the trusted certificates it is to have.
using HttpFactory = std::function<std::unique_ptr<net::HttpClient>()>;

/// What is known of the issuer: its addresses and its keys. Thread-safe.
class Provider;

/// Thread-safe. Sign-ins under way live in memory: those of a stopped server have to begin again.
class SignOn {
 public:
  static constexpr Milliseconds kSignInLife{10 * 60 * 1000};
  static constexpr std::size_t kMostSignIns = 1'000;  ///< under way; the oldest is forgotten for a new one

  /// @param clock, rng outlive this; rng fit for secrets
  SignOn(Options options, HttpFactory http, const Clock& clock, Rng& rng);
  ~SignOn();
  SignOn(const SignOn&) = delete;
  SignOn& operator=(const SignOn&) = delete;

  struct Started {
    std::string url;             ///< at the issuer: the browser goes there
    std::string browser_secret;  ///< the browser keeps it, and brings it back
  };
  /// @param next where the browser wants to go in the end; kept, not looked at
  /// @error unavailable, timed_out, io: the issuer can't be asked; invalid_input: what it says makes no
  /// sense; conflict: as many exchanges as may be are under way, ask again in a second
  Result<Started> start(std::string next);

  /// What the browser brought back.
  struct Answer {
    std::string state;
    std::string code;
    std::string error;   ///< of the issuer, when it refused
    std::string issuer;  ///< as the answer names it; empty = it doesn't
    std::string browser_secret;
  };
  struct Finished {
    Identity identity;
    std::string next;
  };
  /// @error not_found: no such sign-in (used, too old, or begun in another browser); permission_denied: the
  /// issuer or its token says no; unavailable, timed_out, io, invalid_input as above; conflict: as above, and
  /// the same answer may be brought again
  Result<Finished> finish(const Answer& answer);

 private:
  struct SignIn {
    std::string state_hash;
    std::string browser_hash;
    std::string nonce;
    std::string verifier;
    std::string next;
    UtcTime until{};
  };
  class Exchange;
  std::string random();
  std::optional<SignIn> take(const Answer& answer);
  Result<std::string> redeem(net::HttpClient& http, const std::string& code, const std::string& verifier);
  Status verify(net::HttpClient& http, std::string_view id_token, std::string& payload);

  const Options options_;
  const HttpFactory http_;
  const Clock& clock_;
  Rng& rng_;
  std::unique_ptr<Provider> provider_;
  std::mutex mutex_;
  std::list<SignIn> under_way_;  ///< oldest first
  std::atomic<std::size_t> exchanges_{0};
};

}  // namespace tidewatt::oidc
