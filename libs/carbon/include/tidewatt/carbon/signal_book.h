// What is known of one series: its slots with their revisions, and the forecasts of slots to come.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/carbon/hourly_series.h"
#include "tidewatt/carbon/signal.h"

namespace tidewatt::carbon {

struct StoredPoint {
  SignalPoint point;
  std::string provider;
  UtcTime fetched_at;
  int revision = 1;  ///< 1 = as first told; providers restate history
};

/// Points of one identity. Values, no clock, no disk.
class SignalBook {
 public:
  static constexpr std::size_t kMostSlots = 20'000;  ///< of either kind; the oldest go
  static constexpr std::size_t kMostRevisions = 16;  ///< of a slot: the first and the latest ones are kept

  /// @param identity  its zone is ours; points may name it as their provider does
  explicit SignalBook(SeriesIdentity identity);

  struct Taken {
    std::size_t fresh = 0;     ///< slots that were unknown
    std::size_t restated = 0;  ///< slots whose value changed: the value before is kept as a revision
    std::size_t foreign = 0;   ///< of another kind, boundary or basis: not taken
    std::size_t unusable = 0;  ///< negative, not finite, longer than 2 days or beyond 1e5 g/kWh
  };
  Taken take(const std::vector<SignalPoint>& points, std::string_view provider, UtcTime fetched_at);
  /// As it was kept: for what was stored.
  void restore(StoredPoint stored);

  /// The measured, estimated or fixed value of the slot that holds `now`.
  [[nodiscard]] std::optional<StoredPoint> known_at(UtcTime now) const;
  /// The last one that began before `now`, however old.
  [[nodiscard]] std::optional<StoredPoint> last_known(UtcTime now) const;
  [[nodiscard]] std::optional<StoredPoint> forecast_at(UtcTime now) const;
  /// Known slots that begin in `range`, each by its latest revision.
  [[nodiscard]] std::vector<StoredPoint> history(const UtcRange& range, bool all_revisions = false) const;
  [[nodiscard]] std::vector<StoredPoint> forecast(const UtcRange& range) const;
  [[nodiscard]] std::vector<StoredPoint> everything() const;
  /// Known slots as means of whole hours, up to the last whole hour that is known before `now`; a static
  /// factor is no history.
  [[nodiscard]] HourlySeries hourly(UtcTime now) const;

  [[nodiscard]] const SeriesIdentity& identity() const { return identity_; }

 private:
  using Slots = std::map<UtcTime, std::vector<StoredPoint>>;
  void bound(Slots& slots);

  SeriesIdentity identity_;
  Slots known_;     ///< revisions in order
  Slots forecast_;  ///< one each
};

/// Whether points of `other` may stand in a series of `own`: kind, boundary and basis, whatever the zones are
/// called.
bool same_series(const SeriesIdentity& own, const SeriesIdentity& other);
/// "average, life_cycle, consumption"
std::string describe(const SeriesIdentity& identity);

}  // namespace tidewatt::carbon
