// The carbon market's journal in the tables of one connection. Each call is done wholly or not at all.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "connection.h"
#include "tidewatt/ledger/image.h"
#include "tidewatt/ledger/market_entry.h"

namespace tidewatt::store::pg {

Result<ledger::MarketAppend> insert_market(Connection& db, const ledger::MarketEntry& entry);
Result<std::optional<ledger::MarketEntry>> read_market_entry(Connection& db, const std::string& key);
Result<std::vector<ledger::MarketEntry>> read_market(Connection& db, std::int64_t after, std::size_t limit);
inline constexpr auto kAllMarket = "SELECT seq, key, at_ms, body FROM market_journal ORDER BY seq";
ledger::MarketEntry market_at(const Rows& rows, int row);
Status restore_market(Connection& db, const ledger::MarketEntry& entry);

}  // namespace tidewatt::store::pg
