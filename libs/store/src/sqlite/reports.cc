#include "reports.h"

#include <algorithm>
#include <limits>

namespace tidewatt::store {
namespace {

using namespace ledger;

std::int64_t report_ms(UtcTime at) { return at.time_since_epoch().count(); }
std::int64_t hour_number(UtcHour hour) { return static_cast<std::int64_t>(hour.time_since_epoch().count()); }

constexpr std::string_view kEpochColumns =
    "SELECT cluster, task_id, epoch, at_ms, epochs_total, energy_uj, step_us FROM task_epochs ";

EpochReport epoch_at(const Statement& row) {
  EpochReport report{std::string(row.text(0)),
                     std::string(row.text(1)),
                     row.integer(2),
                     UtcTime{Milliseconds{row.integer(3)}},
                     row.maybe_integer(4),
                     std::nullopt,
                     std::nullopt};
  if (const auto energy = row.maybe_integer(5)) report.energy_total = Microjoules{*energy};
  if (const auto step = row.maybe_integer(6)) report.step_latency = std::chrono::microseconds{*step};
  return report;
}

TokenHour hour_at(const Statement& row) {
  return {std::string(row.text(0)),
          std::string(row.text(1)),
          UtcHour{std::chrono::hours{row.integer(2)}},
          {row.integer(3), row.integer(4)}};
}

TokenCounter counter_at(const Statement& row) {
  return {std::string(row.text(0)), std::string(row.text(1)), UtcTime{Milliseconds{row.integer(2)}},
          row.integer(3)};
}

/// Whether the INSERT OR IGNORE before put a row in.
Result<bool> inserted(Database& db) {
  TW_TRY(const auto changed, db.integer("SELECT changes()"));
  return changed > 0;
}

template <class Read>
Status for_each(Database& db, std::string_view sql, const Read& read) {
  TW_TRY(auto select, db.prepare(sql));
  while (true) {
    TW_TRY(const bool row, select.step());
    if (!row) return {};
    TW_TRY_STATUS(read(select));
  }
}

}  // namespace

Result<bool> insert_epoch(Database& db, const EpochReport& report) {
  TW_TRY(auto put, db.prepare("INSERT OR IGNORE INTO task_epochs VALUES(?, ?, ?, ?, ?, ?, ?)"));
  put.bind(1, report.cluster).bind(2, report.task_id).bind(3, report.epoch).bind(4, report_ms(report.at));
  put.bind(5, report.epochs_total);
  put.bind(6, report.energy_total ? std::optional(report.energy_total->n) : std::nullopt);
  put.bind(7, report.step_latency ? std::optional<std::int64_t>(report.step_latency->count()) : std::nullopt);
  TW_TRY_STATUS(put.run());
  return inserted(db);
}

Result<std::vector<EpochReport>> read_epochs(Database& db, const std::string& cluster,
                                             const std::string& task_id, std::size_t limit) {
  TW_TRY(auto select, db.prepare(std::string(kEpochColumns) +
                                 "WHERE cluster = ? AND task_id = ? ORDER BY epoch DESC LIMIT ?"));
  constexpr std::size_t kMost = std::numeric_limits<std::int64_t>::max();
  select.bind(1, cluster).bind(2, task_id).bind(3, static_cast<std::int64_t>(std::min(limit, kMost)));
  std::vector<EpochReport> reports;
  while (true) {
    TW_TRY(const bool row, select.step());
    if (!row) break;
    reports.push_back(epoch_at(select));
  }
  std::reverse(reports.begin(), reports.end());
  return reports;
}

Status add_tokens(Database& db, const TokenHour& adds) {
  TW_TRY(auto put,
         db.prepare(
             "INSERT INTO token_hours VALUES(?, ?, ?, ?, ?) ON CONFLICT(cluster, group_id, hour) DO UPDATE "
             "SET prompt = prompt + excluded.prompt, completion = completion + excluded.completion"));
  put.bind(1, adds.cluster).bind(2, adds.group_id).bind(3, hour_number(adds.hour));
  put.bind(4, adds.tokens.prompt).bind(5, adds.tokens.completion);
  return put.run();
}

Result<bool> insert_usage(Database& db, const UsageReport& report) {
  TW_TRY(auto put, db.prepare("INSERT OR IGNORE INTO token_requests VALUES(?, ?, ?, ?)"));
  put.bind(1, report.cluster)
      .bind(2, report.group_id)
      .bind(3, report.request_id)
      .bind(4, report_ms(report.at));
  TW_TRY_STATUS(put.run());
  TW_TRY(const bool fresh, inserted(db));
  if (!fresh) return false;
  TW_TRY_STATUS(add_tokens(db, {report.cluster, report.group_id, hour_of(report.at), report.tokens}));
  return true;
}

Result<std::optional<TokenCounter>> read_token_counter(Database& db, const std::string& cluster,
                                                       const std::string& series) {
  TW_TRY(auto select, db.prepare("SELECT cluster, series, at_ms, value FROM token_counters WHERE cluster = ? "
                                 "AND series = ?"));
  select.bind(1, cluster).bind(2, series);
  TW_TRY(const bool row, select.step());
  return row ? std::optional(counter_at(select)) : std::nullopt;
}

Status put_token_counter(Database& db, const TokenCounter& counter) {
  TW_TRY(auto put, db.prepare("INSERT OR REPLACE INTO token_counters VALUES(?, ?, ?, ?)"));
  put.bind(1, counter.cluster).bind(2, counter.series).bind(3, report_ms(counter.at)).bind(4, counter.value);
  return put.run();
}

Result<bool> step_token_counter(Database& db, const CounterStep& step) {
  TW_TRY(const auto stands, read_token_counter(db, step.after.cluster, step.after.series));
  if (stands != step.before) return false;
  TW_TRY_STATUS(put_token_counter(db, step.after));
  if (!step.group_id.empty())
    TW_TRY_STATUS(add_tokens(db, {step.after.cluster, step.group_id, hour_of(step.after.at), step.adds}));
  return true;
}

Result<std::vector<TokenHour>> read_token_hours(Database& db, UtcHour from, UtcHour to) {
  TW_TRY(auto select,
         db.prepare("SELECT cluster, group_id, hour, prompt, completion FROM token_hours WHERE hour "
                    ">= ? AND hour < ? ORDER BY cluster, group_id, hour"));
  select.bind(1, hour_number(from)).bind(2, hour_number(to));
  std::vector<TokenHour> hours;
  while (true) {
    TW_TRY(const bool row, select.step());
    if (!row) return hours;
    hours.push_back(hour_at(select));
  }
}

Status delete_requests(Database& db, UtcTime before) {
  TW_TRY(auto drop, db.prepare("DELETE FROM token_requests WHERE at_ms < ?"));
  drop.bind(1, report_ms(before));
  return drop.run();
}

Status read_reports(Database& db, ImageSink& sink) {
  TW_TRY_STATUS(for_each(db, std::string(kEpochColumns) + "ORDER BY cluster, task_id, epoch",
                         [&sink](const Statement& row) { return sink.add(epoch_at(row)); }));
  TW_TRY_STATUS(
      for_each(db,
               "SELECT cluster, group_id, hour, prompt, completion FROM token_hours ORDER BY cluster, "
               "group_id, hour",
               [&sink](const Statement& row) { return sink.add(hour_at(row)); }));
  return for_each(db, "SELECT cluster, series, at_ms, value FROM token_counters ORDER BY cluster, series",
                  [&sink](const Statement& row) { return sink.add(counter_at(row)); });
}

}  // namespace tidewatt::store
