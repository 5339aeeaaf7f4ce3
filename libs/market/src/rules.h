// One function a command; decide.cc says which.
#pragma once

#include "tidewatt/market/commands.h"

namespace tidewatt::market {

Result<Record> decide_allot(const Book& book, const Allot& ask, UtcTime at);
Result<Record> decide_adjust(const Book& book, const Adjust& ask, UtcTime at);
Result<Record> decide_pay_in(const Book& book, const PayIn& ask, UtcTime at);
Result<Record> decide_transfer(const Book& book, const Transfer& ask, UtcTime at);
Result<Record> decide_close(const Book& book, const CloseMonth& ask, UtcTime at);
Result<Record> decide_admit(const Book& book, const Admit& ask, UtcTime at);
Result<Record> decide_measure(const Book& book, const Measure& ask, UtcTime at);
Result<Record> decide_release(const Book& book, const Release& ask, UtcTime at);
Result<Record> decide_expire(const Book& book, UtcTime at);
Result<Record> decide_order(const Book& book, const PlaceOrder& ask, UtcTime at);
Result<Record> decide_cancel(const Book& book, const CancelOrder& ask, UtcTime at);
Result<Record> decide_clear(const Book& book, const Clear& ask, UtcTime at);

inline constexpr std::size_t kLongestName = 255;
/// A name that may stand in a record.
Status check_team(const std::string& team);
/// More than nothing, at most kMostCarbon.
Status check_amount(Micrograms amount);
/// Not closed, not over, at most a year ahead.
Status check_open(const Book& book, Period period, UtcTime at);

}  // namespace tidewatt::market
