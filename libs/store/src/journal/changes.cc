#include "changes.h"

#include "../codec.h"

namespace tidewatt::store {
namespace {

constexpr std::uint8_t kChangesVersion = 1;
constexpr unsigned kMeasures = 11;

/// Account numbers of one node lie side by side: differences are one byte.
struct Difference {
  std::int64_t last = 0;
  std::int64_t of(std::int64_t n) { return n - std::exchange(last, n); }
  std::int64_t back(std::int64_t d) { return last += d; }
};

/// 0 = no time; else its difference to the time before, zigzag plus one: neighbours differ by nothing or
/// little.
void write(ByteWriter& w, std::optional<UtcTime> at, Difference& before) {
  if (!at) return w.u64(0);
  const auto difference = before.of(at->time_since_epoch().count());
  w.u64(1 + ((static_cast<std::uint64_t>(difference) << 1U) ^ static_cast<std::uint64_t>(difference >> 63)));
}
std::optional<UtcTime> read_time(ByteReader& r, Difference& before) {
  const auto code = r.u64();
  if (code == 0) return std::nullopt;
  const auto zigzag = code - 1;
  const auto difference = static_cast<std::int64_t>(zigzag >> 1U) ^ -static_cast<std::int64_t>(zigzag & 1U);
  return UtcTime{Milliseconds{before.back(difference)}};
}

// Most of the eleven are 0: a mask says which follow.
void write(ByteWriter& w, const ledger::Measures& m) {
  const std::int64_t values[kMeasures] = {
      m.energy.n,        m.counter.n,   m.shared.n,        m.unattributed.n,      m.simulated.n, m.spread.n,
      m.covered.count(), m.gap.count(), m.partial.count(), m.shared_time.count(), m.samples};
  std::uint64_t mask = 0;
  for (unsigned i = 0; i < kMeasures; ++i)
    if (values[i] != 0) mask |= std::uint64_t{1} << i;
  w.u64(mask);
  for (const auto value : values)
    if (value != 0) w.i64(value);
}

ledger::Measures read_measures(ByteReader& r) {
  const auto mask = r.u64();
  std::int64_t v[kMeasures] = {};
  for (unsigned i = 0; i < kMeasures; ++i)
    if ((mask & (std::uint64_t{1} << i)) != 0) v[i] = r.i64();
  return {Microjoules{v[0]},
          Microjoules{v[1]},
          Microjoules{v[2]},
          Microjoules{v[3]},
          Microjoules{v[4]},
          Microjoules{v[5]},
          Milliseconds{v[6]},
          Milliseconds{v[7]},
          Milliseconds{v[8]},
          Milliseconds{v[9]},
          v[10]};
}

tl::unexpected<Error> garbled() {
  return fail(ErrorCode::corrupt, "a journal row is truncated or garbled", "restore the latest backup");
}

}  // namespace

bool add_unless_overflow(ledger::Measures& sum, const ledger::Measures& more) {
  const auto overflows = [](Microjoules a, Microjoules b) { return __builtin_add_overflow(a.n, b.n, &a.n); };
  if (overflows(sum.energy, more.energy) || overflows(sum.counter, more.counter) ||
      overflows(sum.shared, more.shared) || overflows(sum.unattributed, more.unattributed) ||
      overflows(sum.simulated, more.simulated) || overflows(sum.spread, more.spread))
    return false;
  sum += more;
  return true;
}

void Changes::clear() {
  nodes.clear();
  accounts.clear();
  names.clear();
  cursors.clear();
  touched.clear();
  rows.clear();
  points.clear();
}

void encode(const Changes& changes, std::string& out) {
  ByteWriter w(out);
  w.byte(kChangesVersion);
  w.u64(changes.nodes.size());
  for (const auto& node : changes.nodes) {
    w.i64(node.pk);
    w.text(node.key.cluster);
    w.text(node.key.node_id);
  }
  w.u64(changes.accounts.size());
  for (const auto& account : changes.accounts) {
    w.i64(account.pk);
    w.text(account.key.cluster);
    w.byte(static_cast<std::uint8_t>(account.key.scope));
    w.text(account.key.id);
    w.text(account.key.part);
    w.text(account.key.domain);
  }
  w.u64(changes.names.size());
  for (const auto& name : changes.names) {
    w.i64(name.id);
    w.text(name.name);
  }
  Difference node;
  w.u64(changes.cursors.size());
  for (const auto& cursor : changes.cursors) {
    w.i64(node.of(cursor.node));
    w.u64(cursor.revision);
    w.byte(cursor.is_patch ? 1 : 0);
    w.text(cursor.bytes);
  }
  Difference account;
  Difference time;
  w.u64(changes.touched.size());
  for (const auto& touched : changes.touched) {
    w.i64(account.of(touched.account));
    write(w, touched.first_sample_at, time);
    write(w, touched.last_sample_at, time);
  }
  Difference place;
  Difference hour;
  w.u64(changes.rows.size());
  for (const auto& row : changes.rows) {
    w.i64(place.of(static_cast<std::int64_t>(row.touched)));
    w.i64(hour.of(row.hour.time_since_epoch().count()));
    write(w, row.measures);
  }
  Difference at;
  w.u64(changes.points.size());
  for (const auto& point : changes.points) {
    w.i64(node.of(point.node));
    w.i64(at.of(point.at.time_since_epoch().count()));
    w.text(point.bytes);
  }
}

Result<Changes> decode_changes(std::string_view bytes) {
  ByteReader r(bytes);
  Changes c;
  const auto version = r.byte();
  if (version != kChangesVersion)
    return fail(ErrorCode::corrupt, "a journal row has version " + std::to_string(version),
                "was it written by a newer tidewatt?");
  for (auto n = r.count(); n > 0 && r.ok(); --n) {
    const auto pk = r.i64();
    const auto cluster = r.text();
    c.nodes.push_back({pk, {std::string(cluster), std::string(r.text())}});
  }
  for (auto n = r.count(); n > 0 && r.ok(); --n) {
    NewAccount account{r.i64(), {}};
    account.key.cluster = r.text();
    account.key.scope = static_cast<ledger::Scope>(r.byte());
    account.key.id = r.text();
    account.key.part = r.text();
    account.key.domain = r.text();
    c.accounts.push_back(std::move(account));
  }
  for (auto n = r.count(); n > 0 && r.ok(); --n) {
    const auto id = r.i64();
    c.names.push_back({id, std::string(r.text())});
  }
  Difference node;
  for (auto n = r.count(); n > 0 && r.ok(); --n) {
    CursorChange cursor{node.back(r.i64()), r.u64(), {}, r.byte() != 0};
    cursor.bytes = r.text();
    c.cursors.push_back(std::move(cursor));
  }
  Difference account;
  Difference time;
  for (auto n = r.count(); n > 0 && r.ok(); --n) {
    AccountChange touched{account.back(r.i64()), nullptr, read_time(r, time), {}};
    touched.last_sample_at = read_time(r, time);
    c.touched.push_back(touched);
  }
  Difference place;
  Difference hour;
  for (auto n = r.count(); n > 0 && r.ok(); --n) {
    RowChange row{static_cast<std::size_t>(place.back(r.i64())), {}, {}};
    if (row.touched >= c.touched.size()) return garbled();
    row.hour = UtcHour{std::chrono::hours{hour.back(r.i64())}};
    row.measures = read_measures(r);
    c.rows.push_back(row);
  }
  Difference at;
  for (auto n = r.count(); n > 0 && r.ok(); --n) {
    PointChange point{node.back(r.i64()), {}, {}};
    point.at = UtcTime{Milliseconds{at.back(r.i64())}};
    point.bytes = r.text();
    c.points.push_back(std::move(point));
  }
  if (!r.finished())
    return fail(ErrorCode::corrupt, "a journal row is truncated or garbled", "restore the latest backup");
  return c;
}

}  // namespace tidewatt::store
