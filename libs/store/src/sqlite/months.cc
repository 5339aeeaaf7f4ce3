#include "months.h"

#include "../journal/late.h"
#include "../semantics.h"

namespace tidewatt::store {

Result<UtcHour> frozen_until(Database& db) {
  TW_TRY(auto select, db.prepare("SELECT max(month) FROM seals"));
  TW_TRY([[maybe_unused]] const bool row, select.step());
  const auto last = select.maybe_integer(0);
  return last ? ledger::Month{*last}.end() : kNothingFrozen;
}

Result<std::vector<ledger::Seal>> read_seals(Database& db) {
  TW_TRY(auto select,
         db.prepare("SELECT month, sealed_ms, rows, energy_uj, hash, previous FROM seals ORDER BY month"));
  std::vector<ledger::Seal> seals;
  while (true) {
    TW_TRY(const bool row, select.step());
    if (!row) return seals;
    seals.push_back({{select.integer(0)},
                     UtcTime{Milliseconds{select.integer(1)}},
                     select.integer(2),
                     select.wide(3),
                     std::string(select.text(4)),
                     std::string(select.text(5))});
  }
}

Result<bool> insert_seal(Database& db, ledger::Month month, UtcTime at) {
  TW_TRY(auto select, db.prepare("SELECT max(month) FROM seals"));
  TW_TRY([[maybe_unused]] const bool row, select.step());
  TW_TRY(const bool due, is_next_to_close(select.maybe_integer(0), month));
  if (!due) return false;
  TW_TRY(auto insert, db.prepare("INSERT INTO seals(month, sealed_ms) VALUES(?, ?)"));
  insert.bind(1, month.n).bind(2, static_cast<std::int64_t>(at.time_since_epoch().count()));
  TW_TRY_STATUS(insert.run());
  return true;
}

Result<bool> finish_seal(Database& db, const ledger::Seal& seal) {
  TW_TRY(auto select, db.prepare("SELECT count(*) FROM seals WHERE month = ? AND hash = ''"));
  select.bind(1, seal.month.n);
  TW_TRY([[maybe_unused]] const bool row, select.step());
  if (select.integer(0) == 0) return false;
  TW_TRY(auto update,
         db.prepare("UPDATE seals SET rows = ?, energy_uj = ?, hash = ?, previous = ? WHERE month = ?"));
  update.bind(1, seal.rows)
      .bind(2, seal.energy)
      .bind(3, seal.hash)
      .bind(4, seal.previous)
      .bind(5, seal.month.n);
  TW_TRY_STATUS(update.run());
  return true;
}

}  // namespace tidewatt::store
