#include "tidewatt/api/access.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tidewatt/base/log.h"
#include "tidewatt/units/text.h"

namespace tidewatt::api {
namespace {

constexpr std::size_t kLongestName = 128;
constexpr std::array<std::pair<Role, std::string_view>, 5> kRoles{{{Role::ops, "ops"},
                                                                   {Role::tenant, "tenant"},
                                                                   {Role::viewer, "viewer"},
                                                                   {Role::agent, "agent"},
                                                                   {Role::cluster, "cluster"}}};

Principal principal_of(const ledger::TokenRecord& record, Role role) {
  return Principal{role, record.team, record.name, record.id, record.expires_at, false};
}

}  // namespace

std::string_view to_string(Role role) { return kRoles.at(static_cast<std::size_t>(role)).second; }

std::optional<Role> role_from(std::string_view text) {
  for (const auto& [role, name] : kRoles)
    if (name == text) return role;
  return std::nullopt;
}

std::string sha256_hex(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  std::string hex;
  hex.reserve(std::size_t{size} * 2);
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (unsigned int i = 0; i < size; ++i) {
    hex += kDigits[digest.at(i) >> 4U];
    hex += kDigits[digest.at(i) & 15U];
  }
  return hex;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string Access::secret() {
  return fmt::format("{:016x}{:016x}{:016x}{:016x}", rng_.next(), rng_.next(), rng_.next(), rng_.next());
}

Status Access::note(const std::string& actor, const std::string& action, const std::string& subject) {
  return store_.append_audit({clock_.utc_now(), actor, action, subject});
}

NewToken Access::fresh_token() {
  NewToken token;
  {
    const std::scoped_lock lock{mutex_};
    token.secret = secret();
    token.record.id = secret().substr(0, 16);
  }
  token.record.sha256_hex = sha256_hex(token.secret);
  token.record.created_at = clock_.utc_now();
  return token;
}

Result<NewToken> Access::create_token(const std::string& name, Role role, const std::string& team,
                                      std::optional<UtcTime> expires_at, const std::string& actor) {
  if (trim(name).empty())
    return fail(ErrorCode::invalid_input, "the token has no name", "give one that says who will use it");
  // Names are printed in tables and stand in the audit log.
  if (name.size() > kLongestName || holds_control_characters(name))
    return fail(ErrorCode::invalid_input, "the token's name holds a control character or is too long",
                fmt::format("give one line of at most {} bytes", kLongestName));
  if (role == Role::tenant && team.empty())
    return fail(ErrorCode::invalid_input, "a tenant token needs a team",
                "set \"team\" to the team whose tasks it may see");
  if (role != Role::tenant && !team.empty())
    return fail(ErrorCode::invalid_input,
                fmt::format("a token of role {} has no team, but \"{}\" was given", to_string(role), team),
                "leave \"team\" out, or use role tenant");
  NewToken token = fresh_token();
  token.record.name = name;
  token.record.role = std::string{to_string(role)};
  token.record.team = team;
  token.record.expires_at = expires_at;
  TW_TRY_STATUS(store_.put_token(token.record));
  TW_TRY_STATUS(note(actor, "token.created",
                     fmt::format("{} {} ({}{}{})", token.record.id, name, token.record.role,
                                 team.empty() ? "" : ":", team)));
  TW_TRY([[maybe_unused]] const auto reloaded, tokens(true));
  return token;
}

Result<ledger::TokenRecord> Access::find_token(const std::string& id) {
  TW_TRY(const auto known, tokens(true));
  const auto found =
      std::find_if(known->begin(), known->end(), [&id](const auto& entry) { return entry.second.id == id; });
  if (found == known->end())
    return fail(ErrorCode::not_found, fmt::format("there is no token \"{}\"", id),
                "GET /api/v1/tokens lists them");
  return found->second;
}

Status Access::revoke_token(const std::string& id, const std::string& actor) {
  TW_TRY(auto record, find_token(id));
  if (!record.revoked_at) record.revoked_at = clock_.utc_now();
  TW_TRY_STATUS(store_.put_token(record));
  TW_TRY_STATUS(note(actor, "token.revoked", fmt::format("{} {}", record.id, record.name)));
  TW_TRY([[maybe_unused]] const auto reloaded, tokens(true));
  return {};
}

Result<RotatedToken> Access::rotate_token(const std::string& id, Milliseconds grace,
                                          const std::string& actor) {
  if (grace < Milliseconds{0} || grace > kLongestGrace)
    return fail(ErrorCode::invalid_input, fmt::format("a grace of {} s is not allowed", grace.count() / 1000),
                fmt::format("give 0 to {} s (7 days)", kLongestGrace.count() / 1000));
  TW_TRY(const auto old, find_token(id));
  if (!valid(old))
    return fail(ErrorCode::conflict,
                fmt::format("token \"{}\" is {}: it has nothing to hand on", id,
                            old.revoked_at ? "revoked" : "expired"),
                "make a new token");
  const UtcTime now = clock_.utc_now();
  RotatedToken rotated;
  rotated.successor = fresh_token();
  auto& record = rotated.successor.record;
  record.name = old.name;
  record.role = old.role;
  record.team = old.team;
  record.expires_at = old.expires_at;
  rotated.old_until = old.expires_at ? std::min(*old.expires_at, now + grace) : now + grace;
  auto ended = old;
  (grace == Milliseconds{0} ? ended.revoked_at : ended.expires_at) = rotated.old_until;
  TW_TRY(const bool replaced, store_.replace_token(old, ended, record));
  if (!replaced)
    return fail(ErrorCode::conflict,
                fmt::format("token \"{}\" was revoked or rotated by somebody else meanwhile", id),
                "look at the list of tokens, then try again");
  TW_TRY_STATUS(note(actor, "token.rotated",
                     fmt::format("{} {} -> {}, the old one works until {}", old.id, old.name, record.id,
                                 format_rfc3339(rotated.old_until))));
  TW_TRY([[maybe_unused]] const auto reloaded, tokens(true));
  return rotated;
}

Result<std::shared_ptr<const Access::Tokens>> Access::tokens(bool fresh) {
  const auto now = clock_.mono_now();
  {
    const std::scoped_lock lock{mutex_};
    if (!fresh && tokens_ && now - tokens_at_ < kTokenCacheLife) return tokens_;
  }
  // One reload at a time: an older list must not overwrite the one that lacks a revoked token.
  const std::scoped_lock reloading{reload_mutex_};
  TW_TRY(auto records, store_.tokens());
  auto loaded = std::make_shared<Tokens>();
  for (auto& record : records) {
    std::string hash = record.sha256_hex;
    loaded->insert_or_assign(std::move(hash), std::move(record));
  }
  const std::scoped_lock lock{mutex_};
  tokens_ = std::move(loaded);
  tokens_at_ = now;
  return tokens_;
}

bool Access::valid(const ledger::TokenRecord& record) const {
  return !record.revoked_at && (!record.expires_at || *record.expires_at > clock_.utc_now());
}

Result<std::optional<Principal>> Access::by_token(std::string_view secret_text) {
  const std::string hash = sha256_hex(secret_text);
  TW_TRY(const auto known, tokens(false));
  // The lookup is by the hash of 256 random bits: its timing tells nothing about a secret.
  const auto found = known->find(hash);
  if (found == known->end() || !equal_in_constant_time(found->second.sha256_hex, hash) ||
      !valid(found->second))
    return std::optional<Principal>{};
  const auto role = role_from(found->second.role);
  if (!role) return std::optional<Principal>{};
  return std::optional<Principal>{principal_of(found->second, *role)};
}

Result<std::optional<Principal>> Access::by_session(std::string_view cookie) {
  const std::string hash = sha256_hex(cookie);
  Session session;
  {
    const std::scoped_lock lock{mutex_};
    const auto found = sessions_.find(hash);
    if (found == sessions_.end()) return std::optional<Principal>{};
    if (found->second.expires_at <= clock_.utc_now()) {
      sessions_.erase(found);
      return std::optional<Principal>{};
    }
    session = found->second;
  }
  session.principal.by_cookie = true;
  session.principal.expires_at = session.expires_at;
  if (!still_valid(session.principal)) return std::optional<Principal>{};
  return std::optional<Principal>{std::move(session.principal)};
}

bool Access::still_valid(const Principal& principal) {
  if (principal.expires_at && *principal.expires_at <= clock_.utc_now()) return false;
  if (principal.token_id.empty()) return true;
  const auto known = tokens(false);
  return known && std::any_of((*known)->begin(), (*known)->end(), [&](const auto& entry) {
           return entry.second.id == principal.token_id && valid(entry.second);
         });
}

Result<std::string> Access::open_session(const Principal& principal, std::string_view how) {
  std::string cookie;
  const auto now = clock_.utc_now();
  {
    const std::scoped_lock lock{mutex_};
    std::erase_if(sessions_, [now](const auto& entry) { return entry.second.expires_at <= now; });
    if (sessions_.size() >= kMaxSessions)
      return fail(ErrorCode::unavailable, fmt::format("{} sessions are open", sessions_.size()),
                  "sign in again later");
    cookie = secret();
    auto expiry = now + kSessionLife;
    if (principal.expires_at) expiry = std::min(expiry, *principal.expires_at);
    sessions_.emplace(sha256_hex(cookie), Session{principal, expiry});
  }
  TW_TRY_STATUS(note(principal.name, "session.opened",
                     fmt::format("{}{}{}{}", to_string(principal.role), principal.team.empty() ? "" : ":",
                                 principal.team, how)));
  return cookie;
}

Status Access::close_session(std::string_view cookie, const std::string& actor) {
  {
    const std::scoped_lock lock{mutex_};
    const auto found = sessions_.find(sha256_hex(cookie));
    if (found == sessions_.end()) return {};
    sessions_.erase(found);
  }
  return note(actor, "session.closed", {});
}

void Access::note_failures(const std::string& action, const std::vector<std::string>& lines) {
  for (const auto& line : lines) {
    const auto noted = note("server", action, line);
    // Told when it begins: while the store is away, each try would say the same.
    if (!noted && !audit_failing_.exchange(true))
      log::warning("the audit log can't be written; its entries are lost until it can",
                   {{"first_lost", action + " " + line}, {"error", noted.error().message}});
    if (noted && audit_failing_.exchange(false)) log::info("the audit log can be written again");
  }
}

void Access::note_failed_sign_in(std::string_view address, std::string_view cause) {
  note_failures("sign_in.failed", failed_sign_ins_.add(address, cause, clock_.mono_now()));
}

void Access::note_refused_token(std::string_view address) {
  note_failures("token.refused",
                refused_tokens_.add(address, "not a valid token, or no longer", clock_.mono_now()));
}

void Access::tell_failures() {
  note_failures("sign_in.failed", failed_sign_ins_.tell(clock_.mono_now()));
  note_failures("token.refused", refused_tokens_.tell(clock_.mono_now()));
}

std::string Access::make_login_code() {
  const std::scoped_lock lock{mutex_};
  const auto now = clock_.utc_now();
  std::erase_if(login_codes_, [now](const auto& entry) { return entry.second <= now; });
  std::string code = secret();
  login_codes_.emplace(sha256_hex(code), now + kLoginCodeLife);
  return code;
}

Result<std::optional<std::string>> Access::redeem(std::string_view code) {
  {
    const std::scoped_lock lock{mutex_};
    const auto found = login_codes_.find(sha256_hex(code));
    if (found == login_codes_.end()) return std::optional<std::string>{};
    const bool in_time = found->second > clock_.utc_now();
    login_codes_.erase(found);
    if (!in_time) return std::optional<std::string>{};
  }
  Principal principal;
  principal.role = Role::ops;
  principal.name = "login link";
  TW_TRY(auto cookie, open_session(principal));
  return std::optional<std::string>{std::move(cookie)};
}

}  // namespace tidewatt::api
