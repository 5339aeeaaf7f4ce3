#include "market.h"

#include <algorithm>
#include <limits>

namespace tidewatt::store::pg {
namespace {

using namespace ledger;

Params params_of(const MarketEntry& entry) {
  Params params;
  params.add(entry.seq).text(entry.key).add(entry.at.time_since_epoch().count()).text(entry.body);
  return params;
}

}  // namespace

MarketEntry market_at(const Rows& rows, int row) {
  return {rows.integer(row, 0), std::string(rows.text(row, 1)), UtcTime{Milliseconds{rows.integer(row, 2)}},
          std::string(rows.text(row, 3))};
}

Result<std::optional<MarketEntry>> read_market_entry(Connection& db, const std::string& key) {
  TW_TRY(const auto rows,
         db.query("SELECT seq, key, at_ms, body FROM market_journal WHERE key = $1", Params().text(key)));
  return rows.size() == 0 ? std::nullopt : std::optional(market_at(rows, 0));
}

Result<MarketAppend> insert_market(Connection& db, const MarketEntry& entry) {
  // Two servers that see the same last number: the number's uniqueness lets one of them through.
  TW_TRY(
      const auto done,
      db.query("INSERT INTO market_journal SELECT $1::bigint, $2::text, $3::bigint, $4::text WHERE "
               "(SELECT coalesce(max(seq), 0) FROM market_journal) = $1::bigint - 1 ON CONFLICT DO NOTHING",
               params_of(entry)));
  if (done.touched() > 0) return MarketAppend::appended;
  // After a lost answer it may be our own that stands there.
  TW_TRY(const auto known, read_market_entry(db, entry.key));
  if (!known) return MarketAppend::seq_taken;
  return *known == entry ? MarketAppend::appended : MarketAppend::key_known;
}

Result<std::vector<MarketEntry>> read_market(Connection& db, std::int64_t after, std::size_t limit) {
  constexpr std::size_t kMost = std::numeric_limits<std::int32_t>::max();
  TW_TRY(const auto rows,
         db.query("SELECT seq, key, at_ms, body FROM market_journal WHERE seq > $1 ORDER BY seq LIMIT $2",
                  Params().add(after).add(static_cast<std::int64_t>(std::min(limit, kMost)))));
  std::vector<MarketEntry> entries;
  for (int i = 0; i < rows.size(); ++i) entries.push_back(market_at(rows, i));
  return entries;
}

Status restore_market(Connection& db, const MarketEntry& entry) {
  TW_TRY([[maybe_unused]] const auto done,
         db.query("INSERT INTO market_journal VALUES($1, $2, $3, $4)", params_of(entry)));
  return {};
}

}  // namespace tidewatt::store::pg
