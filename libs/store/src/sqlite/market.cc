#include "market.h"

#include <algorithm>
#include <limits>

namespace tidewatt::store {
namespace {

using namespace ledger;

constexpr std::string_view kMarketByKey = "SELECT seq, key, at_ms, body FROM market_journal WHERE key = ?";

MarketEntry market_at(const Statement& row) {
  return {row.integer(0), std::string(row.text(1)), UtcTime{Milliseconds{row.integer(2)}},
          std::string(row.text(3))};
}

}  // namespace

Result<std::optional<MarketEntry>> read_market_entry(Database& db, const std::string& key) {
  TW_TRY(auto select, db.prepare(kMarketByKey));
  select.bind(1, key);
  TW_TRY(const bool row, select.step());
  return row ? std::optional(market_at(select)) : std::nullopt;
}

Status restore_market(Database& db, const MarketEntry& entry) {
  TW_TRY(auto put, db.prepare("INSERT INTO market_journal VALUES(?, ?, ?, ?)"));
  put.bind(1, entry.seq).bind(2, entry.key).bind(3, entry.at.time_since_epoch().count()).bind(4, entry.body);
  return put.run();
}

Result<MarketAppend> insert_market(Database& db, const MarketEntry& entry) {
  TW_TRY(const auto known, read_market_entry(db, entry.key));
  if (known) return *known == entry ? MarketAppend::appended : MarketAppend::key_known;
  TW_TRY(const auto last, db.integer("SELECT coalesce(max(seq), 0) FROM market_journal"));
  if (entry.seq != last + 1) return MarketAppend::seq_taken;
  TW_TRY_STATUS(restore_market(db, entry));
  return MarketAppend::appended;
}

Result<std::vector<MarketEntry>> read_market(Database& db, std::int64_t after, std::size_t limit) {
  TW_TRY(auto select,
         db.prepare("SELECT seq, key, at_ms, body FROM market_journal WHERE seq > ? ORDER BY seq LIMIT ?"));
  constexpr std::size_t kMost = std::numeric_limits<std::int64_t>::max();
  select.bind(1, after).bind(2, static_cast<std::int64_t>(std::min(limit, kMost)));
  std::vector<MarketEntry> entries;
  while (true) {
    TW_TRY(const bool row, select.step());
    if (!row) return entries;
    entries.push_back(market_at(select));
  }
}

Status each_market_entry(Database& db, ImageSink& sink) {
  TW_TRY(auto select, db.prepare("SELECT seq, key, at_ms, body FROM market_journal ORDER BY seq"));
  while (true) {
    TW_TRY(const bool row, select.step());
    if (!row) return {};
    TW_TRY_STATUS(sink.add(market_at(select)));
  }
}

}  // namespace tidewatt::store
