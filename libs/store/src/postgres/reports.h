// What tasks report, in the tables of one connection.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "connection.h"
#include "tidewatt/ledger/image.h"
#include "tidewatt/ledger/reports.h"

namespace tidewatt::store::pg {

/// Each of these is one statement: done wholly or not at all.
Result<bool> insert_epoch(Connection& db, const ledger::EpochReport& report);
Result<bool> insert_usage(Connection& db, const ledger::UsageReport& report);
Result<bool> step_token_counter(Connection& db, const ledger::CounterStep& step);
Status delete_requests(Connection& db, UtcTime before);

Result<std::vector<ledger::EpochReport>> read_epochs(Connection& db, const std::string& cluster,
                                                     const std::string& task_id, std::size_t limit);
Result<std::optional<ledger::TokenCounter>> read_token_counter(Connection& db, const std::string& cluster,
                                                               const std::string& series);
Result<std::vector<ledger::TokenHour>> read_token_hours(Connection& db, UtcHour from, UtcHour to);

// For images: statements without parameters, and what their rows are.
inline constexpr auto kAllEpochs =
    "SELECT cluster, task_id, epoch, at_ms, epochs_total, energy_uj, step_us FROM task_epochs ORDER BY "
    "cluster, "
    "task_id, epoch";
inline constexpr auto kAllTokenHours =
    "SELECT cluster, group_id, hour, prompt, completion FROM token_hours ORDER BY cluster, group_id, hour";
inline constexpr auto kAllTokenCounters =
    "SELECT cluster, series, at_ms, value FROM token_counters ORDER BY cluster, series";
ledger::EpochReport epoch_at(const Rows& rows, int row);
ledger::TokenHour token_hour_at(const Rows& rows, int row);
ledger::TokenCounter token_counter_at(const Rows& rows, int row);
Status restore_epoch(Connection& db, const ledger::EpochReport& report);
Status restore_token_hour(Connection& db, const ledger::TokenHour& hour);
Status restore_token_counter(Connection& db, const ledger::TokenCounter& counter);

}  // namespace tidewatt::store::pg
