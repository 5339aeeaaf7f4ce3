// Curve points from the days' partitions and from the journal, the latest first until the limit.
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "../curve_codec.h"
#include "reader.h"

namespace tidewatt::store::pg {

Result<bool> Reader::journal_has_points_before(UtcTime limit) {
  bool found = false;
  const auto look = [&](const Unfolded& journal) -> Status {
    found = std::any_of(journal.points.begin(), journal.points.end(), [&](const auto& node) {
      return std::any_of(node.second.begin(), node.second.end(),
                         [&](const auto& point) { return point.first < limit; });
    });
    return {};
  };
  TW_TRY_STATUS(consistently(look, [](Connection&) -> Status { return {}; }));
  return found;
}

Result<std::unique_ptr<ledger::CurveReader>> Reader::curve(const ledger::NodeKey& key, UtcRange range,
                                                           std::size_t limit) {
  limit = std::min<std::size_t>(limit, std::numeric_limits<std::int32_t>::max());
  if (range.end <= range.begin || limit == 0) return ledger::read_points({});
  std::int64_t pk = 0;
  {
    const std::lock_guard lock(nodes_.mutex);
    if (const auto* node = nodes_.find(key)) pk = node->pk;
  }
  std::map<UtcTime, std::string> recent;
  Rows stored;
  // The first read of a node that another server made asks for its number.
  const auto find_number = [&](Connection& db) -> Status {
    TW_TRY(pk, db.integer("SELECT pk FROM nodes WHERE cluster = $1 AND node_id = $2",
                          Params().text(key.cluster).text(key.node_id)));
    return {};
  };
  if (pk == 0) TW_TRY_STATUS(pool_.run(find_number));
  if (pk == 0) return ledger::read_points({});
  const auto from_journal = [&](const Unfolded& journal) -> Status {
    recent.clear();
    const auto found = journal.points.find(pk);
    if (found == journal.points.end()) return {};
    for (const auto& [at, bytes] : found->second)
      if (range.begin <= at && at < range.end) recent.insert_or_assign(at, bytes);
    return {};
  };
  const auto from_tables = [&](Connection& db) -> Status {
    Params params;
    params.add(pk).add(static_cast<std::int64_t>(range.begin.time_since_epoch().count()));
    params.add(static_cast<std::int64_t>(range.end.time_since_epoch().count()))
        .add(static_cast<std::int64_t>(limit));
    TW_TRY(stored, db.query("SELECT at_ms, point FROM curves WHERE node = $1 AND at_ms >= $2 AND at_ms < $3 "
                            "ORDER BY at_ms DESC LIMIT $4",
                            params));
    return {};
  };
  TW_TRY_STATUS(consistently(from_journal, from_tables));

  // Both sides run from the latest backwards; where both have a time, the journal is the later write.
  std::vector<std::pair<UtcTime, std::string_view>> points;
  auto journal = recent.rbegin();
  int row = 0;
  while (points.size() < limit && (journal != recent.rend() || row < stored.size())) {
    const auto at = row < stored.size() ? *stored.time(row, 0) : UtcTime::min();
    const bool from_recent = journal != recent.rend() && (row == stored.size() || journal->first >= at);
    if (from_recent && row < stored.size() && journal->first == at) ++row;
    if (from_recent) {
      points.emplace_back(journal->first, journal->second);
      ++journal;
    } else {
      points.emplace_back(at, stored.text(row++, 1));
    }
  }

  const auto texts = std::make_shared<std::map<std::int64_t, std::shared_ptr<const std::string>>>();
  auto curve = std::make_unique<StoredCurve>([this, texts](std::int64_t id) -> const std::string* {
    auto& text = (*texts)[id];
    if (!text) text = names_.find(id);
    if (!text && pool_.run([&](Connection& db) { return names_.load(db, {id}); })) text = names_.find(id);
    return text.get();
  });
  for (auto point = points.rbegin(); point != points.rend(); ++point) curve->add(point->first, point->second);
  return curve;
}

}  // namespace tidewatt::store::pg
