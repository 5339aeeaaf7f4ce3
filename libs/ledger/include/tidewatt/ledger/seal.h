// Closed months: what a seal says, and the bytes that it is the hash of. Rules in words:
// docs/method/ledger.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tidewatt/ledger/account.h"
#include "tidewatt/units/exact.h"
#include "tidewatt/units/time.h"

namespace tidewatt::ledger {

/// A calendar month in UTC.
struct Month {
  std::int64_t n = 0;  ///< months since January 1970

  [[nodiscard]] UtcHour begin() const;
  [[nodiscard]] UtcHour end() const { return Month{n + 1}.begin(); }
  [[nodiscard]] Month next() const { return {n + 1}; }
  friend auto operator<=>(Month, Month) = default;
};
Month month_of(UtcHour hour);
/// "2026-10"
std::string to_string(Month month);
/// nullopt for anything else, and for years outside 1970-9999.
std::optional<Month> parse_month(std::string_view text);

/// A month whose hourly rows don't change any more. What comes later for its hours, or for any hour before,
/// is an adjustment.
struct Seal {
  Month month;
  UtcTime sealed_at{};       ///< when the rows were frozen
  std::int64_t rows = 0;     ///< hourly rows, of all scopes
  WideMicrojoules energy{};  ///< of its node rows, all domains
  std::string hash;          ///< SHA-256 in 64 hexadecimal digits; empty = frozen, the hash isn't made yet
  std::string previous;      ///< the hash of the month before; empty for the first
  friend bool operator==(const Seal&, const Seal&) = default;
};

/// The bytes of a month's hourly rows (format 1) and their SHA-256. Rows come sorted by key, then hour.
class SealHasher {
 public:
  SealHasher(Month month, std::string_view previous);
  SealHasher(SealHasher&&) noexcept;
  SealHasher& operator=(SealHasher&&) noexcept;
  SealHasher(const SealHasher&) = delete;
  SealHasher& operator=(const SealHasher&) = delete;
  ~SealHasher();

  void add(const HourlyRow& row);
  /// All but sealed_at. Nothing may be added afterwards.
  [[nodiscard]] Seal finish();

 private:
  struct Digest;
  std::unique_ptr<Digest> digest_;
  Seal seal_;
  std::string line_;
};

/// One row of the canonical form, with its line end; appended to `out`. Tab, line feed and backslash inside a
/// text become \t, \n and \\.
void append_canonical(const HourlyRow& row, std::string& out);

}  // namespace tidewatt::ledger
