// Factors of zones and years, beside the one in force: a year's factor ends with the year.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "tidewatt/base/result.h"
#include "tidewatt/carbon/factor.h"

namespace tidewatt::carbon {

class FactorTable {
 public:
  /// Adds one entry: "DE 2025 0.363 co2 average direct: UBA 2026, table 3". Gas (co2e), kind (average) and
  /// boundary (unknown) may be left out; the source may not.
  /// @error invalid_input  it can't be read, its value can't be a factor, or zone and year are there already
  Status add(std::string_view entry);

  /// nullptr: there is no entry of that zone and year.
  [[nodiscard]] const Factor* find(const std::string& zone, int year) const;
  /// True: the general factor isn't meant for this zone, in no year.
  [[nodiscard]] bool names(const std::string& zone) const { return zones_.contains(zone); }
  [[nodiscard]] bool empty() const { return zones_.empty(); }

 private:
  std::map<std::string, std::map<int, Factor>> zones_;
};

}  // namespace tidewatt::carbon
