// Random requests against a market, looked at from outside after each: what was put in is there, to the
// microgram; a repeated request and a dry run change nothing; nothing is below zero.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tidewatt/market/market.h"

namespace tidewatt::market::testing {

class Operations {
 public:
  Operations(Market& market, std::uint64_t seed, Milliseconds step, std::string key_prefix = "k")
      : market_(market), state_(seed), step_(step), prefix_(std::move(key_prefix)) {}

  UtcTime now{std::chrono::sys_days{std::chrono::year{2026} / 11 / 1}};
  std::uint64_t done = 0, refused = 0, repeated = 0, dry_runs = 0, trades = 0;

  /// One operation. @return what is wrong
  std::optional<std::string> step() {
    now += step_;
    if (pick(20) == 0 && !recent_.empty()) return repeat();
    const Request request{fmt::format("{}{}", prefix_, ++count_), "tester", command()};
    if (std::holds_alternative<Admit>(request.command)) return admit(request);
    const auto outcome = market_.run(request, now);
    if (!outcome) return failed(outcome.error());
    return note(request, *outcome);
  }

  /// Goes on from a book that has something in it already.
  void adopt() {
    const auto& book = market_.book();
    for (const auto& [whose, budget] : book.budgets()) {
      put_in_ += budget.budget() - budget.expired;
      now = std::max(now, whose.first.begin());
    }
    for (auto p = period_of(first_); p.n <= period_of(now).n + kMonthsAhead; p = p.next())
      put_in_ += book.balance({p, AccountKind::expired, {}});
    for (const auto& [team, wallet] : book.wallets()) paid_in_ += Wide{wallet.cash} + wallet.locked;
  }

  /// The books as they must be from what went in.
  [[nodiscard]] std::optional<std::string> sums() const {
    if (auto checked = market_.book().check_sums(); !checked) return checked.error().message;
    Wide budgets = 0;
    for (const auto& [whose, budget] : market_.book().budgets()) budgets += budget.budget() - budget.expired;
    Wide expired = 0;
    for (auto p = period_of(first_); p <= Period{period_of(now).n + kMonthsAhead}; p = p.next())
      expired += market_.book().balance({p, AccountKind::expired, {}});
    if (budgets + expired != put_in_) return "the budgets aren't what was put in";
    Wide money = 0;
    for (const auto& [team, wallet] : market_.book().wallets()) money += Wide{wallet.cash} + wallet.locked;
    return money == paid_in_ ? std::nullopt : std::optional<std::string>("the money isn't what was paid in");
  }

 private:
  std::uint64_t random() {  // splitmix64
    auto z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  std::int64_t pick(std::int64_t below) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(below));
  }
  std::string team() { return kTeams[static_cast<std::size_t>(pick(kTeams.size()))]; }
  Period period() { return {period_of(now).n + (pick(4) == 0 ? pick(3) - 1 : 0)}; }
  /// Of every magnitude, sometimes nothing or less.
  Micrograms amount() {
    if (pick(50) == 0) return {-pick(3)};
    std::int64_t n = 1;
    for (auto digits = pick(13); digits > 0; --digits) n = n * 10 + pick(10);
    return {n};
  }
  template <class Map>
  std::uint64_t any_id(const Map& map) {
    if (map.empty() || pick(20) == 0) return random() % 1'000;
    auto found =
        map.lower_bound(map.begin()->first + random() % (map.rbegin()->first - map.begin()->first + 1));
    return found == map.end() ? map.begin()->first : found->first;
  }

  Command command() {
    const auto& book = market_.book();
    const auto last_month = Period{period_of(now).n - 1};
    if (!book.closed(last_month) && last_month >= period_of(first_))
      return CloseMonth{last_month, static_cast<int>(pick(101))};
    // Books of some size: what comes in goes out.
    if (pick(3) == 0 && book.orders().size() > 60) return CancelOrder{any_id(book.orders()), ""};
    if (pick(3) == 0 && book.reservations().size() > 100) return Release{any_id(book.reservations()), "gone"};
    switch (pick(16)) {
      case 0:
        return Allot{team(), period(), {amount().n * 1'000}};
      case 1:
        return Adjust{team(), period(), {pick(3) == 0 ? -amount().n : amount().n * 100}, "why"};
      case 2:
        return PayIn{team(), {pick(3) == 0 ? -amount().n : amount().n * 10}};
      case 3:
        return Transfer{team(), team(), period(), amount()};
      case 4:
      case 5:
      case 6:
        return admit_command();
      case 7:
      case 8:
        return measure();
      case 9:
        return Release{any_id(book.reservations()), "gone"};
      case 10:
        return Expire{};
      case 11:
        return CancelOrder{any_id(book.orders()), pick(2) == 0 ? team() : ""};
      case 12:
        return Clear{period()};
      default:
        return PlaceOrder{team(),
                          pick(2) == 0 ? Side::offer : Side::bid,
                          period(),
                          amount(),
                          {(1 + pick(200)) * 10'000},
                          pick(8) > 0};
    }
  }
  Admit admit_command() {
    return {team(), pick(5) == 0 ? "" : fmt::format("t{}", pick(1'000)),
            pick(10) == 0 ? std::nullopt : std::optional(amount()), static_cast<Priority>(pick(4)),
            Milliseconds{pick(48) * 3'600'000}};
  }
  Measure measure() {
    Measure ask{team(), period(), amount(), {}};
    if (const auto* budget = market_.book().budget(ask.period, ask.team); budget != nullptr && pick(3) > 0)
      ask.used = {budget->used + pick(1'000'000'000)};
    for (auto parts = pick(3); parts > 0; --parts) {
      const auto id = any_id(market_.book().reservations());
      const auto found = market_.book().reservations().find(id);
      if (found != market_.book().reservations().end() && pick(10) > 0) ask.team = found->second.team;
      ask.parts.push_back({id, amount(), pick(3) == 0});
    }
    return ask;
  }

  std::optional<std::string> admit(const Request& request) {
    const auto before = market_.book().last_seq();
    const bool dry = pick(3) == 0;
    const auto answer = market_.admit(request, now, dry);
    if (!answer) return failed(answer.error());
    const bool recorded = market_.book().last_seq() != before;
    if (dry) ++dry_runs;
    if (dry && recorded) return "a dry run was charged";
    if (recorded != (answer->reservation != 0 && answer->decision.standing == nullptr &&
                     answer->decision.reason != "already_admitted" && !dry))
      return "a reservation without a record, or a record without one";
    if (!recorded) return std::nullopt;
    ++done;
    remember(request, before + 1);
    return std::nullopt;
  }
  std::optional<std::string> note(const Request& request, const Outcome& outcome) {
    ++done;
    trades += outcome.record.trades.size();
    const bool puts_in =
        outcome.record.kind == RecordKind::allot || outcome.record.kind == RecordKind::adjust;
    for (const auto& posting : outcome.record.postings) {
      if (puts_in && posting.account.kind == AccountKind::issued) put_in_ -= posting.amount;
      if (posting.account.kind == AccountKind::paid_in) paid_in_ -= posting.amount;
    }
    remember(request, outcome.record.seq);
    return std::nullopt;
  }
  void remember(const Request& request, std::uint64_t seq) {
    recent_.emplace_back(request, seq);
    if (recent_.size() > 64) recent_.erase(recent_.begin());
  }
  std::optional<std::string> repeat() {
    const auto& [request, seq] =
        recent_[static_cast<std::size_t>(pick(static_cast<std::int64_t>(recent_.size())))];
    const auto before = market_.book().last_seq();
    ++repeated;
    const auto again = market_.run(request, now);
    if (!again || !again->repeated || again->record.seq != seq)
      return "a repeated request had another answer";
    if (market_.book().last_seq() != before) return "a repeated request was done again";
    auto other = request;
    other.command = PayIn{"somebody", {987'654'321}};
    const auto misused = market_.run(other, now);
    if (misused || misused.error().code != ErrorCode::conflict) return "a key was used for two requests";
    return std::nullopt;
  }
  std::optional<std::string> failed(const Error& error) {
    ++refused;
    const bool expected = error.code == ErrorCode::invalid_input || error.code == ErrorCode::conflict ||
                          error.code == ErrorCode::not_found;
    return expected ? std::nullopt : std::optional(error.to_string());
  }

  static constexpr std::array<const char*, 6> kTeams{"vision", "speech", "chat", "search", "infra", "ads"};
  Market& market_;
  std::uint64_t state_;
  Milliseconds step_;
  std::string prefix_;
  std::uint64_t count_ = 0;
  UtcTime first_ = now;
  Wide put_in_ = 0, paid_in_ = 0;
  std::vector<std::pair<Request, std::uint64_t>> recent_;
};

}  // namespace tidewatt::market::testing
