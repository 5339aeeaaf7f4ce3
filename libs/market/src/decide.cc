#include <fmt/format.h>

#include "rules.h"
#include "tidewatt/units/printable.h"

namespace tidewatt::market {
namespace {

std::string own_words(const Allot& c) {
  return fmt::format("allot {} {} {}", to_string(c.period), c.amount.n, c.team);
}
std::string own_words(const Adjust& c) {
  return fmt::format("adjust {} {} {}: {}", to_string(c.period), c.amount.n, c.team, c.reason);
}
std::string own_words(const PayIn& c) { return fmt::format("pay in {} {}", c.amount.n, c.team); }
std::string own_words(const Transfer& c) {
  return fmt::format("transfer {} {} {} -> {}", to_string(c.period), c.amount.n, c.from, c.to);
}
std::string own_words(const Admit& c) {
  return fmt::format("admit {} {} {}/{}", c.estimate ? std::to_string(c.estimate->n) : "unknown",
                     to_string(c.priority), c.team, c.task);
}
std::string own_words(const Measure& c) {
  auto words = fmt::format("measure {} {} {}", to_string(c.period), c.used.n, c.team);
  for (const auto& part : c.parts)
    words += fmt::format(" {}:{}{}", part.reservation, part.measured.n, part.ended ? " ended" : "");
  return words;
}
std::string own_words(const Release& c) { return fmt::format("release {}: {}", c.reservation, c.reason); }
std::string own_words(const Expire&) { return "expire"; }
std::string own_words(const PlaceOrder& c) {
  return fmt::format("{} {} {} at {} {}{}", to_string(c.side), to_string(c.period), c.amount.n, c.price.n,
                     c.team, c.match ? "" : " for a call");
}
std::string own_words(const CancelOrder& c) { return fmt::format("cancel {}", c.order); }
std::string own_words(const Clear& c) { return "clear " + to_string(c.period); }
std::string own_words(const CloseMonth& c) {
  return fmt::format("close {} carrying {}%", to_string(c.period), c.carry_percent);
}

Result<Record> record_of(const Book& b, const Allot& c, UtcTime at) { return decide_allot(b, c, at); }
Result<Record> record_of(const Book& b, const Adjust& c, UtcTime at) { return decide_adjust(b, c, at); }
Result<Record> record_of(const Book& b, const PayIn& c, UtcTime at) { return decide_pay_in(b, c, at); }
Result<Record> record_of(const Book& b, const Transfer& c, UtcTime at) { return decide_transfer(b, c, at); }
Result<Record> record_of(const Book& b, const Admit& c, UtcTime at) { return decide_admit(b, c, at); }
Result<Record> record_of(const Book& b, const Measure& c, UtcTime at) { return decide_measure(b, c, at); }
Result<Record> record_of(const Book& b, const Release& c, UtcTime at) { return decide_release(b, c, at); }
Result<Record> record_of(const Book& b, const Expire&, UtcTime at) { return decide_expire(b, at); }
Result<Record> record_of(const Book& b, const PlaceOrder& c, UtcTime at) { return decide_order(b, c, at); }
Result<Record> record_of(const Book& b, const CancelOrder& c, UtcTime at) { return decide_cancel(b, c, at); }
Result<Record> record_of(const Book& b, const Clear& c, UtcTime at) { return decide_clear(b, c, at); }
Result<Record> record_of(const Book& b, const CloseMonth& c, UtcTime at) { return decide_close(b, c, at); }

}  // namespace

Status check_team(const std::string& team) {
  if (team.empty()) return fail(ErrorCode::invalid_input, "a team has no name", "name the team");
  if (team.size() > kLongestName || !is_printable(team))
    return fail(ErrorCode::invalid_input, "a team's name is too long or holds control characters",
                fmt::format("use at most {} printable bytes", kLongestName));
  return {};
}

Status check_amount(Micrograms amount) {
  if (amount.n <= 0 || amount > kMostCarbon)
    return fail(ErrorCode::invalid_input, fmt::format("{} kg is no amount to move", kg_of(amount)),
                "give more than 0 and at most 100,000,000 kg");
  return {};
}

Status check_open(const Book& book, Period period, UtcTime at) {
  if (book.closed(period) || at >= period.end())
    return fail(ErrorCode::conflict, fmt::format("{} is over", to_string(period)),
                "use this month or a later one");
  if (period.n > period_of(at).n + kMonthsAhead)
    return fail(ErrorCode::invalid_input, fmt::format("{} is too far ahead", to_string(period)),
                fmt::format("at most {} months", kMonthsAhead));
  return {};
}

std::string words_of(const Command& command) {
  return std::visit([](const auto& c) { return own_words(c); }, command);
}

Result<Record> decide(const Book& book, const Command& command, UtcTime at) {
  auto record = std::visit([&](const auto& c) { return record_of(book, c, at); }, command);
  if (record) record->request = words_of(command);
  return record;
}

std::string_view to_string(RecordKind kind) {
  constexpr std::string_view kNames[] = {"allot",   "adjust", "pay_in", "transfer", "admit", "measure",
                                         "release", "expire", "order",  "cancel",   "clear", "close"};
  return kNames[static_cast<std::size_t>(kind)];
}
std::string_view to_string(AccountKind kind) {
  constexpr std::string_view kNames[] = {"issued",    "free",    "reserved", "offered", "used",
                                         "overdraft", "expired", "paid_in",  "cash",    "locked"};
  return kNames[static_cast<std::size_t>(kind)];
}
std::string_view to_string(Side side) { return side == Side::offer ? "offer" : "bid"; }
std::string_view to_string(Priority priority) {
  constexpr std::string_view kNames[] = {"low", "normal", "high", "critical"};
  return kNames[static_cast<std::size_t>(priority)];
}

}  // namespace tidewatt::market
