// What is written down: one record for each thing that happened, with double-entry postings. A state is the
// sum of the records; none is ever changed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/market/amounts.h"

namespace tidewatt::market {

enum class AccountKind : std::uint8_t {
  // carbon, micrograms; by month
  issued,     ///< of nobody; below zero by what was allotted
  free,       ///< of a team, as all up to overdraft: may be reserved, offered or used
  reserved,   ///< for admitted tasks
  offered,    ///< locked by offers
  used,       ///< measured
  overdraft,  ///< at most zero: what was used or reserved beyond the budget
  expired,    ///< of nobody: left when the month ended
  // money, millionths; of no month
  paid_in,  ///< of nobody; below zero by what was paid in
  cash,
  locked,  ///< by bids
};
inline constexpr int kAccountKinds = 10;
constexpr bool is_money(AccountKind kind) { return kind >= AccountKind::paid_in; }

struct Account {
  Period period;  ///< {} for money
  AccountKind kind = AccountKind::free;
  std::string team;  ///< empty = of nobody
  friend auto operator<=>(const Account&, const Account&) = default;
};

struct Posting {
  Account account;
  std::int64_t amount = 0;
  friend bool operator==(const Posting&, const Posting&) = default;
};

enum class Priority : std::uint8_t { low, normal, high, critical };

/// What an admitted task may still use. Ended reservations are forgotten by the state, not by the history.
struct Reservation {
  std::uint64_t id = 0;  ///< the record that made it
  std::string team;
  std::string task;
  Period period;
  Micrograms estimate;
  Micrograms left;  ///< estimate less what was measured of the task, never below 0
  UtcTime made_at{};
  UtcTime expires_at{};  ///< unless it started before
  bool started = false;
  bool ended = false;
  friend bool operator==(const Reservation&, const Reservation&) = default;
};

enum class Side : std::uint8_t { offer, bid };

struct Order {
  std::uint64_t id = 0;  ///< the record that made it: earlier is smaller
  std::string team;
  Side side = Side::offer;
  Period period;
  MicroMoney price;   ///< a kg; the least an offer takes, the most a bid gives
  Micrograms amount;  ///< as posted
  Micrograms left;    ///< 0 = gone
  UtcTime posted_at{};
  friend bool operator==(const Order&, const Order&) = default;
};

struct Trade {
  std::uint64_t offer = 0;
  std::uint64_t bid = 0;
  std::string seller;
  std::string buyer;
  Period period;
  Micrograms amount;
  MicroMoney price;  ///< a kg
  MicroMoney cost;   ///< what was paid
  friend bool operator==(const Trade&, const Trade&) = default;
};

enum class RecordKind : std::uint8_t {
  allot,
  adjust,
  pay_in,
  transfer,
  admit,
  measure,
  release,
  expire,
  order,
  cancel,
  clear,
  close
};
std::string_view to_string(RecordKind kind);
std::string_view to_string(AccountKind kind);
std::string_view to_string(Side side);
std::string_view to_string(Priority priority);

struct Record {
  std::uint64_t seq = 0;  ///< from 1, without gaps
  std::string key;        ///< the caller's: the same key is the same request
  UtcTime at{};
  std::string actor;
  RecordKind kind = RecordKind::allot;
  std::string request;            ///< in canonical words; another request under the same key is refused
  std::string note;               ///< why, or what was answered
  std::vector<Posting> postings;  ///< carbon of each month adds up to 0, and so does money
  std::vector<Reservation> reservations;  ///< as they stand now
  std::vector<Order> orders;              ///< as they stand now
  std::vector<Trade> trades;
  std::optional<Period> closed;
  friend bool operator==(const Record&, const Record&) = default;
};

}  // namespace tidewatt::market
