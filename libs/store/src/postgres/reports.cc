#include "reports.h"

#include <algorithm>
#include <limits>

namespace tidewatt::store::pg {
namespace {

using namespace ledger;

std::int64_t report_ms(UtcTime at) { return at.time_since_epoch().count(); }
std::int64_t hour_number(UtcHour hour) { return static_cast<std::int64_t>(hour.time_since_epoch().count()); }

Params params_of(const EpochReport& report) {
  Params params;
  params.text(report.cluster).text(report.task_id).add(report.epoch).add(report_ms(report.at));
  params.add(report.epochs_total);
  params.add(report.energy_total ? std::optional(report.energy_total->n) : std::nullopt);
  params.add(report.step_latency ? std::optional<std::int64_t>(report.step_latency->count()) : std::nullopt);
  return params;
}

Params params_of(const TokenHour& hour) {
  Params params;
  params.text(hour.cluster).text(hour.group_id).add(hour_number(hour.hour));
  params.add(hour.tokens.prompt).add(hour.tokens.completion);
  return params;
}

Params params_of(const TokenCounter& counter) {
  Params params;
  params.text(counter.cluster).text(counter.series).add(report_ms(counter.at)).add(counter.value);
  return params;
}

Status run(Connection& db, const std::string& sql, const Params& params) {
  TW_TRY([[maybe_unused]] const auto done, db.query(sql, params));
  return {};
}

Result<bool> took_effect(Connection& db, const std::string& sql, const Params& params) {
  TW_TRY(const auto done, db.query(sql, params));
  return done.touched() > 0;
}

}  // namespace

EpochReport epoch_at(const Rows& rows, int row) {
  EpochReport report;
  report.cluster = rows.text(row, 0);
  report.task_id = rows.text(row, 1);
  report.epoch = rows.integer(row, 2);
  report.at = UtcTime{Milliseconds{rows.integer(row, 3)}};
  report.epochs_total = rows.maybe_integer(row, 4);
  if (const auto energy = rows.maybe_integer(row, 5)) report.energy_total = Microjoules{*energy};
  if (const auto step = rows.maybe_integer(row, 6)) report.step_latency = std::chrono::microseconds{*step};
  return report;
}

TokenHour token_hour_at(const Rows& rows, int row) {
  return {std::string(rows.text(row, 0)),
          std::string(rows.text(row, 1)),
          UtcHour{std::chrono::hours{rows.integer(row, 2)}},
          {rows.integer(row, 3), rows.integer(row, 4)}};
}

TokenCounter token_counter_at(const Rows& rows, int row) {
  return {std::string(rows.text(row, 0)), std::string(rows.text(row, 1)),
          UtcTime{Milliseconds{rows.integer(row, 2)}}, rows.integer(row, 3)};
}

Result<bool> insert_epoch(Connection& db, const EpochReport& report) {
  return took_effect(db, "INSERT INTO task_epochs VALUES($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
                     params_of(report));
}

Result<bool> insert_usage(Connection& db, const UsageReport& report) {
  Params params = params_of(TokenHour{report.cluster, report.group_id, hour_of(report.at), report.tokens});
  params.text(report.request_id).add(report_ms(report.at));
  return took_effect(
      db,
      "WITH fresh AS (INSERT INTO token_requests VALUES($1::text, $2::text, $6::text, $7::bigint) "
      "ON CONFLICT DO NOTHING RETURNING 1) "
      "INSERT INTO token_hours AS t SELECT $1::text, $2::text, $3::bigint, $4::bigint, $5::bigint "
      "FROM fresh ON CONFLICT (cluster, group_id, hour) DO UPDATE SET prompt = t.prompt + "
      "excluded.prompt, completion = t.completion + excluded.completion",
      params);
}

Result<bool> step_token_counter(Connection& db, const CounterStep& step) {
  Params params = params_of(step.after);
  // A counter that nobody had is inserted, one that somebody has is updated as it was read: each finds no row
  // where the other would have to be done.
  const std::string moved = step.before ? "UPDATE token_counters SET at_ms = $3::bigint, value = $4::bigint "
                                          "WHERE cluster = $1::text AND series = "
                                          "$2::text AND at_ms = $5::bigint AND value = $6::bigint RETURNING 1"
                                        : "INSERT INTO token_counters VALUES($1::text, $2::text, $3::bigint, "
                                          "$4::bigint) ON CONFLICT DO NOTHING "
                                          "RETURNING 1";
  if (step.before) params.add(report_ms(step.before->at)).add(step.before->value);
  if (step.group_id.empty()) return took_effect(db, moved, params);
  const int first = step.before ? 7 : 5;
  params.text(step.group_id).add(hour_number(hour_of(step.after.at)));
  params.add(step.adds.prompt).add(step.adds.completion);
  const auto number = [first](int n) { return "$" + std::to_string(first + n); };
  return took_effect(db,
                     "WITH moved AS (" + moved + ") INSERT INTO token_hours AS t SELECT $1::text, " +
                         number(0) + "::text, " + number(1) + "::bigint, " + number(2) + "::bigint, " +
                         number(3) +
                         "::bigint FROM moved ON CONFLICT (cluster, group_id, hour) DO UPDATE SET prompt = "
                         "t.prompt + excluded.prompt, completion = t.completion + excluded.completion",
                     params);
}

Status delete_requests(Connection& db, UtcTime before) {
  return run(db, "DELETE FROM token_requests WHERE at_ms < $1", Params().add(report_ms(before)));
}

Result<std::vector<EpochReport>> read_epochs(Connection& db, const std::string& cluster,
                                             const std::string& task_id, std::size_t limit) {
  constexpr std::size_t kMost = std::numeric_limits<std::int32_t>::max();
  TW_TRY(const auto rows,
         db.query(
             "SELECT cluster, task_id, epoch, at_ms, epochs_total, energy_uj, step_us FROM task_epochs WHERE "
             "cluster = $1 AND task_id = $2 ORDER BY epoch DESC LIMIT $3",
             Params().text(cluster).text(task_id).add(static_cast<std::int64_t>(std::min(limit, kMost)))));
  std::vector<EpochReport> reports;
  for (int i = rows.size(); i > 0; --i) reports.push_back(epoch_at(rows, i - 1));
  return reports;
}

Result<std::optional<TokenCounter>> read_token_counter(Connection& db, const std::string& cluster,
                                                       const std::string& series) {
  TW_TRY(
      const auto rows,
      db.query("SELECT cluster, series, at_ms, value FROM token_counters WHERE cluster = $1 AND series = $2",
               Params().text(cluster).text(series)));
  return rows.size() == 0 ? std::nullopt : std::optional(token_counter_at(rows, 0));
}

Result<std::vector<TokenHour>> read_token_hours(Connection& db, UtcHour from, UtcHour to) {
  TW_TRY(
      const auto rows,
      db.query(
          "SELECT cluster, group_id, hour, prompt, completion FROM token_hours WHERE hour >= $1 AND hour < "
          "$2 ORDER BY cluster, group_id, hour",
          Params().add(hour_number(from)).add(hour_number(to))));
  std::vector<TokenHour> hours;
  for (int i = 0; i < rows.size(); ++i) hours.push_back(token_hour_at(rows, i));
  return hours;
}

Status restore_epoch(Connection& db, const EpochReport& report) {
  return run(db, "INSERT INTO task_epochs VALUES($1, $2, $3, $4, $5, $6, $7)", params_of(report));
}
Status restore_token_hour(Connection& db, const TokenHour& hour) {
  return run(db, "INSERT INTO token_hours VALUES($1, $2, $3, $4, $5)", params_of(hour));
}
Status restore_token_counter(Connection& db, const TokenCounter& counter) {
  return run(db, "INSERT INTO token_counters VALUES($1, $2, $3, $4)", params_of(counter));
}

}  // namespace tidewatt::store::pg
