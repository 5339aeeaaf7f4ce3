// The carbon market's journal in the tables of one connection. Writes run in the caller's transaction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db.h"
#include "tidewatt/ledger/image.h"
#include "tidewatt/ledger/market_entry.h"

namespace tidewatt::store {

Result<ledger::MarketAppend> insert_market(Database& db, const ledger::MarketEntry& entry);
Result<std::optional<ledger::MarketEntry>> read_market_entry(Database& db, const std::string& key);
Result<std::vector<ledger::MarketEntry>> read_market(Database& db, std::int64_t after, std::size_t limit);
/// All of it, for an image.
Status each_market_entry(Database& db, ledger::ImageSink& sink);
Status restore_market(Database& db, const ledger::MarketEntry& entry);

}  // namespace tidewatt::store
