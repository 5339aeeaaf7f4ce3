// `nvidia-smi dmon`: two '#' lines name columns and units, then one row per GPU and sample; the last sample
// counts.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tidewatt/units/text.h"
#include "tools/nvidia_smi.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {

namespace {

// Blanks between the values, or commas (--format csv).
std::vector<std::string_view> row_of(std::string_view line) {
  return contains(line, ",") ? cells_of(line, ',') : words_of(line);
}

}  // namespace

Result<ToolReadings> parse_nvidia_dmon(std::string_view text) {
  const auto lines = lines_of(text);
  std::vector<std::string_view> names;
  std::vector<std::string_view> units;
  std::map<std::int64_t, ToolDevice> latest;
  std::optional<std::size_t> gpu_column;
  std::optional<std::size_t> power_column;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto line = trim(lines[i]);
    if (line.empty()) continue;
    if (line.starts_with('#')) {
      const auto words = row_of(line.substr(1));
      gpu_column.reset();
      power_column.reset();
      const bool has_names = std::find(words.begin(), words.end(), "gpu") != words.end();
      (has_names ? names : units) = words;
      for (std::size_t c = 0; c < names.size(); ++c) {
        if (names[c] == "gpu") gpu_column = c;
        if (names[c] == "pwr") power_column = c;
      }
      continue;
    }
    if (!gpu_column || !power_column)
      return layout_error("nvidia-smi dmon", i + 1, "a '#' header that names gpu and pwr",
                          names.empty() ? line : lines[0]);
    const auto words = row_of(line);
    const auto gpu = words.size() > *gpu_column ? parse_int64(words[*gpu_column]) : std::nullopt;
    if (!gpu || *gpu < 0) return layout_error("nvidia-smi dmon", i + 1, "a GPU's number in column gpu", line);
    ToolDevice device;
    device.index = *gpu;
    const bool open = i + 1 == lines.size() && is_open(text);
    if (open && latest.contains(*gpu)) continue;  // cut off: the sample before it stands
    if (open) {
      device.reason = fmt::format("{}: line {} has no line end", kTruncated, i + 1);
    } else if (words.size() != names.size()) {
      device.reason = fmt::format("garbled: line {} has {} cells, the header names {}", i + 1, words.size(),
                                  names.size());
    } else {
      const auto unit = units.size() == names.size() ? units[*power_column] : std::string_view{"W"};
      set_power(device, {{words[*power_column], false, unit}}, "tool_prints_nothing");
    }
    latest.insert_or_assign(*gpu, std::move(device));
  }
  if (latest.empty())
    return layout_error("nvidia-smi dmon", lines.size(), "a row per GPU below the '#' header",
                        lines.empty() ? "" : lines.back());
  ToolReadings readings;
  for (auto& [gpu, device] : latest) readings.devices.push_back(std::move(device));
  add_up(readings);
  if (is_open(text)) readings.total.reset();
  return readings;
}

}  // namespace tidewatt::metering::tools
