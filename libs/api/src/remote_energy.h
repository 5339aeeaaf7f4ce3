// Energy that comes by remote_write: samples become beats of the node, so that the ledger's own rules hold
// for them, unless a better source meters the same.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core.h"
#include "tidewatt/metering/beat.h"
#include "tidewatt/remote_write/mapping.h"

namespace tidewatt::api {

/// A sample further ahead of our clock than this is of a clock that is wrong.
inline constexpr Milliseconds kRemoteFuture = std::chrono::minutes{5};

/// Ids that are longer are nobody's, as everywhere.
inline constexpr std::size_t kLongestLabel = 256;

/// A counter that falls within so short a time wasn't reset: two who scrape it read it in another order than
/// their clocks say.
inline constexpr Milliseconds kSoonestReset{1'000};

/// Who reports what of a node. One source of record for each domain of a node: an agent of ours, else DCGM,
/// else Kepler, else node_exporter. The others' samples are counted as `shadow` and never booked. When the
/// source of record changes, the new one's first sample is a baseline.
/// @return why the sample isn't booked; nullopt = it is. `epoch` becomes what the device's counter is only
///         comparable within
enum class Shadowed : std::uint8_t { no, by_agent, by_better };
Shadowed shadowed(const ledger::NodeCursor& cursor, remote_write::Family family, const std::string& domain,
                  UtcTime at, std::string& epoch);

class RemoteEnergy {
 public:
  explicit RemoteEnergy(Core& core) : core_(core) {}
  void add(const remote_write::EnergySeries& series, std::span<const remote_write::Sample> samples);
  /// @error unavailable  some beat has to be sent again
  Status book(const ledger::ClusterWindows& windows);

 private:
  using BeatKey = std::tuple<std::string, std::string, UtcTime, remote_write::Family>;
  struct Figures {
    remote_write::EnergySeries series;
    std::optional<double> watts;
    std::optional<double> joules;
  };
  using DeviceName = std::pair<std::string, std::string>;  ///< domain, and what tells it from others there
  using Devices = std::map<DeviceName, Figures>;

  Result<ledger::NodeCursor*> cursor_of(const ledger::NodeKey& node);
  static Beat empty_beat(const ledger::NodeKey& node, remote_write::Family family, UtcTime at);
  std::optional<DeviceSample> sample_of(const ledger::NodeCursor& cursor, const DeviceName& name,
                                        const Figures& figures, UtcTime at);
  Status append_beats(const BeatKey& key, const Devices& devices, std::vector<Beat>& beats);

  Core& core_;
  std::map<BeatKey, Devices> beats_;
  std::map<ledger::NodeKey, ledger::NodeCursor> cursors_;  ///< as they will stand after the beats so far
};

}  // namespace tidewatt::api
