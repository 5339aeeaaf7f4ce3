// Admission, what was measured, and what comes back.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "draft.h"
#include "rules.h"
#include "tidewatt/units/printable.h"

namespace tidewatt::market {
namespace {

constexpr std::size_t kMostExpiredAtOnce = 1'000;

/// The reservation with less left; what goes is free again.
void lower(Draft& draft, Reservation& reservation, Micrograms left) {
  draft.move(of_team(reservation.period, AccountKind::reserved, reservation.team),
             of_team(reservation.period, AccountKind::free, reservation.team), reservation.left.n - left.n);
  reservation.left = left;
}

void end(Draft& draft, Reservation reservation) {
  lower(draft, reservation, {});
  reservation.ended = true;
  draft.record().reservations.push_back(std::move(reservation));
}

tl::unexpected<Error> no_reservation(std::uint64_t id) {
  return fail(ErrorCode::not_found, fmt::format("there is no reservation {}", id),
              "it may have ended or expired: look at the history");
}

}  // namespace

Decision admission(const Book& book, const Admit& ask, UtcTime at) {
  Decision decision;
  const auto* budget = book.budget(period_of(at), ask.team);
  if (budget == nullptr) {
    decision.reason = "no_budget";
    return decision;
  }
  decision.remaining = {budget->free};
  if (!ask.task.empty()) decision.standing = book.reservation_of(ask.team, ask.task);
  if (decision.standing != nullptr) {
    decision.reason = "already_admitted";
    return decision;
  }
  const bool critical = ask.priority == Priority::critical;
  decision.constrained = ask.priority == Priority::low && budget->utilization() > kConstrainedAbove;
  if (!ask.estimate) {
    decision.allowed = critical || budget->free > 0;
    decision.reason = decision.allowed ? "no_estimate" : "budget_used_up";
  } else if (ask.estimate->n <= budget->free && (budget->free > 0 || critical)) {
    decision.reason = "within_budget";
  } else if (critical) {
    decision.reason = "critical";
  } else {
    decision.allowed = false;
    decision.reason = budget->free > 0 ? "over_budget" : "budget_used_up";
  }
  if (decision.allowed && ask.estimate) decision.to_reserve = *ask.estimate;
  if (!decision.allowed) decision.constrained = false;
  return decision;
}

Result<Record> decide_admit(const Book& book, const Admit& ask, UtcTime at) {
  TW_TRY_STATUS(check_team(ask.team));
  if (ask.task.size() > kLongestName || !is_printable(ask.task))
    return fail(ErrorCode::invalid_input, "a task's id is too long or holds control characters");
  if (ask.estimate && (ask.estimate->n < 0 || *ask.estimate > kMostCarbon))
    return fail(ErrorCode::invalid_input, "no such estimate", "give 0 to 100,000,000 kg");
  if (ask.start_within <= Milliseconds{0})
    return fail(ErrorCode::invalid_input, "a task can't start before it is admitted");
  const auto decision = admission(book, ask, at);
  if (!decision.allowed)
    return fail(ErrorCode::conflict, decision.reason, "ask without a record: a refusal isn't one");
  if (book.reservations().size() >= kMostReservations)
    return fail(ErrorCode::unavailable, "too many tasks are admitted and not ended",
                "wait until some end, or release them");
  Draft draft(book, RecordKind::admit, at);
  auto& record = draft.record();
  record.note = decision.reason + (decision.constrained ? " constrained" : "");
  const auto period = period_of(at);
  Reservation made{
      record.seq,           ask.team, ask.task, period, decision.to_reserve, decision.to_reserve, at,
      at + ask.start_within};
  made.ended = decision.to_reserve.n == 0;
  record.reservations.push_back(made);
  draft.move(of_team(period, AccountKind::free, ask.team), of_team(period, AccountKind::reserved, ask.team),
             decision.to_reserve.n);
  return draft.finish(ask.priority == Priority::critical ? Draft::Overdraft::allowed
                                                         : Draft::Overdraft::forbidden);
}

Result<Record> decide_measure(const Book& book, const Measure& ask, UtcTime at) {
  TW_TRY_STATUS(check_team(ask.team));
  const auto* budget = book.budget(ask.period, ask.team);
  if (budget == nullptr)
    return fail(ErrorCode::not_found,
                fmt::format("\"{}\" has no budget for {}", ask.team, to_string(ask.period)));
  if (ask.used.n < 0 || ask.used > kMostCarbon)
    return fail(ErrorCode::invalid_input, "what was measured is no amount");
  Draft draft(book, RecordKind::measure, at);
  draft.move(of_team(ask.period, AccountKind::free, ask.team),
             of_team(ask.period, AccountKind::used, ask.team), ask.used.n - budget->used);
  std::set<std::uint64_t> seen;
  for (const auto& part : ask.parts) {
    const auto found = book.reservations().find(part.reservation);
    if (found == book.reservations().end() || found->second.team != ask.team ||
        !seen.insert(part.reservation).second)
      return no_reservation(part.reservation);
    auto reservation = found->second;
    if (part.ended) {
      end(draft, std::move(reservation));
      continue;
    }
    reservation.started = true;
    lower(draft, reservation,
          {std::clamp<std::int64_t>(reservation.estimate.n - part.measured.n, 0, reservation.estimate.n)});
    draft.record().reservations.push_back(std::move(reservation));
  }
  return draft.finish(Draft::Overdraft::allowed);
}

Result<Record> decide_release(const Book& book, const Release& ask, UtcTime at) {
  const auto found = book.reservations().find(ask.reservation);
  if (found == book.reservations().end()) return no_reservation(ask.reservation);
  Draft draft(book, RecordKind::release, at);
  draft.record().note = ask.reason;
  end(draft, found->second);
  return draft.finish();
}

Result<Record> decide_expire(const Book& book, UtcTime at) {
  Draft draft(book, RecordKind::expire, at);
  for (const auto* reservation : book.due(at, kMostExpiredAtOnce)) end(draft, *reservation);
  if (draft.record().reservations.empty())
    return fail(ErrorCode::not_found, "no reservation is due", "nothing is to be done");
  return draft.finish();
}

}  // namespace tidewatt::market
