// `nvidia-smi -q` as text and as XML. Power elements were renamed several times and the dtd's name doesn't
// tell: known names are tried in order of preference inside the GPU's own power block. Memory and module
// blocks are parts and wholes of other things and are left alone.
#include <fmt/format.h>

#include <pugixml.hpp>

#include <algorithm>
#include <map>

#include "tidewatt/units/text.h"
#include "tools/nvidia_smi.h"
#include "tools/samples.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::string_view kNvidiaSmiQueryName = "nvidia-smi";
// These forms always print the unit: a number without one was cut off.
constexpr std::string_view kUnitPrinted = "";

struct Gpu {
  std::string bus_id;
  std::string name;
  std::string uuid;
  bool has_block = false;
  // Keys of the power block in lower case with '_' for blanks.
  std::map<std::string, std::string, std::less<>> power;
  std::string cut;  ///< why its power block may lack something; empty = it doesn't
};

bool is_power_block(std::string_view name) {
  return name == "gpu_power_readings" || name == "power_readings";
}

ToolDevice device_of(const Gpu& gpu, std::int64_t index) {
  ToolDevice device;
  device.index = index;
  device.name = gpu.name;
  if (gpu.uuid.starts_with("GPU-")) device.uuid = gpu.uuid;
  device.bus_id = gpu.bus_id;
  for (const std::string_view key : {"current_power_limit", "power_limit", "enforced_power_limit"})
    if (const auto found = gpu.power.find(key); found != gpu.power.end() && !device.power_limit)
      set_limit(device, found->second, kUnitPrinted);
  std::vector<Candidate> candidates;
  for (const std::string_view key :
       {"instant_power_draw", "instantaneous_power_draw", "power_draw", "average_power_draw"})
    if (const auto found = gpu.power.find(key); found != gpu.power.end())
      candidates.push_back({found->second, key == "average_power_draw", kUnitPrinted});
  if (!gpu.cut.empty()) {
    device.reason = gpu.cut;
    return device;
  }
  set_power(device, candidates,
            gpu.has_block ? "no known draw in the power block" : "no power block for this GPU");
  if (const auto average = gpu.power.find("average_power_draw"); average != gpu.power.end()) {
    ToolDevice judged;
    judged.power_limit = device.power_limit;
    set_power(judged, {{average->second, true, kUnitPrinted}}, "");
    device.average = judged.power;
  }
  return device;
}

// `announced`: how many GPUs the text says there are. Fewer may have been asked for, but then they don't make
// the node's total.
Result<ToolReadings> readings_of(const std::vector<Gpu>& gpus, std::optional<std::int64_t> announced) {
  ToolReadings readings;
  for (std::size_t i = 0; i < gpus.size(); ++i)
    readings.devices.push_back(device_of(gpus[i], static_cast<std::int64_t>(i)));
  add_up(readings);
  if (announced && *announced > static_cast<std::int64_t>(gpus.size())) readings.total.reset();
  return readings;
}

std::string key_of(std::string_view printed) {
  auto key = lower(trim(printed));
  for (auto& c : key)
    if (c == ' ') c = '_';
  return key;
}

}  // namespace

namespace {

// "Product Name    : X", with blanks or tabs around the colon; npos = no field.
std::size_t colon_in(std::string_view line) {
  constexpr std::string_view kBlanks = " \t";
  for (auto at = line.find(':'); at != std::string_view::npos; at = line.find(':', at + 1))
    if (at > 0 && at + 1 < line.size() && contains(kBlanks, line.substr(at - 1, 1)) &&
        contains(kBlanks, line.substr(at + 1, 1)))
      return at;
  return std::string_view::npos;
}

// "GPU 00000000:3B:00.0" begins a card.
bool begins_a_card(std::string_view content) {
  return content.starts_with("GPU ") && contains(content, ":") &&
         content.substr(4).find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

Result<ToolReadings> parse_one_log(std::string_view text) {
  const auto lines = lines_of(text);
  std::vector<Gpu> gpus;
  std::optional<std::int64_t> announced;
  bool in_power = false;
  std::size_t block_indent = 0;
  for (const auto line : lines) {
    const auto content = trim(line);
    if (content.empty()) continue;
    const auto indent = line.find_first_not_of(" \t");
    const auto colon = colon_in(line);
    if (indent == 0) {
      in_power = false;
      if (begins_a_card(content))
        gpus.push_back({std::string{trim(content.substr(4))}, {}, {}, false, {}, {}});
      else if (colon != std::string_view::npos && key_of(line.substr(0, colon)) == "attached_gpus")
        announced = parse_int64(trim(line.substr(colon + 1)));
      continue;
    }
    if (gpus.empty()) continue;
    Gpu& gpu = gpus.back();
    if (in_power && indent <= block_indent) in_power = false;
    if (colon == std::string_view::npos) {
      if (!in_power && is_power_block(key_of(content))) {
        in_power = true;
        gpu.has_block = true;
        block_indent = indent;
      }
      continue;
    }
    const auto key = key_of(line.substr(0, colon));
    const std::string value{trim(line.substr(colon + 1))};
    if (in_power)
      gpu.power.emplace(key, value);
    else if (key == "product_name" && gpu.name.empty())
      gpu.name = value;
    else if (key == "gpu_uuid" && gpu.uuid.empty())
      gpu.uuid = value;
  }
  if (gpus.empty())
    return layout_error(kNvidiaSmiQueryName, lines.size(), "a line 'GPU <bus id>' for each card",
                        lines.empty() ? "" : lines.back());
  auto& last = gpus.back();
  // The block's last line is Max Power Limit; without it the draw that follows the average may be missing.
  const bool has_draw = last.power.contains("instantaneous_power_draw") ||
                        last.power.contains("instant_power_draw") || last.power.contains("power_draw");
  if (in_power && !(has_draw && !is_open(text)) && !last.power.contains("max_power_limit"))
    last.cut = fmt::format("{}: the text ends within this GPU's power block", kTruncated);
  if (!last.has_block && gpus.size() > 1 && gpus[gpus.size() - 2].has_block)
    last.cut = fmt::format("{}: the text ends before this GPU's power block", kTruncated);
  TW_TRY(auto readings, readings_of(gpus, announced));
  if (is_open(text)) readings.total.reset();
  return readings;
}

Result<ToolReadings> parse_one_document(std::string_view text) {
  pugi::xml_document document;
  const auto parsed =
      document.load_buffer(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!parsed) {
    const auto upto = text.substr(0, static_cast<std::size_t>(std::max<std::ptrdiff_t>(parsed.offset, 0)));
    const auto line = 1 + static_cast<std::size_t>(std::count(upto.begin(), upto.end(), '\n'));
    return layout_error(kNvidiaSmiQueryName, line, "well-formed XML", parsed.description());
  }
  const auto root = document.child("nvidia_smi_log");
  if (!root)
    return layout_error(kNvidiaSmiQueryName, 1, "the element <nvidia_smi_log>",
                        document.document_element().name());
  std::vector<Gpu> gpus;
  for (const auto node : root.children("gpu")) {
    Gpu gpu;
    gpu.bus_id = node.attribute("id").value();
    gpu.name = trim(node.child_value("product_name"));
    gpu.uuid = trim(node.child_value("uuid"));
    for (const auto block : node.children()) {
      if (!is_power_block(block.name())) continue;
      gpu.has_block = true;
      for (const auto value : block.children()) gpu.power.emplace(value.name(), value.child_value());
    }
    gpus.push_back(std::move(gpu));
  }
  if (gpus.empty())
    return layout_error(kNvidiaSmiQueryName, 1, "an element <gpu> for each card", root.name());
  return readings_of(gpus, parse_int64(trim(root.child_value("attached_gpus"))));
}

}  // namespace

Result<ToolReadings> parse_nvidia_query_text(std::string_view text) {
  std::vector<std::string_view> samples;
  constexpr std::string_view kTitle = "NVSMI LOG";
  std::size_t begin = 0;
  const auto line_of = [&](std::size_t at) {
    const auto before = text.rfind('\n', at);
    return before == std::string_view::npos ? 0 : before + 1;
  };
  const auto first = text.find(kTitle);
  for (auto at = first == std::string_view::npos ? first : text.find(kTitle, first + kTitle.size());
       at != std::string_view::npos; at = text.find(kTitle, at + kTitle.size())) {
    samples.push_back(text.substr(begin, line_of(at) - begin));
    begin = line_of(at);
  }
  samples.push_back(text.substr(begin));
  return read_samples(samples, !contains(samples.back(), "\nGPU "), parse_one_log);
}

Result<ToolReadings> parse_nvidia_query_xml(std::string_view text) {
  constexpr std::string_view kEnd = "</nvidia_smi_log>";
  // Warnings stand before the first document and remarks behind the last.
  auto begin = std::min({text.find("<?xml"), text.find("<!DOCTYPE"), text.find("<nvidia_smi_log")});
  std::vector<std::string_view> samples;
  while (begin < text.size() && contains(text.substr(begin), "<nvidia_smi_log")) {
    const auto end = text.find(kEnd, begin);
    if (end == std::string_view::npos) break;
    samples.push_back(text.substr(begin, end + kEnd.size() - begin));
    begin = end + kEnd.size();
    begin = text.find('<', begin);
  }
  if (samples.empty()) return parse_one_document(text.substr(std::min(begin, text.size())));
  return read_samples(samples, false, parse_one_document);
}

}  // namespace tidewatt::metering::tools
