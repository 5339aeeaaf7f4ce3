// From readings over time to the device samples of one beat: time-weighted means over what was really
// sampled.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/metering/beat.h"
#include "tidewatt/metering/reading.h"
#include "tidewatt/units/exact.h"
#include "tidewatt/units/time.h"

namespace tidewatt::metering {

/// Collects readings and hands over one DeviceSample per device and beat.
/// - A known power holds since the previous reading of that device, at most `max_hold` (or its own
/// `hold`): a stall isn't covered.
/// - An unknown reading covers nothing and ends the previous one's claim; the first known one after it covers
/// nothing before it, unless a counter says so.
/// - No known power in the interval: power, instant, min and max are absent, `reason` says why, the device
/// stays listed.
/// - Sums are integer mW x ms, so nothing drifts; the mean leaves as an unrounded quotient.
/// - A device is its uuid within its domain, else (domain, index): one that moves to another index stays the
/// same. What another source says of a slot without that uuid is of the device in the slot.
/// - A device unseen for `forget_after` is dropped, unless its source keeps failing.
/// Not thread-safe.
class IntervalAccumulator {
 public:
  struct Options {
    Milliseconds max_hold{3'000};  ///< usually 3 x the sampling period
    Milliseconds forget_after{3'600'000};
  };

  explicit IntervalAccumulator(Options options) : options_(options) {}

  /// Takes one round of a source. Readings older than the device's last one are ignored.
  void add(const std::vector<Reading>& readings);
  void add(const Reading& reading);
  /// The source as a whole could not be read: its devices are unknown at `at`.
  void add_failure(std::string_view source, SteadyTime at, const std::string& reason);

  /// The samples of the interval that ends now, in the order gpu, CPU rails, others, each by index; a new
  /// interval begins. Time between the last reading and now belongs to the next interval.
  std::vector<DeviceSample> finish(SteadyTime now);

  /// Readings ignored because they were older than what was known.
  [[nodiscard]] std::uint64_t ignored() const { return ignored_; }

 private:
  struct Track {
    Reading last;
    SteadyTime seen_at{};      ///< last time the source spoke about it
    WideMicrojoules energy{};  ///< sum of mW x ms = uJ
    Milliseconds covered{0};
    std::optional<Milliwatts> min, max;  ///< also of readings that cover nothing
    std::optional<Watts> latest_known;
    bool seen = false;    ///< in this interval
    bool fresh = false;   ///< last reading of this interval is known
    bool outage = false;  ///< the last reading was unknown: what follows reaches back over nothing
  };
  Track& track_of(const Reading& reading, bool& is_new);
  void begin(Track& track);
  [[nodiscard]] DeviceSample sample_of(const Track& track) const;

  Options options_;
  std::map<std::string, Track, std::less<>> tracks_;
  std::uint64_t ignored_ = 0;
};

}  // namespace tidewatt::metering
