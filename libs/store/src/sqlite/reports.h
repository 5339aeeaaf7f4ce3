// What tasks report, in the tables of one connection. Writes run in the caller's transaction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db.h"
#include "tidewatt/ledger/image.h"
#include "tidewatt/ledger/reports.h"

namespace tidewatt::store {

Result<bool> insert_epoch(Database& db, const ledger::EpochReport& report);
Result<std::vector<ledger::EpochReport>> read_epochs(Database& db, const std::string& cluster,
                                                     const std::string& task_id, std::size_t limit);
Result<bool> insert_usage(Database& db, const ledger::UsageReport& report);
Status add_tokens(Database& db, const ledger::TokenHour& adds);
Result<std::optional<ledger::TokenCounter>> read_token_counter(Database& db, const std::string& cluster,
                                                               const std::string& series);
Status put_token_counter(Database& db, const ledger::TokenCounter& counter);
Result<bool> step_token_counter(Database& db, const ledger::CounterStep& step);
Result<std::vector<ledger::TokenHour>> read_token_hours(Database& db, UtcHour from, UtcHour to);
Status delete_requests(Database& db, UtcTime before);
/// All of it, for an image.
Status read_reports(Database& db, ledger::ImageSink& sink);

}  // namespace tidewatt::store
