// Where the sources' readings meet: means for the next beat, latest values for /metrics.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tidewatt/metering/interval.h"
#include "tidewatt/metering/reading.h"

namespace tidewatt::agent {

/// The latest of one device, for display.
struct DeviceNow {
  metering::Reading reading;  ///< power and counter absent when they are too old
};

/// Thread-safe.
class Collector {
 public:
  struct Options {
    Milliseconds max_hold{3'000};          ///< a reading stands for at most so long
    Milliseconds forget_after{3'600'000};  ///< a device that nobody spoke of for so long is gone
  };
  explicit Collector(Options options)
      : options_(options), interval_({.max_hold = options.max_hold, .forget_after = options.forget_after}) {}

  /// @param source  who read: a name of ours, may deliver under several Reading::source
  void add(const std::string& source, const std::vector<metering::Reading>& readings, SteadyTime now);
  /// The devices that this source delivered so far are unknown from now on.
  void fail(const std::string& source, SteadyTime now, const std::string& reason);
  /// The samples for the beat that ends now.
  std::vector<DeviceSample> finish(SteadyTime now);

  [[nodiscard]] std::vector<DeviceNow> latest(SteadyTime now) const;
  /// When a source was last read with success. nullopt = never.
  [[nodiscard]] std::optional<SteadyTime> last_read() const;
  /// When a value last differed from the one before: a frozen sensor doesn't count as fresh.
  [[nodiscard]] std::optional<SteadyTime> last_change() const;

 private:
  Options options_;
  mutable std::mutex mutex_;
  metering::IntervalAccumulator interval_;
  std::map<std::string, metering::Reading, std::less<>> latest_;
  std::map<std::string, std::set<std::string>, std::less<>> delivered_as_;
  std::optional<SteadyTime> last_read_;
  std::optional<SteadyTime> last_change_;
};

}  // namespace tidewatt::agent
