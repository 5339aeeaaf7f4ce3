// Reads: the tables, and what the journal holds beyond them, as of one snapshot.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "image.h"
#include "nodes.h"
#include "numbers.h"
#include "pool.h"
#include "tidewatt/ledger/store.h"

namespace tidewatt::store::pg {

/// The read side of the store. Thread-safe.
class Reader {
 public:
  Reader(Pool& pool, Image& image, Nodes& nodes, Names& names)
      : pool_(pool), image_(image), nodes_(nodes), names_(names) {}

  Result<ledger::VersionedCursor> cursor(const ledger::NodeKey& node);
  Result<std::vector<ledger::Account>> accounts(const ledger::AccountFilter& filter);
  Result<std::vector<ledger::Account>> sums(const ledger::AccountFilter& filter, UtcHour from, UtcHour to);
  Result<std::vector<ledger::HourlyRow>> hourly(const ledger::AccountFilter& filter, UtcHour from,
                                                UtcHour to);
  Status team_hours(const ledger::ImageParts& parts, ledger::ImageSink& sink);
  Result<bool> journal_has_points_before(UtcTime at);
  Result<std::unique_ptr<ledger::CurveReader>> curve(const ledger::NodeKey& node, UtcRange range,
                                                     std::size_t limit);

 private:
  /// In one snapshot: `from_journal` with the image at it, then `from_tables`. Both may run again.
  Status consistently(const std::function<Status(const Unfolded&)>& from_journal,
                      const std::function<Status(Connection&)>& from_tables);
  Status in_snapshot(Connection& db, const std::function<Status(const Unfolded&)>& from_journal,
                     const std::function<Status(Connection&)>& from_tables);
  Result<ledger::VersionedCursor> refresh(const ledger::NodeKey& key);

  Pool& pool_;
  Image& image_;
  Nodes& nodes_;
  Names& names_;
};

}  // namespace tidewatt::store::pg
