// Intel xpu-smi / xpumcli. Covered: `stats` with one value or "avg: , min: , max: , current: " per tile (1.x,
// complete), `dump` CSV (1.x, complete), `config`, which prints limits only (1.x, complete), the default
// table of 2.x (complete), `stats -j` (no sample). Text of Kunlunxin's tool of
// the same name goes to that parser.
#include "tools/xpu_smi.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "tidewatt/units/text.h"
#include "tools/accelerators.h"
#include "tools/json_text.h"
#include "tools/label.h"
#include "tools/smi_like.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::string_view kXpuSmiName = "xpu-smi";

const SmiForms& forms() {
  static const SmiForms known{.box = {.tool = kXpuSmiName, .index_labels = {"GPU"}},
                              .csv = {.tool = kXpuSmiName,
                                      .index_labels = {"DeviceId", "Device ID", "index"},
                                      .part_label = "TileId",
                                      .query_options = {"--query-gpu=", "--query-gpu"}},
                              .expected = "the table of stats, dump CSV or the table of xpu-smi 2"};
  return known;
}

bool is_config(std::string_view text) {
  return contains(text, "Device ID/Tile ID") && contains(text, "Configuration");
}

bool is_stats(std::string_view text) {
  for (const auto line : lines_of(text)) {
    const auto cells = cells_of(trim(line), '|');
    if (cells.size() >= 3 && cells[1] == "Device ID") return true;
  }
  return false;
}

// A comma before a digit is part of a number, and no number that is understood here.
std::string_view up_to_comma(std::string_view text) {
  auto comma = text.find(',');
  while (comma != std::string_view::npos && comma + 1 < text.size() && text[comma + 1] >= '0' &&
         text[comma + 1] <= '9')
    comma = text.find(',', comma + 1);
  return trim(text.substr(0, comma));
}

// "avg: 41, min: 40, max: 45, current: 42": the current one; "43": itself.
Candidate candidate_in(std::string_view text, std::string_view unit) {
  const auto after = [&](std::string_view name) -> std::optional<std::string_view> {
    const auto at = text.find(name);
    if (at == std::string_view::npos) return std::nullopt;
    return up_to_comma(text.substr(at + name.size()));
  };
  if (const auto current = after("current:")) return {*current, false, unit};
  if (const auto average = after("avg:")) return {*average, true, unit};
  return {up_to_comma(text), false, unit};
}

struct Part {
  std::optional<std::int64_t> tile;
  std::string_view text;
  std::string_view unit = "W";
};

// "Tile 0: 44, Tile 1: 41, total: 85" cut before each name; a value without names is the device's.
std::vector<Part> parts_of(std::string_view value, std::string_view unit) {
  std::vector<std::size_t> starts;
  for (const std::string_view name : {"Tile ", "total:"})
    for (auto at = value.find(name); at != std::string_view::npos; at = value.find(name, at + 1))
      starts.push_back(at);
  if (starts.empty()) return {{std::nullopt, value, unit}};
  std::sort(starts.begin(), starts.end());
  std::vector<Part> parts;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto end = i + 1 < starts.size() ? starts[i + 1] : value.size();
    const auto part = value.substr(starts[i], end - starts[i]);
    const auto colon = part.find(':');
    if (colon == std::string_view::npos) continue;
    std::optional<std::int64_t> tile;
    if (part.starts_with("Tile ")) {
      tile = parse_int64(trim(part.substr(5, colon - 5)));
      if (!tile) continue;
    }
    parts.push_back({tile, part.substr(colon + 1), unit});
  }
  return parts;
}

// A whole device's value if there is one; a single tile is its device; several tiles have values of their
// own.
void add_parts(ToolReadings& readings, std::int64_t index, const std::vector<Part>& parts) {
  const auto add = [&](const Part& part, bool several) {
    ToolDevice device;
    device.index = index;
    if (several && part.tile) device.sub_index = ToolIndex{*part.tile};
    set_power(device, {candidate_in(part.text, part.unit)}, "tool_prints_nothing");
    readings.devices.push_back(std::move(device));
  };
  for (const auto& part : parts)
    if (!part.tile) return add(part, false);
  for (const auto& part : parts) add(part, parts.size() > 1);
}

Result<ToolReadings> parse_stats(std::string_view text) {
  const auto lines = lines_of(text);
  ToolReadings readings;
  std::optional<std::int64_t> index;
  std::vector<Part> parts;
  std::string_view unit;  // of the power's line; empty = another line
  std::string_view name;  // of the line that `parts` come from
  int rank = 0;           // its
  std::string rival;      // another line that names the draw as well
  const auto flush = [&] {
    if (!index) return;
    if (parts.empty() || !rival.empty()) {
      ToolDevice device;
      device.index = *index;
      device.reason = rival.empty() ? "no line GPU Power (W) for this device" : rival;
      readings.devices.push_back(std::move(device));
    } else {
      add_parts(readings, *index, parts);
    }
    parts.clear();
    rank = 0;
    rival.clear();
  };
  // The best line of a device counts, whichever comes first.
  const auto begin_line = [&](std::string_view printed_name) {
    const auto label = judge_label(printed_name);
    unit = {};
    if (label.draw_rank == 0 || label.unit.empty() || label.draw_rank < rank) return;
    if (label.draw_rank == rank) {
      rival =
          fmt::format("ambiguous: '{}' and '{}' both name the draw", quotable(name), quotable(printed_name));
      return;
    }
    parts.clear();
    rival.clear();
    rank = label.draw_rank;
    name = printed_name;
    unit = label.unit;
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto cells = cells_of(trim(lines[i]), '|');
    if (cells.size() != 4) {
      unit = {};
      continue;
    }
    if (cells[1] == "Device ID") {
      flush();
      index = parse_int64(cells[2]);
      if (!index || *index < 0)
        return layout_error(kXpuSmiName, i + 1, "a number behind Device ID", cells[2]);
      continue;
    }
    if (!cells[1].empty()) begin_line(cells[1]);
    if (unit.empty() || (cells[1].empty() && cells[2].empty())) continue;
    for (const auto& part : parts_of(cells[2], unit)) parts.push_back(part);
  }
  auto last = lines.size();
  while (last > 0 && trim(lines[last - 1]).empty()) --last;
  if (last > 0 && !trim(lines[last - 1]).starts_with('+'))
    return truncation_error(kXpuSmiName, text, "the rule that closes the table");
  flush();
  if (readings.devices.empty())
    return layout_error(kXpuSmiName, lines.size(), "a table with Device ID", lines.back());
  add_up(readings);
  if (is_open(text)) readings.total.reset();  // a table may follow
  return readings;
}

Result<ToolReadings> parse_config(std::string_view text) {
  const auto lines = lines_of(text);
  ToolReadings readings;
  bool in_device = false;
  for (const auto line : lines) {
    const auto cells = cells_of(trim(line), '|');
    if (cells.size() != 5) continue;
    if (!cells[2].empty()) {
      const auto number = parse_int64(cells[2]);  // "0/1" is a tile
      in_device = number && *number >= 0;
      if (in_device) {
        ToolDevice device;
        device.index = *number;
        device.reason = "no_power_reading_in_this_command";
        readings.devices.push_back(std::move(device));
      }
    }
    const auto colon = cells[3].find(':');
    if (in_device && colon != std::string_view::npos && lower(cells[3]).starts_with("power limit"))
      set_limit(readings.devices.back(), cells[3].substr(colon + 1));
  }
  if (readings.devices.empty())
    return layout_error(kXpuSmiName, lines.size(), "a row per device below Device ID/Tile ID",
                        trim(lines.back()));
  add_up(readings);
  return readings;
}

// {"metrics_type": "XPUM_STATS_POWER", "value": 44.1, "avg": ..., "min": ..., "max": ...}
std::optional<std::string> power_in(const nlohmann::json* list) {
  if (list == nullptr || !list->is_array()) return std::nullopt;
  for (const auto& metric : *list) {
    const auto* type = member(metric, "metrics_type");
    if (type == nullptr || printed(*type) != "XPUM_STATS_POWER") continue;
    const auto* value = member(metric, "value");
    return value == nullptr ? std::string{} : printed(*value);
  }
  return std::nullopt;
}

void add_json_device(ToolReadings& readings, const nlohmann::json& object) {
  const auto* id = member(object, "device_id");
  const auto index = id == nullptr ? std::nullopt : parse_int64(printed(*id));
  if (!index) return;
  ToolDevice device;
  device.index = *index;
  if (const auto power = power_in(member(object, "device_level"))) {
    set_power(device, {{*power}}, "tool_prints_nothing");
    readings.devices.push_back(std::move(device));
    return;
  }
  device.reason = "no metric XPUM_STATS_POWER for this device";
  const auto* tiles = member(object, "tile_level");
  std::size_t added = 0;
  if (tiles != nullptr && tiles->is_array())
    for (const auto& tile : *tiles) {
      const auto power = power_in(member(tile, "data_list"));
      if (!power) continue;
      ToolDevice part = device;
      const auto* number = member(tile, "tile_id");
      if (tiles->size() > 1 && number != nullptr)
        if (const auto parsed = parse_int64(printed(*number))) part.sub_index = ToolIndex{*parsed};
      set_power(part, {{*power}}, "tool_prints_nothing");
      readings.devices.push_back(std::move(part));
      ++added;
    }
  if (added == 0) readings.devices.push_back(std::move(device));
}

Result<ToolReadings> parse_json_stats(std::string_view text) {
  TW_TRY(const nlohmann::json root, json_in(kXpuSmiName, text));
  ToolReadings readings;
  if (root.is_array())
    for (const auto& object : root) add_json_device(readings, object);
  else
    add_json_device(readings, root);
  if (readings.devices.empty())
    return layout_error(kXpuSmiName, 1, "an object with device_id and device_level", text.substr(0, 40));
  add_up(readings);
  return readings;
}

}  // namespace

bool is_intel(std::string_view text) {
  return is_config(text) || is_stats(text) || has_json(text) || has_csv_header(forms().csv, text) ||
         contains(text, "Intel");
}

Result<ToolReadings> parse_intel_xpu_smi(std::string_view command, std::string_view text) {
  if (has_json(text)) return read_json_samples(text, parse_json_stats);
  if (is_config(text)) return parse_config(text);
  if (is_stats(text)) return parse_stats(text);
  return parse_smi_like(forms(), command, text);
}

Result<ToolReadings> parse_xpu_smi(std::string_view command, std::string_view text) {
  if (is_kunlunxin(text)) return parse_kunlunxin_xpu_smi(command, text);
  return parse_intel_xpu_smi(command, text);
}

}  // namespace tidewatt::metering::tools
