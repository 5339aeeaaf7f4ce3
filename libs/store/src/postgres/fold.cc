#include "fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "image.h"
#include "months.h"
#include "schema.h"
#include "team_hours.h"

namespace tidewatt::store::pg {
namespace {

/// Rows of one statement: large enough to be cheap, small enough for its time limit.
constexpr std::size_t kRowsAStatement = 5'000;
/// Of one fold: what is beyond waits for the next.
constexpr std::int64_t kBytesAFold = std::int64_t{96} << 20U;

std::int64_t ms(UtcTime at) { return at.time_since_epoch().count(); }
std::optional<std::int64_t> ms(std::optional<UtcTime> at) {
  return at ? std::optional<std::int64_t>(ms(*at)) : std::nullopt;
}

/// The eleven measures of many rows, a column each.
class MeasureColumns {
 public:
  void add(const ledger::WideMeasures& m) {
    std::size_t column = 0;
    for (const auto energy : {m.energy, m.counter, m.shared, m.unattributed, m.simulated, m.spread})
      energies_.at(column++).add(energy);
    column = 0;
    for (const auto time : {m.covered, m.gap, m.partial, m.shared_time})
      times_.at(column++).add(static_cast<std::int64_t>(time.count()));
    samples_.add(m.samples);
  }
  void move_to(Params& params) {
    for (auto& column : energies_) params.add(std::move(column));
    for (auto& column : times_) params.add(std::move(column));
    params.add(std::move(samples_));
  }

 private:
  std::vector<Array> energies_{6, Array(Array::Of::numbers)};
  std::vector<Array> times_{4, Array(Array::Of::integers)};
  Array samples_{Array::Of::integers};
};

#define TW_PG_COLUMNS                                                                                \
  "energy_uj, counter_uj, shared_uj, unattributed_uj, simulated_uj, spread_uj, covered_ms, gap_ms, " \
  "partial_ms, shared_ms, samples"
#define TW_PG_UNNEST(first)                                                                      \
  "unnest(" first                                                                                \
  ", $3::numeric[], $4::numeric[], $5::numeric[], $6::numeric[], $7::numeric[], $8::numeric[], " \
  "$9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[])"

std::string add_to(const std::string& table) {
  std::string sql;
  for (const auto* column : {"energy_uj", "counter_uj", "shared_uj", "unattributed_uj", "simulated_uj",
                             "spread_uj", "covered_ms", "gap_ms", "partial_ms", "shared_ms", "samples"})
    sql += fmt::format("{}{} = {}.{} + excluded.{}", sql.empty() ? "" : ", ", column, table, column, column);
  return sql;
}

struct Journal {
  Unfolded unfolded;
  std::map<std::int64_t, std::vector<CursorStep>> steps;
  std::vector<std::int64_t> rows;
  std::int64_t bytes = 0;
};

Result<Journal> read_journal(Connection& db) {
  // A node's rows have ascending numbers: the first rows hold the first steps of every node.
  TW_TRY(const auto rows,
         db.query("SELECT seq, nodes, bytes FROM (SELECT seq, nodes, bytes, sum(octet_length(bytes)) OVER "
                  "(ORDER BY seq) "
                  "- octet_length(bytes) AS before FROM journal) j WHERE before < $1 ORDER BY seq",
                  Params().add(kBytesAFold)));
  Journal journal;
  for (int i = 0; i < rows.size(); ++i) {
    journal.rows.push_back(rows.integer(i, 0));
    journal.bytes += static_cast<std::int64_t>(rows.text(i, 2).size());
    const bool partial = !rows.null(i, 1);
    const auto applied = partial ? rows.integers(i, 1) : std::vector<std::int64_t>{};
    TW_TRY_STATUS(add_row(rows.text(i, 2), partial ? &applied : nullptr, journal.unfolded,
                          [&](std::int64_t node, CursorStep&& step) {
                            auto& steps = journal.steps[node];
                            if (!step.is_patch) steps.clear();
                            steps.push_back(std::move(step));
                          }));
  }
  return journal;
}

/// Calls `write` with pieces of at most kRowsAStatement.
template <class Range, class Write>
Status in_portions(const Range& all, const Write& write) {
  for (std::size_t begin = 0; begin < all.size(); begin += kRowsAStatement)
    TW_TRY_STATUS(write(begin, std::min(begin + kRowsAStatement, all.size())));
  return {};
}

Status write_totals(Connection& db,
                    const std::vector<std::pair<std::int64_t, const UnfoldedAccount*>>& accounts) {
  static const std::string kSql =
      "INSERT INTO account_totals(account, first_sample_ms, last_sample_ms, " TW_PG_COLUMNS
      ") SELECT * FROM "
      "unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::numeric[], $5::numeric[], $6::numeric[], "
      "$7::numeric[], "
      "$8::numeric[], $9::numeric[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], "
      "$14::bigint[]) "
      "ON CONFLICT (account) DO UPDATE SET " +
      add_to("account_totals") +
      ", first_sample_ms = least(account_totals.first_sample_ms, excluded.first_sample_ms)"
      ", last_sample_ms = greatest(account_totals.last_sample_ms, excluded.last_sample_ms)";
  return in_portions(accounts, [&](std::size_t begin, std::size_t end) -> Status {
    Array numbers(Array::Of::integers), first(Array::Of::integers), last(Array::Of::integers);
    MeasureColumns measures;
    for (auto i = begin; i < end; ++i) {
      const auto& [pk, account] = accounts[i];
      numbers.add(pk);
      first.add(ms(account->first_sample_at));
      last.add(ms(account->last_sample_at));
      measures.add(account->total());
    }
    Params params;
    params.add(std::move(numbers)).add(std::move(first)).add(std::move(last));
    measures.move_to(params);
    TW_TRY([[maybe_unused]] const auto done, db.query(kSql, params));
    return {};
  });
}

Status write_hours(Connection& db,
                   const std::vector<std::pair<std::int64_t, const UnfoldedAccount*>>& accounts) {
  static const std::string kSql =
      "INSERT INTO energy_hourly(account, hour, " TW_PG_COLUMNS ") SELECT * FROM " TW_PG_UNNEST(
          "$1::bigint[], $2::bigint[]") " ON CONFLICT (account, hour) DO UPDATE SET " +
      add_to("energy_hourly");
  // A sealed month's rows stay as they are; the account's totals have what comes late all the same.
  static const std::string kLateSql = "INSERT INTO energy_adjustments(account, hour, " TW_PG_COLUMNS
                                      ", booked_ms, reason) SELECT *, (extract(epoch FROM clock_timestamp()) "
                                      "* 1000)::bigint, $14 FROM " TW_PG_UNNEST("$1::bigint[], $2::bigint[]");
  struct Row {
    std::int64_t account;
    UtcHour hour;
    ledger::WideMeasures measures;
  };
  TW_TRY(const auto frozen, frozen_until(db));
  std::vector<Row> rows;
  for (const auto& [pk, account] : accounts) {
    const auto begin = rows.size();
    for (const auto& [hour, amount] : account->hours) {
      auto place = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(begin), rows.end(),
                                [h = hour](const Row& row) { return row.hour == h; });
      if (place == rows.end()) place = rows.insert(rows.end(), {pk, hour, {}});
      place->measures += amount;
    }
  }
  const auto first_late = std::stable_partition(rows.begin(), rows.end(),
                                                [frozen](const Row& row) { return row.hour >= frozen; });
  const std::vector<Row> late(first_late, rows.end());
  rows.erase(first_late, rows.end());
  const auto write = [&db](const std::vector<Row>& all, bool are_late) {
    return in_portions(all, [&](std::size_t begin, std::size_t end) -> Status {
      Array numbers(Array::Of::integers), hours(Array::Of::integers);
      MeasureColumns measures;
      for (auto i = begin; i < end; ++i) {
        numbers.add(all[i].account);
        hours.add(static_cast<std::int64_t>(all[i].hour.time_since_epoch().count()));
        measures.add(all[i].measures);
      }
      Params params;
      params.add(std::move(numbers)).add(std::move(hours));
      measures.move_to(params);
      if (are_late) params.text(ledger::kLateReason);
      TW_TRY([[maybe_unused]] const auto done, db.query(are_late ? kLateSql : kSql, params));
      return {};
    });
  };
  TW_TRY_STATUS(write(rows, false));
  return write(late, true);
}

Status write_accounts(Connection& db, const Unfolded& unfolded) {
  std::vector<std::pair<std::int64_t, const UnfoldedAccount*>> accounts;
  for (const auto& [pk, account] : unfolded.accounts) accounts.emplace_back(pk, &account);
  std::sort(accounts.begin(), accounts.end());
  TW_TRY_STATUS(write_totals(db, accounts));
  return write_hours(db, accounts);
}

Status write_curves(Connection& db, const Unfolded& unfolded) {
  std::set<std::int64_t> days;
  std::map<std::pair<std::int64_t, std::int64_t>, const std::string*> latest;
  for (const auto& [node, points] : unfolded.points)
    for (const auto& [at, bytes] : points) {
      latest.insert_or_assign({node, ms(at)}, &bytes);
      days.insert(std::chrono::floor<std::chrono::days>(at).time_since_epoch().count());
    }
  for (const auto day : days) TW_TRY_STATUS(make_curve_day(db, day));
  const std::vector<std::pair<std::pair<std::int64_t, std::int64_t>, const std::string*>> rows(latest.begin(),
                                                                                               latest.end());
  return in_portions(rows, [&](std::size_t begin, std::size_t end) -> Status {
    Array nodes(Array::Of::integers), times(Array::Of::integers), points(Array::Of::blobs);
    for (auto i = begin; i < end; ++i) {
      nodes.add(rows[i].first.first);
      times.add(rows[i].first.second);
      points.add(std::string_view(*rows[i].second));
    }
    Params params;
    params.add(std::move(nodes)).add(std::move(times)).add(std::move(points));
    TW_TRY([[maybe_unused]] const auto done,
           db.query("INSERT INTO curves(node, at_ms, point) SELECT * FROM unnest($1::bigint[], $2::bigint[], "
                    "$3::bytea[]) ON CONFLICT (node, at_ms) DO UPDATE SET point = excluded.point",
                    params));
    return {};
  });
}

Status write_cursors(Connection& db, const Journal& journal) {
  const std::vector<std::pair<std::int64_t, std::vector<CursorStep>>> all(journal.steps.begin(),
                                                                          journal.steps.end());
  return in_portions(all, [&](std::size_t begin, std::size_t end) -> Status {
    Array wanted(Array::Of::integers);
    for (auto i = begin; i < end; ++i) wanted.add(all[i].first);
    Params which;
    which.add(std::move(wanted));
    TW_TRY(const auto stored,
           db.query("SELECT node, revision, bytes FROM cursors WHERE node = ANY($1::bigint[])", which));
    std::map<std::int64_t, std::pair<std::uint64_t, std::string>> cursors;
    for (int i = 0; i < stored.size(); ++i)
      cursors[stored.integer(i, 0)] = {static_cast<std::uint64_t>(stored.integer(i, 1)),
                                       std::string(stored.text(i, 2))};
    Array nodes(Array::Of::integers), revisions(Array::Of::integers), bytes(Array::Of::blobs);
    for (auto i = begin; i < end; ++i) {
      auto& [revision, encoded] = cursors[all[i].first];
      TW_TRY_STATUS(walk(revision, encoded, all[i].second));
      nodes.add(all[i].first);
      revisions.add(static_cast<std::int64_t>(revision));
      bytes.add(std::string_view(encoded));
    }
    Params params;
    params.add(std::move(nodes)).add(std::move(revisions)).add(std::move(bytes));
    TW_TRY([[maybe_unused]] const auto done,
           db.query(
               "INSERT INTO cursors(node, revision, bytes) SELECT * FROM unnest($1::bigint[], $2::bigint[], "
               "$3::bytea[]) ON CONFLICT (node) DO UPDATE SET revision = excluded.revision, bytes = "
               "excluded.bytes",
               params));
    return {};
  });
}

/// Exactly the rows that were read: others may have come since, with higher or lower numbers.
Status delete_rows(Connection& db, const std::vector<std::int64_t>& rows) {
  return in_portions(rows, [&](std::size_t begin, std::size_t end) -> Status {
    Array numbers(Array::Of::integers);
    for (auto i = begin; i < end; ++i) numbers.add(rows[i]);
    Params params;
    params.add(std::move(numbers));
    TW_TRY(const auto gone, db.query("DELETE FROM journal WHERE seq = ANY($1::bigint[])", params));
    if (gone.touched() != static_cast<std::int64_t>(end - begin))
      return fail(ErrorCode::internal, fmt::format("of {} journal rows {} were there to be taken away",
                                                   end - begin, gone.touched()));
    return {};
  });
}

/// What commits leave behind: outcomes that nobody can ask for any more, writers that are long gone.
Status tidy_writers(Connection& db) {
  return db.exec(
      "DELETE FROM writers WHERE at < now() - interval '7 days'; "
      "DELETE FROM partial_commits p WHERE NOT EXISTS (SELECT FROM writers w WHERE w.id = p.writer AND "
      "w.commits <= p.number)");
}

}  // namespace

Result<bool> fold_journal(Connection& db, FoldMode mode) {
  TW_TRY(const auto lock, lock_number(db, "fold"));
  TW_TRY(auto transaction, Transaction::begin(db, Transaction::Kind::write));
  if (mode == FoldMode::wait) {
    TW_TRY([[maybe_unused]] const auto locked,
           db.query("SELECT pg_advisory_xact_lock($1)::text", Params().add(lock)));
  } else {
    TW_TRY(const auto locked,
           db.integer("SELECT pg_try_advisory_xact_lock($1)::int::bigint", Params().add(lock)));
    if (locked == 0) return false;
  }
  TW_TRY([[maybe_unused]] const bool all, fold_rows(db));
  TW_TRY_STATUS(transaction.commit());
  return true;
}

Result<bool> fold_rows(Connection& db) {
  TW_TRY_STATUS(settle_task_moves(db));
  TW_TRY(const auto journal, read_journal(db));
  if (journal.rows.empty()) return true;
  TW_TRY_STATUS(write_cursors(db, journal));
  TW_TRY_STATUS(write_accounts(db, journal.unfolded));
  TW_TRY_STATUS(write_curves(db, journal.unfolded));
  TW_TRY_STATUS(delete_rows(db, journal.rows));
  TW_TRY_STATUS(tidy_writers(db));
  // Last, since every other fold's readers look at this row.
  TW_TRY_STATUS(db.exec("UPDATE tidewatt_ledger SET generation = generation + 1"));
  return journal.bytes < kBytesAFold;
}

Result<JournalSize> journal_size(Connection& db) {
  TW_TRY(
      const auto rows,
      db.query("SELECT count(*), coalesce(sum(octet_length(bytes)), 0)::bigint, "
               "coalesce(extract(epoch FROM clock_timestamp() - min(at)) * 1000, 0)::bigint FROM journal"));
  return JournalSize{static_cast<std::size_t>(rows.integer(0, 0)),
                     static_cast<std::size_t>(rows.integer(0, 1)), Milliseconds{rows.integer(0, 2)}};
}

}  // namespace tidewatt::store::pg
