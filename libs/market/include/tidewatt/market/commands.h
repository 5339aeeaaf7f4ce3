// What may be asked for, and what comes of it. Rules in words: docs/method/market.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/market/book.h"

namespace tidewatt::market {

/// A month's budget: before the month begins, or the team's first in it.
struct Allot {
  std::string team;
  Period period;
  Micrograms amount;
};
/// A correction of a budget that stands, with its reason.
struct Adjust {
  std::string team;
  Period period;
  Micrograms amount;  ///< either way, not 0
  std::string reason;
};
/// Money for bids; below 0 it is paid out.
struct PayIn {
  std::string team;
  MicroMoney amount;
};
/// A gift of one team to another.
struct Transfer {
  std::string from, to;
  Period period;
  Micrograms amount;
};
/// A task wants to start, in the month of the record.
struct Admit {
  std::string team;
  std::string task;  ///< may be empty: then its use can't be told from others', and the reservation expires
  std::optional<Micrograms> estimate;
  Priority priority = Priority::normal;
  Milliseconds start_within{24LL * 3600 * 1000};
};
/// What the energy ledger says: the team's use of a month so far, and what its admitted tasks used.
struct Measure {
  struct Part {
    std::uint64_t reservation = 0;
    Micrograms measured;
    bool ended = false;
  };
  std::string team;
  Period period;
  Micrograms used;
  std::vector<Part> parts;
};
struct Release {
  std::uint64_t reservation = 0;
  std::string reason;
};
/// Gives back what was admitted and never started.
struct Expire {};
struct PlaceOrder {
  std::string team;
  Side side = Side::offer;
  Period period;
  Micrograms amount;
  MicroMoney price;
  bool match = true;  ///< at once; false = it waits for Clear
};
struct CancelOrder {
  std::uint64_t order = 0;
  std::string team;  ///< whose it must be; empty = anybody's
};
/// A call auction: all that crosses trades at one price.
struct Clear {
  Period period;
};
/// The month is over: orders end, what is free expires or is carried over.
struct CloseMonth {
  Period period;
  int carry_percent = 0;
};
using Command = std::variant<Allot, Adjust, PayIn, Transfer, Admit, Measure, Release, Expire, PlaceOrder,
                             CancelOrder, Clear, CloseMonth>;

inline constexpr double kConstrainedAbove = 0.8;
inline constexpr std::size_t kMostOrdersOfATeam = 1'000;
inline constexpr std::size_t kMostOrders = 100'000;
inline constexpr std::size_t kMostReservations = 200'000;
/// Of one record; an order that crosses more is refused, a clearing does the rest in the next one.
inline constexpr std::size_t kMostTradesAtOnce = 10'000;
inline constexpr std::int64_t kMonthsAhead = 12;

/// What an admission answers.
struct Decision {
  bool allowed = true;
  std::string reason;        ///< within_budget | critical | no_budget | no_estimate | already_admitted |
                             ///< over_budget | budget_used_up
  bool constrained = false;  ///< low priority above 80 %: to be labelled
  Micrograms remaining;      ///< before this task
  Micrograms to_reserve;
  const Reservation* standing = nullptr;  ///< already_admitted: the one; lives as long as the state doesn't
                                          ///< change
};
/// Changes nothing: this is all that a dry run does.
Decision admission(const Book& book, const Admit& ask, UtcTime at);

/// The same request has the same words.
std::string words_of(const Command& command);

/// The record that does it, numbered as the state's next one; key and actor are the caller's to fill in.
/// @error invalid_input  no such amount, team or month
/// @error conflict  the rules say no as things stand: too little is free, the month is closed, ...
/// @error not_found  no such order or reservation
Result<Record> decide(const Book& book, const Command& command, UtcTime at);

}  // namespace tidewatt::market
