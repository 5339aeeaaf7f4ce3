#include "records.h"

#include "../codec.h"
#include "../node_info_codec.h"

namespace tidewatt::store {
namespace {

using namespace ledger;

void put(ByteWriter& w, std::optional<UtcTime> at) {
  w.byte(at ? 1 : 0);
  if (at) w.i64(at->time_since_epoch().count());
}
std::optional<UtcTime> time_of(ByteReader& r) {
  if (r.byte() == 0) return std::nullopt;
  return UtcTime{Milliseconds{r.i64()}};
}
void put(ByteWriter& w, UtcHour hour) { w.i64(static_cast<std::int64_t>(hour.time_since_epoch().count())); }
void put(ByteWriter& w, std::optional<std::int64_t> number) {
  w.byte(number ? 1 : 0);
  if (number) w.i64(*number);
}
std::optional<std::int64_t> number_of(ByteReader& r) {
  return r.byte() == 0 ? std::nullopt : std::optional(r.i64());
}
UtcHour hour_from(ByteReader& r) { return UtcHour{std::chrono::hours{r.i64()}}; }

void put(ByteWriter& w, WideMicrojoules energy) { w.text(energy.to_string()); }
/// nullopt makes the whole record corrupt.
struct Energies {
  bool ok = true;
  WideMicrojoules read(ByteReader& r) {
    const auto energy = WideMicrojoules::parse(r.text());
    ok = ok && energy.has_value();
    return energy.value_or(WideMicrojoules{});
  }
};

void put(ByteWriter& w, const AccountKey& key) {
  w.text(key.cluster);
  w.byte(static_cast<std::uint8_t>(key.scope));
  w.text(key.id);
  w.text(key.part);
  w.text(key.domain);
}
AccountKey key_from(ByteReader& r) {
  AccountKey key;
  key.cluster = r.text();
  key.scope = static_cast<Scope>(r.byte());
  key.id = r.text();
  key.part = r.text();
  key.domain = r.text();
  return key;
}

void put(ByteWriter& w, const WideMeasures& m) {
  for (const auto energy : {m.energy, m.counter, m.shared, m.unattributed, m.simulated, m.spread})
    put(w, energy);
  for (const auto time : {m.covered, m.gap, m.partial, m.shared_time}) w.i64(time.count());
  w.i64(m.samples);
}
WideMeasures measures_from(ByteReader& r, Energies& energies) {
  WideMeasures m;
  for (auto* energy : {&m.energy, &m.counter, &m.shared, &m.unattributed, &m.simulated, &m.spread})
    *energy = energies.read(r);
  for (auto* time : {&m.covered, &m.gap, &m.partial, &m.shared_time}) *time = Milliseconds{r.i64()};
  m.samples = r.i64();
  return m;
}

tl::unexpected<Error> garbled_record(RecordKind kind) {
  return fail(ErrorCode::corrupt,
              "the backup's record of kind " + std::to_string(static_cast<int>(kind)) + " can't be read",
              "use another backup");
}

}  // namespace

std::string encode_record(const TaskInfo& task) {
  std::string out;
  ByteWriter w(out);
  for (const auto* text : {&task.cluster, &task.task_id, &task.group_id, &task.team, &task.kind})
    w.text(*text);
  put(w, task.started_at);
  put(w, task.finished_at);
  put(w, task.at_once_at);
  return out;
}
std::string encode_record(const EpochReport& report) {
  std::string out;
  ByteWriter w(out);
  w.text(report.cluster);
  w.text(report.task_id);
  w.i64(report.epoch);
  put(w, std::optional(report.at));
  put(w, report.epochs_total);
  put(w, report.energy_total ? std::optional(report.energy_total->n) : std::nullopt);
  put(w, report.step_latency ? std::optional<std::int64_t>(report.step_latency->count()) : std::nullopt);
  return out;
}
std::string encode_record(const TokenHour& hour) {
  std::string out;
  ByteWriter w(out);
  w.text(hour.cluster);
  w.text(hour.group_id);
  put(w, hour.hour);
  w.i64(hour.tokens.prompt);
  w.i64(hour.tokens.completion);
  return out;
}
std::string encode_record(const TokenCounter& counter) {
  std::string out;
  ByteWriter w(out);
  w.text(counter.cluster);
  w.text(counter.series);
  put(w, std::optional(counter.at));
  w.i64(counter.value);
  return out;
}
std::string encode_record(const TokenRecord& token) {
  std::string out;
  ByteWriter w(out);
  for (const auto* text : {&token.id, &token.name, &token.role, &token.team, &token.sha256_hex})
    w.text(*text);
  put(w, std::optional(token.created_at));
  put(w, token.expires_at);
  put(w, token.revoked_at);
  return out;
}
std::string encode_record(const AuditEntry& entry) {
  std::string out;
  ByteWriter w(out);
  put(w, std::optional(entry.at));
  for (const auto* text : {&entry.actor, &entry.action, &entry.subject}) w.text(*text);
  return out;
}
std::string encode_record(const MarketEntry& entry) {
  std::string out;
  ByteWriter w(out);
  w.i64(entry.seq);
  w.text(entry.key);
  put(w, std::optional(entry.at));
  w.text(entry.body);
  return out;
}
std::string encode_record(const NodeImage& node) {
  std::string out;
  ByteWriter w(out);
  w.text(node.key.cluster);
  w.text(node.key.node_id);
  w.u64(node.revision);
  w.text(node.cursor);
  w.text(node.info ? encode(*node.info) : std::string());
  return out;
}
std::string encode_record(const Seal& seal) {
  std::string out;
  ByteWriter w(out);
  w.i64(seal.month.n);
  put(w, std::optional(seal.sealed_at));
  w.i64(seal.rows);
  put(w, seal.energy);
  w.text(seal.hash);
  w.text(seal.previous);
  return out;
}
std::string encode_record(const Account& account) {
  std::string out;
  ByteWriter w(out);
  put(w, account.key);
  put(w, account.totals);
  put(w, account.first_sample_at);
  put(w, account.last_sample_at);
  return out;
}
std::string encode_record(const Adjustment& adjustment) {
  std::string out;
  ByteWriter w(out);
  put(w, adjustment.key);
  put(w, adjustment.hour);
  put(w, adjustment.measures);
  put(w, adjustment.booked_at);
  w.text(adjustment.reason);
  return out;
}
std::string encode_record(const HourlyRow& row) {
  std::string out;
  ByteWriter w(out);
  put(w, row.key);
  put(w, row.hour);
  put(w, row.measures);
  return out;
}
std::string encode_end(const BackupSummary& summary, std::string_view sha256) {
  std::string out;
  ByteWriter w(out);
  for (const auto n : {summary.nodes, summary.accounts, summary.rows, summary.adjustments, summary.seals})
    w.i64(n);
  put(w, summary.node_energy);
  w.text(sha256);
  return out;
}

void count(BackupSummary& summary, RecordKind kind, const Account* account) {
  if (kind == RecordKind::node) ++summary.nodes;
  if (kind == RecordKind::seal) ++summary.seals;
  if (kind == RecordKind::hour) ++summary.rows;
  if (kind == RecordKind::adjustment) ++summary.adjustments;
  if (account == nullptr) return;
  ++summary.accounts;
  if (account->key.scope == Scope::node) summary.node_energy += account->totals.energy;
}

Status give_record(RecordKind kind, std::string_view payload, BackupSummary& summary, ImageSink& sink) {
  ByteReader r(payload);
  Energies energies;
  const auto whole = [&] { return r.finished() && energies.ok; };
  if (kind != RecordKind::account) count(summary, kind, nullptr);
  switch (kind) {
    case RecordKind::task: {
      TaskInfo task;
      for (auto* text : {&task.cluster, &task.task_id, &task.group_id, &task.team, &task.kind})
        *text = r.text();
      task.started_at = time_of(r);
      task.finished_at = time_of(r);
      // Older backups end here.
      if (!r.finished()) task.at_once_at = time_of(r);
      return whole() ? sink.add(task) : garbled_record(kind);
    }
    case RecordKind::epoch: {
      EpochReport report;
      report.cluster = r.text();
      report.task_id = r.text();
      report.epoch = r.i64();
      report.at = time_of(r).value_or(UtcTime{});
      report.epochs_total = number_of(r);
      if (const auto energy = number_of(r)) report.energy_total = Microjoules{*energy};
      if (const auto step = number_of(r)) report.step_latency = std::chrono::microseconds{*step};
      return whole() ? sink.add(report) : garbled_record(kind);
    }
    case RecordKind::token_hour: {
      TokenHour hour;
      hour.cluster = r.text();
      hour.group_id = r.text();
      hour.hour = hour_from(r);
      hour.tokens.prompt = r.i64();
      hour.tokens.completion = r.i64();
      return whole() ? sink.add(hour) : garbled_record(kind);
    }
    case RecordKind::token_counter: {
      TokenCounter counter;
      counter.cluster = r.text();
      counter.series = r.text();
      counter.at = time_of(r).value_or(UtcTime{});
      counter.value = r.i64();
      return whole() ? sink.add(counter) : garbled_record(kind);
    }
    case RecordKind::token: {
      TokenRecord token;
      for (auto* text : {&token.id, &token.name, &token.role, &token.team, &token.sha256_hex})
        *text = r.text();
      token.created_at = time_of(r).value_or(UtcTime{});
      token.expires_at = time_of(r);
      token.revoked_at = time_of(r);
      return whole() ? sink.add(token) : garbled_record(kind);
    }
    case RecordKind::audit: {
      AuditEntry entry;
      entry.at = time_of(r).value_or(UtcTime{});
      for (auto* text : {&entry.actor, &entry.action, &entry.subject}) *text = r.text();
      return whole() ? sink.add(entry) : garbled_record(kind);
    }
    case RecordKind::market: {
      MarketEntry entry;
      entry.seq = r.i64();
      entry.key = r.text();
      entry.at = time_of(r).value_or(UtcTime{});
      entry.body = r.text();
      return whole() ? sink.add(entry) : garbled_record(kind);
    }
    case RecordKind::node: {
      NodeImage node;
      node.key.cluster = r.text();
      node.key.node_id = r.text();
      node.revision = r.u64();
      node.cursor = r.text();
      const auto info = r.text();
      if (!whole()) return garbled_record(kind);
      if (!node.cursor.empty()) {
        TW_TRY([[maybe_unused]] const auto cursor, decode_cursor(node.cursor));
      }
      if (!info.empty()) {
        TW_TRY(auto decoded, decode_node_info(node.key, info));
        node.info = std::make_shared<const NodeInfo>(std::move(decoded));
      }
      return sink.add(node);
    }
    case RecordKind::seal: {
      Seal seal;
      seal.month.n = r.i64();
      seal.sealed_at = time_of(r).value_or(UtcTime{});
      seal.rows = r.i64();
      seal.energy = energies.read(r);
      seal.hash = r.text();
      seal.previous = r.text();
      return whole() ? sink.add(seal) : garbled_record(kind);
    }
    case RecordKind::account: {
      Account account;
      account.key = key_from(r);
      account.totals = measures_from(r, energies);
      account.first_sample_at = time_of(r);
      account.last_sample_at = time_of(r);
      count(summary, kind, &account);
      return whole() ? sink.add(account) : garbled_record(kind);
    }
    case RecordKind::adjustment: {
      Adjustment adjustment;
      adjustment.key = key_from(r);
      adjustment.hour = hour_from(r);
      adjustment.measures = measures_from(r, energies);
      adjustment.booked_at = time_of(r);
      adjustment.reason = r.text();
      return whole() ? sink.add(adjustment) : garbled_record(kind);
    }
    case RecordKind::hour: {
      HourlyRow row;
      row.key = key_from(r);
      row.hour = hour_from(r);
      row.measures = measures_from(r, energies);
      return whole() ? sink.add(row) : garbled_record(kind);
    }
    case RecordKind::end:
      break;
  }
  return garbled_record(kind);
}

Result<EndRecord> decode_end(std::string_view payload) {
  ByteReader r(payload);
  Energies energies;
  EndRecord end;
  for (auto* n : {&end.summary.nodes, &end.summary.accounts, &end.summary.rows, &end.summary.adjustments,
                  &end.summary.seals})
    *n = r.i64();
  end.summary.node_energy = energies.read(r);
  end.sha256 = r.text();
  if (!r.finished() || !energies.ok) return garbled_record(RecordKind::end);
  return end;
}

}  // namespace tidewatt::store
