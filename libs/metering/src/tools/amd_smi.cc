// AMD amd-smi. Covered: `metric -p` as text and JSON (ROCm 6, complete; older key names and the "gpu_data"
// list of ROCm 7 adapted), `static --limit`, where SOCKET_POWER is the limit (complete), the CPU metrics
// table and POWER_METRICS (complete / adapted), the default table of ROCm 7 and `monitor` with and without
// PWR_CAP (adapted), CSV of metric, static and monitor (no sample). UBB_POWER is a whole baseboard and never
// taken.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tidewatt/metering/beat.h"
#include "tidewatt/units/text.h"
#include "tools/accelerators.h"
#include "tools/column_table.h"
#include "tools/json_text.h"
#include "tools/label.h"
#include "tools/smi_like.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::string_view kAmdSmiName = "amd-smi";
constexpr std::string_view kCpuTable = "METRICS_TABLE:";

std::optional<DeviceHeading> heading(std::string_view line, std::size_t) {
  if (line == kCpuTable) return DeviceHeading{{}, true};
  // "GPU: 0 PARTITION: ..." doesn't occur; a value behind the number makes it a field.
  for (const std::string_view word : {"GPU", "CPU"})
    if (line.starts_with(word) && line.size() > 3 && line[3] == ':') {
      auto found = device_heading(line, word);
      if (found) found->socket = word == "CPU";
      return found;
    }
  return std::nullopt;
}

// A socket is no card: CPU 0 isn't GPU 0.
void make_socket(ToolDevice& device) {
  device.domain = kDomainCpuPackage;
  if (const auto* number = std::get_if<std::int64_t>(&device.index); number != nullptr && device.name.empty())
    device.name = "socket " + std::to_string(*number);
}

// Whether a socket contains the cards (an APU) or stands beside them isn't said: no total of both.
void drop_mixed_total(ToolReadings& readings) {
  bool sockets = false;
  bool cards = false;
  for (const auto& device : readings.devices) (device.domain.empty() ? cards : sockets) = true;
  if (sockets && cards) readings.total.reset();
}

void read_limits(ToolDevice& device, const nlohmann::json& limits) {
  if (!limits.is_object()) return;
  for (const std::string_view name : {"socket_power", "socket_power_limit", "power_limit"})
    if (const auto* value = member(limits, name); value != nullptr && !device.power_limit)
      set_limit(device, printed(*value));
  for (const auto& [key, value] : limits.items())  // "ppt0": {...}
    if (value.is_object() && member(value, "value") == nullptr && !device.power_limit)
      read_limits(device, value);
}

// The draw's names, instantaneous first. In JSON of old releases watts are plain numbers.
constexpr std::string_view kDraws[] = {"current_socket_power", "socket_power",         "current_power",
                                       "power_usage",          "average_socket_power", "socket power"};

void collect_draws(const nlohmann::json& object, std::vector<std::pair<std::string, bool>>& draws) {
  for (const auto name : kDraws)
    if (const auto* value = member(object, name))
      draws.emplace_back(printed(*value), name.starts_with("average"));
}

ToolDevice device_of(const nlohmann::json& object, std::int64_t index) {
  ToolDevice device;
  device.index = index;
  std::vector<std::pair<std::string, bool>> draws;
  if (const auto* limits = member(object, "limit")) read_limits(device, *limits);
  for (const std::string_view section : {"power", "power_metrics"}) {
    const auto* power = member(object, section);
    if (power == nullptr) continue;
    if (power->is_object()) {
      collect_draws(*power, draws);
      for (const std::string_view name : {"power_limit", "socket power limit"})
        if (const auto* limit = member(*power, name); limit != nullptr && !device.power_limit)
          set_limit(device, printed(*limit));
    }
    if (!power->is_object() || member(*power, "value") != nullptr) draws.emplace_back(printed(*power), false);
  }
  collect_draws(object, draws);
  if (const auto* cap = member(object, "power_cap"); cap != nullptr && !device.power_limit)
    set_limit(device, printed(*cap));
  std::vector<Candidate> candidates;
  for (const auto& [text, averaged] : draws) candidates.push_back({text, averaged, "W"});
  set_power(device, candidates, "no_power_reading_in_this_command");
  return device;
}

Result<ToolReadings> parse_amd_smi_json(std::string_view text) {
  TW_TRY(const nlohmann::json root, json_in(kAmdSmiName, text));
  ToolReadings readings;
  bool any = false;
  const auto add_list = [&](const nlohmann::json& list) {
    for (const auto& object : list)
      for (const std::string_view name : {"gpu", "cpu"}) {
        const auto* id = member(object, name);
        const auto index = id == nullptr || id->is_structured() ? std::nullopt : parse_int64(printed(*id));
        if (!index || *index < 0) continue;
        auto device = device_of(object, *index);
        for (const std::string_view part : {"power", "power_metrics", "power_usage", "socket_power", "limit"})
          any = any || member(object, part) != nullptr;
        if (name == "cpu") make_socket(device);
        readings.devices.push_back(std::move(device));
        break;
      }
  };
  if (root.is_array()) add_list(root);
  for (const std::string_view name : {"gpu_data", "cpu_data"})
    if (const auto* list = member(root, name); list != nullptr && list->is_array()) add_list(*list);
  if (root.is_object() && member(root, "gpu") != nullptr) add_list(nlohmann::json::array({root}));
  if (!any) return layout_error(kAmdSmiName, 1, "objects with gpu and power or limit", text.substr(0, 40));
  add_up(readings);
  drop_mixed_total(readings);
  return readings;
}

// `static` prints no draws, with or without --limit.
bool asks_for_limits(std::string_view command) {
  const auto words = words_of(command);
  return std::any_of(words.begin(), words.end(), [](std::string_view word) {
    return word == "static" || word == "--limit" || word == "-l";
  });
}

}  // namespace

Result<ToolReadings> parse_amd_smi(std::string_view command, std::string_view text) {
  static const BoxTable table{.tool = kAmdSmiName, .index_labels = {"GPU"}, .unit_shared = true};
  static const ColumnTable monitor{.tool = kAmdSmiName, .index_labels = {"GPU"}, .part_label = "XCP"};
  static const CsvTable csv{.tool = kAmdSmiName,
                            .index_labels = {"gpu", "cpu"},
                            .part_label = "xcp",
                            .limit_among_limits = "socket_power"};
  if (has_json(text)) return read_json_samples(text, parse_amd_smi_json);
  if (has_box_header(table, text)) return parse_box_table(table, text);
  if (has_csv_header(csv, text)) return parse_csv_table(csv, command, text);
  if (!blocks_of(text, heading).empty()) {
    const PowerRules rules{.limits_as_draws = asks_for_limits(command) ? LimitsAsDraws::always
                                                                       : LimitsAsDraws::beside_limits};
    auto readings = parse_sections(kAmdSmiName, text, heading, rules);
    if (!readings) return readings;
    for (auto& device : readings->devices)
      if (!device.domain.empty()) make_socket(device);
    drop_mixed_total(*readings);
    return readings;
  }
  if (has_column_header(monitor, text)) return parse_column_table(monitor, text);
  return unknown_form(kAmdSmiName, text, "metric, static or monitor output as text, JSON or CSV");
}

}  // namespace tidewatt::metering::tools
