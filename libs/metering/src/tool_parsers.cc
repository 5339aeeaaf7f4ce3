#include "tidewatt/metering/tool_parsers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/accelerators.h"
#include "tools/banners.h"
#include "tools/input.h"
#include "tools/node_tools.h"
#include "tools/nvidia_smi.h"
#include "tools/samples.h"
#include "tools/text.h"

namespace tidewatt::metering {
namespace {

using State = CoverageState;

struct Form {
  std::string_view form;
  State state;
  std::string_view note = {};
};

struct Tool {
  std::string_view name;
  Result<ToolReadings> (*parse)(std::string_view command, std::string_view text);
  std::string_view vendor = {};
  std::vector<Form> forms = {};
};

// No node has more cards, rails and sensors than this; a list of more is damage or something else.
constexpr std::size_t kMaxDevices = 4096;

constexpr auto kComplete = State::complete;
constexpr auto kAdapted = State::adapted;
constexpr auto kNoSample = State::no_sample;

// Sorted by name. One entry per tool, one line per form.
const std::vector<Tool>& registry() {
  static const std::vector<Tool> all{
      {"amd-smi",
       tools::parse_amd_smi,
       "AMD",
       {{"metric text and JSON", kComplete, "older key names and the gpu_data list adapted"},
        {"static --limit", kComplete, "limits only"},
        {"CPU metrics table", kComplete},
        {"CPU POWER_METRICS", kAdapted},
        {"default table, monitor", kAdapted},
        {"CSV", kNoSample}}},
      {"brsmi",
       tools::parse_brsmi,
       "Biren",
       {{"default table", kComplete}, {"query text and CSV", kNoSample}}},
      {"cnmon",
       tools::parse_cnmon,
       "Cambricon",
       {{"default table 5.x", kComplete},
        {"default table 4.x", kNoSample},
        {"info, XML", kNoSample, "unknown layout"}}},
      {"efsmi", tools::parse_efsmi, "Enflame", {{"default table", kComplete}, {"-q", kComplete}}},
      {"gc-info",
       tools::parse_gc_info,
       "Graphcore",
       {{"-i", kComplete, "ipu power is N/A on C600, M2000 and virtual IPUs"},
        {"gc-monitor", kNoSample, "unknown layout"}}},
      {"generic",
       tools::parse_generic,
       "any",
       {{"tables, CSV, key : value", kAdapted, "names decide: a limit is never the draw"}}},
      {"hl-smi",
       tools::parse_hl_smi,
       "Habana",
       {{"default table", kComplete}, {"-Q CSV", kAdapted}, {"-q", kNoSample}}},
      {"hwmon", tools::parse_hwmon_tree, "any", {{"sysfs listing", kComplete}}},
      {"hy-smi",
       tools::parse_hy_smi,
       "Hygon",
       {{"concise table", kComplete}, {"--showpower JSON", kAdapted}, {"--showpower text, CSV", kNoSample}}},
      {"ipmi",
       tools::parse_ipmi,
       "any BMC",
       {{"ipmitool dcmi, sdr, sensor", kComplete, "sdr get and -c adapted"},
        {"ipmi-dcmi, ipmiutil dcmi", kComplete},
        {"ipmi-sensors, ipmiutil sensor", kAdapted},
        {"capmc", kComplete, "an average over a window only"}}},
      {"ixsmi",
       tools::parse_ixsmi,
       "Iluvatar",
       {{"default table", kComplete, "two-chip cards report on one chip"},
        {"CSV", kAdapted},
        {"-q", kNoSample}}},
      {"kunlunxin-xpu-smi",
       tools::parse_kunlunxin_xpu_smi,
       "Kunlunxin",
       {{"table of XRE 5", kComplete},
        {"DEVICES table of XRE 4", kComplete, "some have no power column"},
        {"-q", kNoSample},
        {"-m", kNoSample, "unknown layout: a list without names"}}},
      {"mthreads-gmi",
       tools::parse_mthreads_gmi,
       "Moore Threads",
       {{"default table", kComplete, "prints no power"}, {"-q and JSON", kAdapted}}},
      {"mx-smi",
       tools::parse_mx_smi,
       "MetaX",
       {{"default table", kComplete}, {"--show-board-power, -j", kNoSample, "unknown layout"}}},
      {"npu-smi",
       tools::parse_npu_smi,
       "Huawei",
       {{"info", kComplete, "A3: the card's value stands on die 0"},
        {"info -t power, -t common", kComplete},
        {"info -t of the 950", kAdapted}}},
      {"nvidia-smi",
       tools::parse_nvidia_smi,
       "NVIDIA",
       {{"default table", kComplete},
        {"-q text and XML", kComplete},
        {"CSV", kComplete},
        {"dmon", kComplete}}},
      {"pdu",
       tools::parse_pdu,
       "any PDU",
       {{"snmpwalk of APC rPDU2", kComplete},
        {"snmpwalk of APC rPDU, Server Technology, Eaton, Raritan", kAdapted}}},
      {"powermetrics",
       tools::parse_powermetrics,
       "Apple",
       {{"text", kComplete, "Intel Macs adapted"}, {"plist", kAdapted}}},
      {"rapl",
       tools::parse_rapl_tree,
       "Intel, AMD",
       {{"powercap listing", kComplete, "a counter: power needs two reads"}}},
      {"redfish",
       tools::parse_redfish,
       "any BMC",
       {{"Power, EnvironmentMetrics, PowerSupplyMetrics", kComplete}, {"Sensor and collections", kAdapted}}},
      {"rocm-smi",
       tools::parse_rocm_smi,
       "AMD",
       {{"concise table", kComplete}, {"JSON", kComplete}, {"--showpower text and CSV", kNoSample}}},
      {"sensors", tools::parse_sensors, "any", {{"text and -u", kComplete}, {"-j", kAdapted}}},
      {"tegrastats", tools::parse_tegrastats, "NVIDIA", {{"rails of Jetson boards", kComplete}}},
      {"tt-smi",
       tools::parse_tt_smi,
       "Tenstorrent",
       {{"-s", kComplete, "the chip's power, not the board's"}}},
      {"xpu-smi",
       tools::parse_xpu_smi,
       "Intel",
       {{"stats", kComplete},
        {"dump CSV", kComplete},
        {"config", kComplete, "limits only"},
        {"table of 2.x", kComplete},
        {"stats -j", kNoSample}}},
  };
  return all;
}

// The agent's own ways to the devices of a tool: the vendor's library first. A tool that isn't here is parsed
// on request only.
constexpr auto kAgentSources = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"amd-smi", "amdsmi, tool:amd-smi"},
    {"brsmi", "tool:brsmi"},
    {"cnmon", "cndev, tool:cnmon"},
    {"efsmi", "efml, tool:efsmi"},
    {"hl-smi", "hlml, tool:hl-smi"},
    {"hwmon", "hwmon"},
    {"hy-smi", "hygon-smi-lib, tool:hy-smi"},
    {"ipmi", "ipmi"},
    {"ixsmi", "tool:ixsmi"},
    {"kunlunxin-xpu-smi", "xpuml, tool:kunlunxin-xpu-smi"},
    {"mthreads-gmi", "mtml, tool:mthreads-gmi"},
    {"mx-smi", "mxsml, tool:mx-smi"},
    {"npu-smi", "dcmi, tool:npu-smi"},
    {"nvidia-smi", "nvml, tool:nvidia-smi"},
    {"pdu", "snmp"},
    {"rapl", "rapl"},
    {"redfish", "redfish"},
    {"rocm-smi", "rocm-smi-lib, tool:rocm-smi"},
    {"tt-smi", "tool:tt-smi"},
    {"xpu-smi", "level-zero, tool:xpu-smi"},
});

std::string agent_sources_of(std::string_view tool) {
  const auto* const found = std::find_if(kAgentSources.begin(), kAgentSources.end(),
                                         [&](const auto& entry) { return entry.first == tool; });
  return found == kAgentSources.end() ? std::string{} : std::string{found->second};
}

// Tools that were looked at and print no watts.
constexpr std::array kWithoutChannel{
    std::array<std::string_view, 3>{"AWS", "neuron-monitor, neuron-top",
                                    "no channel: percent of an unknown maximum only"},
    std::array<std::string_view, 3>{"Google", "tpu-info", "no channel"},
    std::array<std::string_view, 3>{"Rockchip", "rknpu load", "no channel: load and voltage only"},
};

nlohmann::ordered_json json_of(const ToolIndex& index) {
  if (const auto* number = std::get_if<std::int64_t>(&index)) return *number;
  return std::get<std::string>(index);
}

nlohmann::ordered_json json_of(const std::optional<Watts>& power) {
  if (!power) return nullptr;
  // Sums of decimal fractions are off in the last digit: no tool prints less than a microwatt.
  constexpr double kMicrowattsPerWatt = 1e6;
  return std::round(power->value() * kMicrowattsPerWatt) / kMicrowattsPerWatt;
}

/// One card told twice (a tool in a loop, two outputs in one file) is one, as told last. Sensors that are
/// named, not numbered, may share a name.
void drop_repeats(ToolReadings& readings) {
  std::vector<ToolDevice> kept;
  tools::DevicePlaces places;
  for (auto& device : readings.devices) {
    const auto before = places.find(kept, device);
    if (before == tools::DevicePlaces::npos) {
      places.add(device, kept.size());
      kept.push_back(std::move(device));
    } else {
      const auto index = kept[before].index;
      kept[before] = std::move(device);
      kept[before].index = index;
    }
  }
  const bool repeated = kept.size() != readings.devices.size();
  readings.devices = std::move(kept);
  if (!repeated) return;
  if (readings.total) return tools::add_up(readings);
  readings.unknown_devices = 0;
  for (const auto& device : readings.devices)
    readings.unknown_devices += device.power || device.reason.starts_with(tools::kCountedOnSibling) ? 0 : 1;
}

}  // namespace

std::vector<std::string_view> known_tools() {
  std::vector<std::string_view> names;
  for (const auto& tool : registry()) names.push_back(tool.name);
  return names;
}

std::string_view to_string(CoverageState state) {
  switch (state) {
    case CoverageState::complete:
      return "complete";
    case CoverageState::adapted:
      return "adapted";
    case CoverageState::no_sample:
      break;
  }
  return "no sample";
}

std::vector<ToolCoverage> tool_coverage() {
  std::vector<ToolCoverage> rows;
  for (const auto& tool : registry())
    for (const auto& form : tool.forms)
      rows.push_back({std::string{tool.vendor}, std::string{tool.name}, std::string{form.form}, form.state,
                      agent_sources_of(tool.name), std::string{form.note}});
  for (const auto& [vendor, tool, why] : kWithoutChannel)
    rows.push_back(
        {std::string{vendor}, std::string{tool}, "-", CoverageState::no_sample, {}, std::string{why}});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ToolCoverage& a, const ToolCoverage& b) { return a.vendor < b.vendor; });
  return rows;
}

Result<ToolReadings> parse_tool(std::string_view tool, std::string_view command, std::string_view text) {
  for (const auto& known : registry()) {
    if (known.name != tool) continue;
    TW_TRY(const std::string plain, tools::normalised(tool, text));
    TW_TRY_STATUS(tools::own_output(tool, plain));
    TW_TRY(auto readings, known.parse(command, plain));
    drop_repeats(readings);
    if (readings.devices.size() > kMaxDevices)
      return fail(ErrorCode::invalid_input,
                  fmt::format("{}: {} devices, more than the {} that one node may have", tool,
                              readings.devices.size(), kMaxDevices),
                  "parse the output of one node at a time; until then these devices are unknown");
    return readings;
  }
  return fail(ErrorCode::invalid_input, fmt::format("no parser for the tool '{}'", tool),
              fmt::format("known tools: {}", fmt::join(known_tools(), ", ")));
}

std::string to_json(const ToolReadings& readings) {
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();
  for (const auto& device : readings.devices) {
    nlohmann::ordered_json out;
    out["index"] = json_of(device.index);
    if (device.sub_index) out["sub_index"] = json_of(*device.sub_index);
    if (!device.name.empty()) out["name"] = device.name;
    if (!device.uuid.empty()) out["uuid"] = device.uuid;
    if (!device.domain.empty()) out["domain"] = device.domain;
    out["power_watts"] = json_of(device.power);
    if (device.averaged) out["averaged"] = true;
    if (device.average) out["average_watts"] = json_of(device.average);
    out["power_limit_watts"] = json_of(device.power_limit);
    out["reason"] = device.reason.empty() ? nlohmann::ordered_json{} : nlohmann::ordered_json(device.reason);
    devices.push_back(std::move(out));
  }
  nlohmann::ordered_json out;
  out["devices"] = std::move(devices);
  out["total_power_watts"] = json_of(readings.total);
  if (readings.unknown_devices > 0) out["unknown_devices"] = readings.unknown_devices;
  // Names come from foreign text: bytes that are no UTF-8 are replaced, not thrown over.
  return out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace tidewatt::metering
