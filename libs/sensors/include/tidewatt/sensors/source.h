// A source turns one look at the hardware into readings. One file per source.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/metering/reading.h"

namespace tidewatt::sensors {

using metering::Reading;

/// Not thread-safe: one thread reads a source. A device that fails doesn't take its neighbours along: it is
/// there, without power and with a reason. A device without news since the last look (a counter that has not
/// moved yet) may be left out.
class Source {
 public:
  virtual ~Source() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// @error when the source as a whole could not be read this time; its devices are then unknown
  virtual Result<std::vector<Reading>> read() = 0;
  /// What a person should know of the last look and what is no fault: parts left out, and why.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
};

/// For `tidewatt power detect` and the settings page.
struct Detection {
  std::string source;  ///< "nvml", "rapl", ...
  bool usable = false;
  std::string summary;     ///< "2 packages, dram" or why not, in words a person can act on
  bool forbidden = false;  ///< it is there, but this user may not read it
  bool broken = false;     ///< it is there, but fails or doesn't answer
  int unknown = 0;         ///< devices of it that can't be read; those asleep aren't counted
  std::string todo{};      ///< what to do about it; empty = nothing known, or nothing to do
  std::vector<std::string> devices;
  std::vector<std::string> notes{};  ///< what was left out, and why; no fault
};

}  // namespace tidewatt::sensors
