// Curve points from the days' partitions and from memory, the latest first until the limit.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "../curve_codec.h"
#include "reader.h"
#include "schema.h"

namespace tidewatt::store {
namespace {

std::int64_t day_of(UtcTime at) {
  return std::chrono::floor<std::chrono::days>(at).time_since_epoch().count();
}

/// Partitions that overlap the range, the latest first.
Result<std::vector<std::int64_t>> days_within(Database& db, UtcRange range) {
  TW_TRY(auto select, db.prepare("SELECT day FROM curve_days WHERE day >= ? AND day <= ? ORDER BY day DESC"));
  select.bind(1, day_of(range.begin)).bind(2, day_of(range.end));
  std::vector<std::int64_t> days;
  while (true) {
    TW_TRY(const bool row, select.step());
    if (!row) return days;
    days.push_back(select.integer(0));
  }
}

/// Stored points in one buffer: a range may hold tens of thousands.
struct RawPoints {
  struct Place {
    UtcTime at;
    std::size_t begin;
    std::size_t size;
  };
  std::string bytes;
  std::vector<Place> places;

  void add(UtcTime at, std::string_view blob) {
    places.push_back({at, bytes.size(), blob.size()});
    bytes.append(blob);
  }
};

Status read_day(Database& db, std::int64_t day, std::int64_t node, UtcRange range, std::size_t limit,
                RawPoints& points) {
  TW_TRY(auto select,
         db.prepare(fmt::format("SELECT at_ms, point FROM {} WHERE node = ? AND at_ms >= ? AND at_ms < ? "
                                "ORDER BY at_ms DESC LIMIT ?",
                                curve_table(day))));
  select.bind(1, node)
      .bind(2, range.begin.time_since_epoch().count())
      .bind(3, range.end.time_since_epoch().count());
  select.bind(4, static_cast<std::int64_t>(limit - points.places.size()));
  while (true) {
    TW_TRY(const bool row, select.step());
    if (!row) return {};
    points.add(UtcTime{Milliseconds{select.integer(0)}}, select.blob(1));
  }
}

/// Name numbers to texts: those still in memory first, then the table; each asked for once.
class Names {
 public:
  Names(ReaderPool::Lease lease, std::unordered_map<std::int64_t, std::string>&& known)
      : lease_(std::move(lease)), known_(std::move(known)) {}
  const std::string* operator()(std::int64_t id) {
    if (const auto found = known_.find(id); found != known_.end()) return &found->second;
    auto select = (*lease_).prepare("SELECT name FROM names WHERE id = ?");
    if (!select) return nullptr;
    select->bind(1, id);
    const auto row = select->step();
    if (!row || !*row) return nullptr;
    return &known_.emplace(id, select->text(0)).first->second;
  }

 private:
  ReaderPool::Lease lease_;
  std::unordered_map<std::int64_t, std::string> known_;
};

}  // namespace

Result<std::unique_ptr<ledger::CurveReader>> Reader::curve(const ledger::NodeKey& node, UtcRange range,
                                                           std::size_t limit) {
  limit = std::min<std::size_t>(limit, std::numeric_limits<std::int32_t>::max());
  if (range.end <= range.begin || limit == 0) return ledger::read_points({});
  std::int64_t pk = 0;
  {
    const std::lock_guard lock(state_.mutex);
    const auto* known = state_.find(node);
    if (known == nullptr) return ledger::read_points({});
    pk = known->pk;
  }
  TW_TRY(auto lease, pool_.lease());
  auto& db = *lease;
  RawPoints stored;
  std::map<UtcTime, std::string> recent;
  std::unordered_map<std::int64_t, std::string> new_names;
  const auto from_tables = [&]() -> Status {
    stored = {};
    TW_TRY(const auto days, days_within(db, range));
    for (const auto day : days)
      if (stored.places.size() < limit) TW_TRY_STATUS(read_day(db, day, pk, range, limit, stored));
    return {};
  };
  const auto from_memory = [&]() -> Status {
    const auto found = state_.unfolded.points.find(pk);
    if (found == state_.unfolded.points.end()) return {};
    new_names = state_.unfolded.new_names;
    for (const auto& [at, bytes] : found->second)
      if (range.begin <= at && at < range.end) recent.insert_or_assign(at, bytes);
    return {};
  };
  TW_TRY_STATUS(consistently(db, from_tables, from_memory));

  // Both sides run from the latest backwards; where both have a time, memory is the later write.
  struct Point {
    UtcTime at;
    const std::string* recent;  ///< nullptr = the next of the tables'
    RawPoints::Place place;
  };
  std::vector<Point> points;
  points.reserve(std::min(limit, stored.places.size() + recent.size()));
  auto memory = recent.rbegin();
  auto place = stored.places.begin();
  while (points.size() < limit && (memory != recent.rend() || place != stored.places.end())) {
    const bool from_recent =
        memory != recent.rend() && (place == stored.places.end() || memory->first >= place->at);
    if (from_recent && place != stored.places.end() && memory->first == place->at) ++place;
    if (from_recent) {
      points.push_back({memory->first, &memory->second, {}});
      ++memory;
    } else {
      points.push_back({place->at, nullptr, *place});
      ++place;
    }
  }
  const auto names = std::make_shared<Names>(std::move(lease), std::move(new_names));
  auto curve = std::make_unique<StoredCurve>([names](std::int64_t id) { return (*names)(id); });
  curve->adopt(std::move(stored.bytes), points.size());
  for (auto point = points.rbegin(); point != points.rend(); ++point) {
    if (point->recent != nullptr)
      curve->add(point->at, *point->recent);
    else
      curve->add_adopted(point->at, point->place.begin, point->place.size);
  }
  return curve;
}

}  // namespace tidewatt::store
