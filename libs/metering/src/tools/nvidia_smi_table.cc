// The default table: a header of two or three lines, then one block of lines per GPU. MIG and process tables
// follow it and aren't read: MIG instances have no power of their own.
#include "tools/box_table.h"
#include "tools/nvidia_smi.h"

namespace tidewatt::metering::tools {

Result<ToolReadings> parse_nvidia_table(std::string_view text) {
  static const BoxTable table{.tool = "nvidia-smi", .index_labels = {"GPU"}};
  return parse_box_table(table, text);
}

}  // namespace tidewatt::metering::tools
