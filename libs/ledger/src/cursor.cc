#include "tidewatt/ledger/cursor.h"

#include <algorithm>
#include <utility>

namespace tidewatt::ledger {
namespace {

constexpr char kVersion = 2;

/// LEB128 varints, zigzag for signed, length-prefixed strings.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}
  void u64(std::uint64_t n) {
    for (; n >= 0x80; n >>= 7U) out_.push_back(static_cast<char>((n & 0x7FU) | 0x80U));
    out_.push_back(static_cast<char>(n));
  }
  void i64(std::int64_t n) {
    u64((static_cast<std::uint64_t>(n) << 1U) ^ static_cast<std::uint64_t>(n >> 63));
  }
  void text(std::string_view s) {
    u64(s.size());
    out_.append(s);
  }
  void flag(bool b) { out_.push_back(b ? '\1' : '\0'); }
  void at(UtcTime t) { i64(t.time_since_epoch().count()); }

 private:
  std::string& out_;
};

/// Reads what Writer wrote; after the first inconsistency everything reads as zero and ok() is false.
class Reader {
 public:
  explicit Reader(std::string_view in) : in_(in) {}
  std::uint64_t u64() {
    std::uint64_t n = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (in_.empty()) break;
      const auto byte = static_cast<unsigned char>(in_.front());
      in_.remove_prefix(1);
      n |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if ((byte & 0x80U) == 0) return n;
    }
    ok_ = false;
    return 0;
  }
  std::int64_t i64() {
    const auto n = u64();
    return static_cast<std::int64_t>(n >> 1U) ^ -static_cast<std::int64_t>(n & 1U);
  }
  std::string text() {
    const auto size = u64();
    if (size > in_.size()) {
      ok_ = false;
      return {};
    }
    std::string s(in_.substr(0, size));
    in_.remove_prefix(size);
    return s;
  }
  bool flag() { return u64() != 0; }
  UtcTime at() { return UtcTime{Milliseconds{i64()}}; }
  /// A count of things of at least one byte each: bounded by what is left, so a forged count can't allocate.
  std::size_t count() {
    const auto n = u64();
    if (n > in_.size()) {
      ok_ = false;
      return 0;
    }
    return n;
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool finished() const { return ok_ && in_.empty(); }

 private:
  std::string_view in_;
  bool ok_ = true;
};

void write(Writer& w, const DeviceCursor& d) {
  w.text(d.domain);
  w.i64(d.index);
  w.text(d.uuid);
  w.text(d.agent_id);
  w.at(d.at);
  w.at(d.listed_at);
  w.flag(d.counter.has_value());
  if (d.counter) w.i64(d.counter->n);
  w.text(d.counter_boot);
  w.text(d.counter_epoch);
  w.flag(d.counter_distrusted);
  w.i64(d.check.counter.n);
  w.i64(d.check.power.n);
  w.i64(d.check.time.count());
  w.text(d.vendor);
  w.flag(d.limit.has_value());
  if (d.limit) w.i64(d.limit->n);
  w.u64(d.holders.size());
  for (const auto& holder : d.holders) w.text(holder);
}

DeviceCursor read_device(Reader& r, char version) {
  DeviceCursor d;
  d.domain = r.text();
  d.index = static_cast<int>(r.i64());
  d.uuid = r.text();
  d.agent_id = r.text();
  d.at = r.at();
  d.listed_at = r.at();
  if (r.flag()) d.counter = Microjoules{r.i64()};
  d.counter_boot = r.text();
  d.counter_epoch = r.text();
  d.counter_distrusted = r.flag();
  if (version >= 2) {
    d.check.counter = Microjoules{r.i64()};
    d.check.power = Microjoules{r.i64()};
    d.check.time = Milliseconds{r.i64()};
    d.vendor = r.text();
  }
  if (r.flag()) d.limit = Milliwatts{r.i64()};
  const auto holders = r.count();
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < holders && r.ok(); ++i) ids.push_back(r.text());
  d.holders = TaskSet{std::move(ids)};
  return d;
}

}  // namespace

bool CounterCheck::apart() const {
  constexpr WideMicrojoules::Int kResolution = 10'000'000;  // of the coarsest counters, both ends
  constexpr WideMicrojoules::Int kPercent = 3;
  const WideMicrojoules::Int difference = WideMicrojoules::Int{counter.n} - power.n;
  const WideMicrojoules::Int size = difference < 0 ? -difference : difference;
  return size > kResolution && size * 100 > std::max(counter, power).n * kPercent;
}

bool SeenSeqs::seen(std::uint64_t seq) const {
  if (runs.empty()) return false;
  const auto newest = runs.back().second;
  if (newest >= kWindow && seq <= newest - kWindow) return true;
  return std::any_of(runs.begin(), runs.end(),
                     [&](const auto& run) { return run.first <= seq && seq <= run.second; });
}

void SeenSeqs::add(std::uint64_t seq) {
  auto place = std::lower_bound(runs.begin(), runs.end(), seq,
                                [](const auto& run, std::uint64_t s) { return run.second < s; });
  if (place != runs.end() && place->first <= seq) return;
  place = runs.insert(place, {seq, seq});
  if (const auto next = place + 1; next != runs.end() && next->first == seq + 1) {
    place->second = next->second;
    runs.erase(next);
  }
  if (place != runs.begin()) {
    const auto before = place - 1;
    if (before->second + 1 == place->first) {
      before->second = place->second;
      runs.erase(place);
    }
  }
  const auto newest = runs.back().second;
  if (newest >= kWindow) std::erase_if(runs, [&](const auto& run) { return run.second <= newest - kWindow; });
}

std::string encode(const NodeCursor& cursor) {
  std::string out;
  out.reserve(64 + cursor.devices.size() * 96);
  out.push_back(kVersion);
  Writer w(out);
  w.u64(cursor.devices.size());
  for (const auto& device : cursor.devices) write(w, device);
  w.u64(cursor.domains.size());
  for (const auto& domain : cursor.domains) {
    w.text(domain.domain);
    w.at(domain.at);
    w.u64(domain.tasks.size());
    for (const auto& [task, until] : domain.tasks) {
      w.text(task);
      w.at(until);
    }
  }
  w.u64(cursor.boots.size());
  for (const auto& boot : cursor.boots) {
    w.text(boot.boot_id);
    w.at(boot.at);
    w.i64(boot.monotonic.count());
    w.flag(boot.received_at.has_value());
    if (boot.received_at) w.at(*boot.received_at);
    w.flag(boot.received_mono.has_value());
    if (boot.received_mono) w.i64(boot.received_mono->count());
    w.text(boot.server_run);
  }
  w.u64(cursor.seen.size());
  for (const auto& seen : cursor.seen) {
    w.text(seen.boot_id);
    w.text(seen.agent_id);
    w.at(seen.last_at);
    w.u64(seen.runs.size());
    for (const auto& [first, last] : seen.runs) {
      w.u64(first);
      w.u64(last);
    }
  }
  return out;
}

Result<NodeCursor> decode_cursor(std::string_view bytes) {
  const char version = bytes.empty() ? '\0' : bytes.front();
  if (version < 1 || version > kVersion)
    return fail(ErrorCode::corrupt, "node cursor has an unknown version",
                "was the database written by a newer tidewatt?");
  Reader r(bytes.substr(1));
  NodeCursor cursor;
  for (auto n = r.count(); n > 0 && r.ok(); --n) cursor.devices.push_back(read_device(r, version));
  for (auto n = r.count(); n > 0 && r.ok(); --n) {
    DomainCursor domain;
    domain.domain = r.text();
    domain.at = r.at();
    for (auto tasks = r.count(); tasks > 0 && r.ok(); --tasks) {
      auto task = r.text();
      domain.tasks.emplace_back(std::move(task), r.at());
    }
    cursor.domains.push_back(std::move(domain));
  }
  for (auto n = r.count(); n > 0 && r.ok(); --n) {
    BootCursor boot;
    boot.boot_id = r.text();
    boot.at = r.at();
    boot.monotonic = Milliseconds{r.i64()};
    if (r.flag()) boot.received_at = r.at();
    if (r.flag()) boot.received_mono = Milliseconds{r.i64()};
    boot.server_run = r.text();
    cursor.boots.push_back(std::move(boot));
  }
  for (auto n = r.count(); n > 0 && r.ok(); --n) {
    SeenSeqs seen;
    seen.boot_id = r.text();
    seen.agent_id = r.text();
    seen.last_at = r.at();
    for (auto runs = r.count(); runs > 0 && r.ok(); --runs) {
      const auto first = r.u64();
      seen.runs.emplace_back(first, r.u64());
    }
    cursor.seen.push_back(std::move(seen));
  }
  if (!r.finished())
    return fail(ErrorCode::corrupt, "node cursor is truncated or garbled", "run: tidewatt doctor");
  return cursor;
}

}  // namespace tidewatt::ledger
