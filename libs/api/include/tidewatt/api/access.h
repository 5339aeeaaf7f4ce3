// Tokens, sessions and one-time login codes. Secrets are 256 random bits; only their SHA-256 is kept.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/api/failed_attempts.h"
#include "tidewatt/api/role.h"
#include "tidewatt/base/clock.h"
#include "tidewatt/base/result.h"
#include "tidewatt/base/rng.h"
#include "tidewatt/ledger/store.h"

namespace tidewatt::api {

struct NewToken {
  ledger::TokenRecord record;
  std::string secret;  ///< shown once, never stored
};

std::string sha256_hex(std::string_view text);
/// Takes the same time wherever the texts differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

/// A token's successor, and until when the token itself still works.
struct RotatedToken {
  NewToken successor;
  UtcTime old_until{};
};

/// Thread-safe. Sessions and login codes live in memory: a restart signs people out.
class Access {
 public:
  static constexpr Milliseconds kSessionLife{12 * 3600 * 1000};
  static constexpr Milliseconds kLoginCodeLife{15 * 60 * 1000};
  static constexpr std::size_t kMaxSessions = 10'000;
  static constexpr Milliseconds kLongestGrace{7LL * 24 * 3600 * 1000};
  /// How long a token made or revoked by another server may go unnoticed here.
  static constexpr Milliseconds kTokenCacheLife{5'000};

  Access(ledger::Store& store, const Clock& clock, Rng& rng) : store_(store), clock_(clock), rng_(rng) {}

  /// @param actor for the audit log
  /// @error invalid_input: no name, or a tenant without a team; else the store's
  Result<NewToken> create_token(const std::string& name, Role role, const std::string& team,
                                std::optional<UtcTime> expires_at, const std::string& actor);
  /// @error not_found when there is no such token
  Status revoke_token(const std::string& id, const std::string& actor);

  /// A new secret for the same name, role, team and expiry. The old one works for `grace`, and no longer than
  /// it would have; 0 = it is revoked at once.
  /// @error invalid_input: grace out of 0..kLongestGrace; not_found; conflict: revoked or expired; the
  /// store's
  Result<RotatedToken> rotate_token(const std::string& id, Milliseconds grace, const std::string& actor);

  /// Who holds this secret; nullopt when it is unknown, revoked or expired.
  [[nodiscard]] Result<std::optional<Principal>> by_token(std::string_view secret);
  [[nodiscard]] Result<std::optional<Principal>> by_session(std::string_view cookie);

  /// Whether somebody let in earlier may still be here: not expired, the token not revoked.
  [[nodiscard]] bool still_valid(const Principal& principal);

  /// @param how for the audit log, behind the role
  /// @return the cookie's value
  Result<std::string> open_session(const Principal& principal, std::string_view how = {});
  Status close_session(std::string_view cookie, const std::string& actor);

  /// A sign-in that failed: in the audit log by address, told sparingly.
  void note_failed_sign_in(std::string_view address, std::string_view cause);
  /// A request with a token that isn't valid: likewise.
  void note_refused_token(std::string_view address);
  /// Writes counts whose time has come. Called now and then.
  void tell_failures();
  /// Since the start.
  [[nodiscard]] std::uint64_t failed_sign_ins() const { return failed_sign_ins_.total(); }
  [[nodiscard]] std::uint64_t refused_tokens() const { return refused_tokens_.total(); }

  /// A code that opens one ops session within 15 minutes.
  std::string make_login_code();
  /// @return the cookie's value; nullopt when the code is unknown, used or expired
  Result<std::optional<std::string>> redeem(std::string_view code);

 private:
  struct Session {
    Principal principal;
    UtcTime expires_at;
  };
  using Tokens = std::map<std::string, ledger::TokenRecord, std::less<>>;  ///< by hash
  std::string secret();
  /// A record with a fresh id and secret; stored by the caller.
  NewToken fresh_token();
  Result<ledger::TokenRecord> find_token(const std::string& id);
  Result<std::shared_ptr<const Tokens>> tokens(bool fresh);
  bool valid(const ledger::TokenRecord& record) const;
  Status note(const std::string& actor, const std::string& action, const std::string& subject);
  void note_failures(const std::string& action, const std::vector<std::string>& lines);

  ledger::Store& store_;
  const Clock& clock_;
  Rng& rng_;
  FailedAttempts failed_sign_ins_;
  FailedAttempts refused_tokens_;
  std::mutex mutex_;
  std::mutex reload_mutex_;
  std::atomic<bool> audit_failing_{false};
  std::shared_ptr<const Tokens> tokens_;
  SteadyTime tokens_at_{};
  std::map<std::string, Session, std::less<>> sessions_;     ///< by hash of the cookie
  std::map<std::string, UtcTime, std::less<>> login_codes_;  ///< hash of the code -> expiry
};

}  // namespace tidewatt::api
