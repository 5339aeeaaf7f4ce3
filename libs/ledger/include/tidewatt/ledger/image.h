// One consistent image of a ledger, streamed piece by piece: what backups, seals, verification and exports
// read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tidewatt/base/result.h"
#include "tidewatt/ledger/account.h"
#include "tidewatt/ledger/cursor.h"
#include "tidewatt/ledger/reports.h"
#include "tidewatt/ledger/seal.h"

namespace tidewatt::ledger {

struct NodeInfo;
struct TaskInfo;
struct TokenRecord;
struct AuditEntry;
struct MarketEntry;

/// A node as stored: where its accounts stand, and as what it was last heard of.
struct NodeImage {
  NodeKey key;
  std::uint64_t revision = 0;
  std::string cursor;                    ///< encode(NodeCursor); empty = none yet
  std::shared_ptr<const NodeInfo> info;  ///< null = never noted
};

/// Takes an image in. What isn't overridden is dropped; an error ends the reading and is its answer.
class ImageSink {
 public:
  virtual ~ImageSink() = default;
  virtual Status add(const Seal& seal);
  virtual Status add(const NodeImage& node);
  virtual Status add(const Account& account);
  virtual Status add(const HourlyRow& row);
  virtual Status add(const Adjustment& adjustment);
  virtual Status add(const TeamHour& hour);
  virtual Status add(const TaskInfo& task);
  virtual Status add(const EpochReport& report);
  virtual Status add(const TokenHour& hour);
  virtual Status add(const TokenCounter& counter);
  virtual Status add(const TokenRecord& token);
  virtual Status add(const AuditEntry& entry);
  virtual Status add(const MarketEntry& entry);
};

/// Which parts come, in this order. Seals come by month, nodes and accounts by key, adjustments by hour.
struct ImageParts {
  bool registry = false;  ///< tasks and what they reported, access tokens, the audit log and the market's
                          ///< journal (oldest first)
  bool nodes = false;
  bool seals = false;
  bool accounts = false;  ///< lifetime totals
  bool adjustments = false;
  bool hourly = false;
  bool team_hours =
      false;  ///< by scope, hour, late, cluster, team, domain; of the filter, scope and cluster count
  /// Of hourly rows, adjustments and team hours: the hours [from, to).
  UtcHour from = UtcHour::min();
  UtcHour to = UtcHour::max();
  /// Of hourly rows and adjustments: which accounts.
  AccountFilter filter{};
  bool by_hour = false;  ///< hourly rows by hour, then key; else by key, then hour
  /// Hourly rows behind this one only; not with by_hour.
  std::optional<std::pair<AccountKey, UtcHour>> after{};

  [[nodiscard]] bool only_team_hours() const {
    return team_hours && !registry && !nodes && !seals && !accounts && !adjustments && !hourly;
  }
};

class ImageSource {
 public:
  virtual ~ImageSource() = default;
  /// All parts are of one instant. Booking goes on meanwhile. Memory doesn't grow with the number of rows.
  virtual Status read_image(const ImageParts& parts, ImageSink& sink) = 0;
  /// Whether team hours are kept here; where they aren't, none comes.
  [[nodiscard]] virtual bool keeps_team_hours() const { return false; }
};

}  // namespace tidewatt::ledger
