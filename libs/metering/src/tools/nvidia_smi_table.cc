// The default table: a header of two or three lines, then one block of lines per GPU.
#include <algorithm>
#include <optional>

#include "tidewatt/units/text.h"
#include "tools/nvidia_smi.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::string_view kTool = "nvidia-smi";
constexpr std::string_view kPower = "Pwr:Usage/Cap";

// Where the header says the values are: line within a block, cell within the line.
struct Layout {
  std::size_t index_line = 0, index_cell = 0;
  std::size_t power_line = 0, power_cell = 0;
  std::size_t cells_at_power = 0;
};

std::optional<Layout> layout_of(const std::vector<std::string_view>& header) {
  Layout layout;
  bool has_index = false;
  bool has_power = false;
  for (std::size_t line = 0; line < header.size(); ++line) {
    const auto cells = cells_of(header[line], '|');
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
      const auto words = words_of(cells[cell]);
      if (words.size() >= 2 && words[0] == "GPU" && words[1] == "Name") {
        layout.index_line = line;
        layout.index_cell = cell;
        has_index = true;
      }
      if (contains(cells[cell], kPower)) {
        layout.power_line = line;
        layout.power_cell = cell;
        layout.cells_at_power = cells.size();
        has_power = true;
      }
    }
  }
  if (!has_index || !has_power) return std::nullopt;
  return layout;
}

// "N/A   34C    P0    36W / 250W": usage and cap stand around the last slash that is a word or glued to
// watts.
void read_power_cell(ToolDevice& device, std::string_view cell) {
  auto slash = cell.rfind(" / ");
  std::size_t width = 3;
  if (slash == std::string_view::npos) {
    slash = cell.rfind("W/");
    if (slash != std::string_view::npos) ++slash;
    width = 1;
  }
  if (slash == std::string_view::npos) {
    device.reason = "no usage/cap pair in the power cell";
    return;
  }
  set_limit(device, cell.substr(slash + width), "");
  const auto words = words_of(cell.substr(0, slash));
  std::string_view unit;  // the table always prints it: "41" of "412W" was cut off
  auto usage = words.empty() ? std::string_view{} : words.back();
  // "36 W / 250 W" would leave a bare unit.
  if (usage == "W" && words.size() > 1) {
    unit = usage;
    usage = words[words.size() - 2];
  }
  if (usage == "Error" && words.size() > 1 && words[words.size() - 2] == "Unknown") usage = "Unknown Error";
  set_power(device, {{usage, false, unit}}, "tool_prints_nothing");
}

ToolDevice read_block(const Layout& layout, const std::vector<std::string_view>& block, std::int64_t index) {
  ToolDevice device;
  device.index = index;
  const auto name_words = words_of(cells_of(block[layout.index_line], '|')[layout.index_cell]);
  for (std::size_t i = 1; i + 1 < name_words.size(); ++i)
    device.name += (device.name.empty() ? "" : " ") + std::string{name_words[i]};
  if (block.size() <= layout.power_line) {
    device.reason = "truncated: the line with usage and cap is missing";
    return device;
  }
  const auto cells = cells_of(block[layout.power_line], '|');
  if (cells.size() != layout.cells_at_power) {
    device.reason = "garbled: the power line has other cells than its header";
    return device;
  }
  read_power_cell(device, cells[layout.power_cell]);
  return device;
}

}  // namespace

Result<ToolReadings> parse_nvidia_table(std::string_view text) {
  const auto lines = lines_of(text);
  std::size_t header_begin = 0;
  for (std::size_t i = 0; i < lines.size() && header_begin == 0; ++i)
    if (contains(lines[i], kPower)) header_begin = i;
  // The header reaches from the last rule above to the rule of '=' below.
  std::size_t begin = header_begin;
  while (begin > 0 && lines[begin - 1].starts_with('|') && !lines[begin - 1].starts_with("|-")) --begin;
  std::vector<std::string_view> header;
  std::size_t i = begin;
  for (; i < lines.size() && !lines[i].starts_with("|="); ++i) header.push_back(lines[i]);
  const auto layout = layout_of(header);
  if (!layout)
    return layout_error(kTool, header_begin + 1, "a header with 'GPU  Name' and 'Pwr:Usage/Cap'",
                        lines[header_begin]);
  if (i == lines.size())
    return layout_error(kTool, lines.size(), "rows below the table's header", lines.back());

  ToolReadings readings;
  std::vector<std::string_view> block;
  const auto flush = [&]() -> Status {
    if (block.empty()) return {};
    const auto cells = block.size() > layout->index_line ? cells_of(block[layout->index_line], '|')
                                                         : std::vector<std::string_view>{};
    const auto words = cells.size() > layout->index_cell ? words_of(cells[layout->index_cell]) : cells;
    const auto index = words.empty() ? std::nullopt : parse_int64(words[0]);
    if (!index || *index < 0)
      return layout_error(kTool, i + 1, "a GPU's number at the start of its rows", block[0]);
    readings.devices.push_back(read_block(*layout, block, *index));
    block.clear();
    return {};
  };
  for (++i; i < lines.size(); ++i) {
    const auto line = trim(lines[i]);
    if (line.starts_with('|') && !line.starts_with("|-")) {
      block.push_back(line);
      continue;
    }
    TW_TRY_STATUS(flush());
    if (!line.starts_with('+') && !line.starts_with("|-"))
      break;  // the table ends; MIG and process tables follow
  }
  TW_TRY_STATUS(flush());
  if (readings.devices.empty())
    return layout_error(kTool, lines.size(), "rows below the table's header", lines.back());
  add_up(readings);
  return readings;
}

}  // namespace tidewatt::metering::tools
