// Where a drawn table's header says that things stand.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "tools/box_table.h"
#include "tools/label.h"

namespace tidewatt::metering::tools {

struct BoxPlace {
  std::size_t line = 0, cell = 0, word = 0;
  std::size_t words = 0;  ///< in that header cell
};

struct BoxPowerPlace : BoxPlace {
  bool pair = false;  ///< usage and cap in one value
  Label label;
};

struct BoxLayout {
  BoxPlace index;
  BoxPowerPlace power;
  std::vector<BoxPowerPlace> rivals;  ///< places that name the draw as well as `power` does
  std::optional<BoxPowerPlace> limit;
  std::optional<BoxPlace> name, part, bus;
  std::optional<BoxPlace> second;  ///< another column of numbers of devices: Card, Chip
  std::vector<std::size_t> cells;  ///< cells of each header line
  bool has_index = false, has_power = false;
};

/// What the lines of a header name. Of the columns that name a draw the best one, and those as good beside
/// it.
BoxLayout box_layout_of(const BoxTable& table, const std::vector<std::string_view>& header);

}  // namespace tidewatt::metering::tools
