#include "tidewatt/market/market.h"

#include <fmt/format.h>

namespace tidewatt::market {
namespace {

constexpr std::size_t kReadAtOnce = 1'000;
/// Another writer may come between each time; so many in a row are none.
constexpr int kTries = 100;

}  // namespace

Status Market::catch_up() {
  while (true) {
    TW_TRY(const auto records, journal_.read(book_.last_seq(), kReadAtOnce));
    for (const auto& record : records) TW_TRY_STATUS(book_.apply(record));
    if (records.size() < kReadAtOnce) return {};
  }
}

Result<std::optional<Outcome>> Market::done_before(const Request& request) {
  TW_TRY(auto found, journal_.find(request.key));
  if (!found) return std::nullopt;
  if (found->request != words_of(request.command))
    return fail(ErrorCode::conflict,
                fmt::format("key \"{}\" was used for another request: {}", request.key, found->request),
                "use a new key for a new request, and the old one only to repeat the old");
  TW_TRY_STATUS(catch_up());
  return Outcome{*std::move(found), true};
}

Result<Outcome> Market::run(const Request& request, UtcTime at) {
  if (request.key.empty() || request.key.size() > 255)
    return fail(ErrorCode::invalid_input, "a request needs a key of 1 to 255 bytes",
                "send one that no other request has, and the same to repeat it");
  TW_TRY(auto before, done_before(request));
  if (before) return *std::move(before);
  TW_TRY_STATUS(catch_up());
  for (int i = 0; i < kTries; ++i) {
    TW_TRY(auto record, decide(book_, request.command, at));
    record.key = request.key;
    record.actor = request.actor;
    TW_TRY(const auto appended, journal_.append(record));
    if (appended == Appended::done) {
      TW_TRY_STATUS(book_.apply(record));
      return Outcome{std::move(record), false};
    }
    if (appended == Appended::key_known) {
      TW_TRY(before, done_before(request));
      if (before) return *std::move(before);
    }
    TW_TRY_STATUS(catch_up());
  }
  return fail(ErrorCode::unavailable, "others write all the time", "try again in a moment");
}

Result<Admission> Market::admit(const Request& request, UtcTime at, bool dry_run) {
  const auto* ask = std::get_if<Admit>(&request.command);
  if (ask == nullptr) return fail(ErrorCode::internal, "no admission");
  TW_TRY_STATUS(catch_up());
  auto decision = admission(book_, *ask, at);
  const auto told = [](Decision shown, const Reservation* made, bool repeated) {
    shown.standing = nullptr;
    Admission answer{std::move(shown), 0, std::nullopt, repeated};
    if (made != nullptr) {
      answer.reservation = made->id;
      answer.expires_at = made->expires_at;
    }
    return answer;
  };
  if (dry_run) return told(decision, decision.standing, false);
  // The same request again is answered as the first time, also when its task has ended meanwhile.
  TW_TRY(const auto before, done_before(request));
  if (before) {
    const auto& record = before->record;
    decision.allowed = true;
    decision.constrained = record.note.ends_with(" constrained");
    decision.reason = record.note.substr(0, record.note.find(' '));
    decision.to_reserve = record.reservations.empty() ? Micrograms{} : record.reservations[0].estimate;
    return told(decision, record.reservations.empty() ? nullptr : record.reservations.data(), true);
  }
  if (decision.standing != nullptr || !decision.allowed || decision.to_reserve.n == 0)
    return told(decision, decision.standing, false);
  auto outcome = run(request, at);
  if (!outcome && outcome.error().code == ErrorCode::conflict) {
    // Somebody else was faster: what is left decides.
    decision = admission(book_, *ask, at);
    if (!decision.allowed || decision.standing != nullptr) return told(decision, decision.standing, false);
  }
  if (!outcome) return tl::unexpected(std::move(outcome).error());
  return told(decision, outcome->record.reservations.data(), outcome->repeated);
}

}  // namespace tidewatt::market
