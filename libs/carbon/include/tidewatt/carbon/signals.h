// What the server asks about its zones' intensities. The implementation fetches; nothing here waits for a
// network.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tidewatt/carbon/forecast_scores.h"
#include "tidewatt/carbon/signal_chain.h"

namespace tidewatt::carbon {

struct ProviderStatus {
  std::string provider;
  std::string state;    ///< "untried", "ok", "no_value" (none that holds now), "failing" or "paused"
  std::string failure;  ///< what went wrong last, in words; empty = nothing
  std::optional<UtcTime> last_success_at;
  std::optional<UtcTime> next_try_at;             ///< while paused
  std::uint64_t successes = 0;                    ///< fetches
  std::map<std::string, std::uint64_t> failures;  ///< fetches by kind of failure
};

struct ZoneStatus {
  SeriesIdentity identity;
  ChainDecision decision;
  std::optional<UtcTime> since;  ///< when the present step was taken
  std::vector<ProviderStatus> providers;
};

struct ForecastSlot {
  StoredPoint point;
  std::optional<GramsPerKwh> p10;  ///< our own forecaster's
  std::optional<GramsPerKwh> p90;
};

struct ZoneForecast {
  SeriesIdentity identity;
  std::optional<UtcTime> issued_at;
  std::vector<ForecastSlot> slots;  ///< may be fewer than asked for
  struct Score {
    std::string forecaster;
    int day = 1;
    ForecastScores::Record record;
  };
  std::vector<Score> scores;
};

/// Thread-safe; answers from memory.
class Signals {
 public:
  virtual ~Signals() = default;
  [[nodiscard]] virtual std::vector<ZoneStatus> zones() const = 0;
  /// nullopt: no such zone
  [[nodiscard]] virtual std::optional<ZoneStatus> zone(const std::string& zone) const = 0;
  [[nodiscard]] virtual std::optional<std::vector<StoredPoint>> history(const std::string& zone,
                                                                        const UtcRange& range,
                                                                        bool all_revisions) const = 0;
  /// From now on; per day ahead by the forecaster that did better there.
  [[nodiscard]] virtual std::optional<ZoneForecast> forecast(const std::string& zone, int hours) const = 0;
};

}  // namespace tidewatt::carbon
