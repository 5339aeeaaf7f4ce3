// How the devices of one source fare, over looks that leave out what has no news.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tidewatt/metering/reading.h"
#include "tidewatt/units/time.h"

namespace tidewatt::agent {

class DeviceStates {
 public:
  /// Takes one look. A device that it leaves out is as it was, for a while.
  void take(const std::vector<metering::Reading>& readings, SteadyTime now);

  /// "1 of 4 devices unknown: cpu_package 1: counter frozen at 5 uJ"; empty = the power of all is known.
  [[nodiscard]] std::string trouble() const;
  /// There are some, and the power of none is known.
  [[nodiscard]] bool none_is_known() const;
  /// Names of those whose power is unknown.
  [[nodiscard]] std::vector<std::string> unknown() const;

 private:
  struct State {
    std::string name;
    std::string reason;  ///< empty = known
    SteadyTime seen{};
  };
  std::map<std::string, State> states_;
};

}  // namespace tidewatt::agent
