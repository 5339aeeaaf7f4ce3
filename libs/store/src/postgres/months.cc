#include "months.h"

#include "../journal/late.h"
#include "../semantics.h"
#include "fold.h"
#include "schema.h"

namespace tidewatt::store::pg {

Result<UtcHour> frozen_until(Connection& db) {
  TW_TRY(const auto rows, db.query("SELECT max(until_hour) FROM seals"));
  if (rows.null(0, 0)) return kNothingFrozen;
  return UtcHour{std::chrono::hours{rows.integer(0, 0)}};
}

Result<std::vector<ledger::Seal>> read_seals(Connection& db) {
  TW_TRY(const auto rows,
         db.query("SELECT month, sealed_ms, rows, energy_uj, hash, previous FROM seals ORDER BY month"));
  std::vector<ledger::Seal> seals;
  for (int i = 0; i < rows.size(); ++i)
    seals.push_back({{rows.integer(i, 0)},
                     UtcTime{Milliseconds{rows.integer(i, 1)}},
                     rows.integer(i, 2),
                     rows.wide(i, 3),
                     std::string(rows.text(i, 4)),
                     std::string(rows.text(i, 5))});
  return seals;
}

Status close_month(Connection& db, ledger::Month month, UtcTime at) {
  TW_TRY(const auto lock, lock_number(db, "fold"));
  TW_TRY(auto transaction, Transaction::begin(db, Transaction::Kind::write));
  TW_TRY([[maybe_unused]] const auto locked,
         db.query("SELECT pg_advisory_xact_lock($1)::text", Params().add(lock)));
  TW_TRY(const auto last, db.query("SELECT max(month) FROM seals"));
  TW_TRY(const bool due, is_next_to_close(last.maybe_integer(0, 0), month));
  if (!due) return {};
  // Under load rows never cease to come; what was there when we looked is enough.
  for (bool all = false; !all;) {
    TW_TRY(all, fold_rows(db));
  }
  TW_TRY([[maybe_unused]] const auto inserted,
         db.query("INSERT INTO seals(month, until_hour, sealed_ms) VALUES($1, $2, $3)",
                  Params()
                      .add(month.n)
                      .add(static_cast<std::int64_t>(month.end().time_since_epoch().count()))
                      .add(static_cast<std::int64_t>(at.time_since_epoch().count()))));
  return transaction.commit();
}

Result<bool> finish_seal(Connection& db, const ledger::Seal& seal) {
  Array energy(Array::Of::numbers);
  energy.add(seal.energy);
  TW_TRY(
      const auto done,
      db.query(
          "UPDATE seals SET rows = $2, energy_uj = ($3::numeric[])[1], hash = $4, previous = $5 WHERE month "
          "= $1 AND hash = ''",
          Params()
              .add(seal.month.n)
              .add(seal.rows)
              .add(std::move(energy))
              .text(seal.hash)
              .text(seal.previous)));
  return done.touched() > 0;
}

}  // namespace tidewatt::store::pg
