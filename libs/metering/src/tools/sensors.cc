// lm-sensors. It scales by itself ("288.00 W", "35.2 mW"), and prints limits, averages and intervals in
// parentheses behind the value.
#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "tidewatt/units/text.h"
#include "tools/json_text.h"
#include "tools/label.h"
#include "tools/node_tools.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::string_view kSensorsName = "sensors";

bool is_power_channel(std::string_view feature) {  // "power1"
  return feature.starts_with("power") && parse_uint64(feature.substr(5)).has_value();
}

// What one feature of a chip prints, in any of the three forms.
struct Feature {
  std::string chip;
  std::string label;
  std::string_view unit = "W";
  std::string_view value;  ///< instantaneous, or what the plain form prints
  std::string_view average;
  std::string_view cap;
  std::string_view max;
  bool averaged = false;  ///< `value` is the average over an interval
  bool is_power = false;
};

ToolDevice device_of(const Feature& feature) {
  ToolDevice device;
  device.index = feature.label;
  device.name = fmt::format("{} {}", feature.chip, feature.label);
  for (const auto limit : {feature.cap, feature.max})
    if (!limit.empty() && !device.power_limit) set_limit(device, limit, feature.unit);
  std::vector<Candidate> candidates;
  if (!feature.value.empty()) candidates.push_back({feature.value, feature.averaged, feature.unit});
  if (!feature.average.empty()) candidates.push_back({feature.average, true, feature.unit});
  set_power(device, candidates, "tool_prints_nothing");
  if (!feature.average.empty()) {
    ToolDevice judged;
    set_power(judged, {{feature.average, true, feature.unit}}, "");
    device.average = judged.power;
  }
  return device;
}

// A sub-feature of -u and -j: "power1_input", "power1_average_interval".
void add_sub_feature(Feature& feature, std::string_view name, std::string_view value) {
  const auto underscore = name.find('_');
  if (underscore == std::string_view::npos || !is_power_channel(name.substr(0, underscore))) return;
  const auto what = name.substr(underscore + 1);
  feature.is_power |= what == "input" || what == "average";
  if (what == "input") feature.value = value;
  if (what == "average") feature.average = value;
  if (what == "cap") feature.cap = value;
  if (what == "max" || what == "crit") feature.max = feature.max.empty() ? value : feature.max;
}

// "(cap = 220.00 W, interval = 1.00 s)": "cap" -> "220.00 W".
std::string_view in_parentheses(std::string_view rest, std::string_view name) {
  for (auto open = rest.find('('); open != std::string_view::npos; open = rest.find('(', open + 1)) {
    const auto inside = rest.substr(open + 1, rest.find(')', open) - open - 1);
    for (const auto item : cells_of(inside, ',')) {
      const auto equals = item.find('=');
      if (equals != std::string_view::npos && trim(item.substr(0, equals)) == name)
        return trim(item.substr(equals + 1));
    }
  }
  return {};
}

bool is_watts(std::string_view text) {
  const auto words = words_of(text);
  if (words.size() < 2 || !parse_double(words[0].starts_with('+') ? words[0].substr(1) : words[0]))
    return false;
  return is_watt_unit(words[1]);
}

// "power1:  288.00 W  (interval = 1.00 s)"; nullopt = no power.
std::optional<Feature> plain_feature(std::string_view label, std::string_view rest) {
  if (judge_label(label, true).bound) return std::nullopt;  // "Power Limit", "power1_cap"
  Feature feature;
  feature.label = std::string{label};
  const auto open = rest.find('(');
  const auto value = trim(rest.substr(0, open));
  feature.cap = in_parentheses(rest, "cap");
  feature.max = in_parentheses(rest, "max");
  if (feature.max.empty()) feature.max = in_parentheses(rest, "crit");
  feature.average = in_parentheses(rest, "avg");
  feature.averaged = !in_parentheses(rest, "interval").empty();
  if (is_watts(value)) {
    const auto words = words_of(value);
    feature.value = value.substr(0, value.find(words[1]) + words[1].size());
    return feature;
  }
  // Without a number there is no unit either, except behind it.
  const bool power = is_power_channel(label) || is_watts(feature.cap) || is_watts(feature.max);
  if (!power || parse_double(words_of(value).empty() ? value : words_of(value)[0])) return std::nullopt;
  feature.value = value;
  return feature;
}

std::vector<Feature> read_text(const std::vector<std::string_view>& lines, bool text_is_cut, bool& has_chip) {
  std::vector<Feature> features;
  std::vector<Feature> before;  // of the sample before, in a loop
  std::set<std::string, std::less<>> chips;
  std::string chip;
  Feature open;  // of the -u form
  const auto flush = [&] {
    if (open.is_power) features.push_back(open);
    open = {};
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto line = lines[i];
    if (trim(line).empty()) continue;
    const auto colon = line.find(':');
    const bool indented = line[0] == ' ' || line[0] == '\t';
    if (colon == std::string_view::npos) {
      if (indented) continue;  // the rest of a wrapped parenthesis
      flush();
      chip = std::string{trim(line)};
      has_chip |= contains(chip, "-");
      if (!chips.insert(chip).second && contains(chip, "-")) {
        // A chip comes again: a new sample. One that was cut off has fewer lines than the one before.
        if (features.size() >= before.size()) before = std::move(features);
        features.clear();
        chips = {chip};
      }
      continue;
    }
    const auto key = trim(line.substr(0, colon));
    const auto rest = trim(line.substr(colon + 1));
    if (key == "Adapter") continue;
    if (rest.empty()) {
      flush();
      open.chip = chip;
      open.label = std::string{key};
    } else if (indented && !open.label.empty()) {
      // Nothing tells whether "28" at the very end is a piece of "288.000".
      if (!text_is_cut || i + 1 != lines.size()) add_sub_feature(open, key, rest);
    } else if (auto feature = plain_feature(key, rest)) {
      feature->chip = chip;
      features.push_back(std::move(*feature));
    }
  }
  flush();
  return features.size() >= before.size() ? features : before;
}

Result<ToolReadings> read_json(std::string_view text) {
  bool cut = false;
  auto samples = json_documents(text, cut);
  if (cut && samples.size() > 1) samples.pop_back();
  const auto document = parse_json(samples.empty() ? text : samples.back());
  if (!document.is_object()) return layout_error(kSensorsName, 1, "whole JSON as sensors -j prints it", text);
  ToolReadings readings;
  for (const auto& [chip, features] : document.items()) {
    if (!features.is_object()) continue;
    for (const auto& [label, values] : features.items()) {
      if (!values.is_object()) continue;
      Feature feature;
      feature.chip = chip;
      feature.label = label;
      std::vector<std::string> kept;
      kept.reserve(values.size());  // views into it are kept
      for (const auto& [name, value] : values.items()) {
        if (value.is_structured()) continue;
        kept.push_back(value.is_number() ? format_double(value.get<double>()) : value.dump());
        add_sub_feature(feature, name, kept.back());
      }
      if (feature.is_power) readings.devices.push_back(device_of(feature));
    }
  }
  return readings;
}

}  // namespace

Result<ToolReadings> parse_sensors(std::string_view, std::string_view text) {
  ToolReadings readings;
  bool has_chip = false;
  if (has_json(text)) {
    TW_TRY(readings, read_json(text));
    has_chip = true;
  } else {
    for (const auto& feature : read_text(lines_of(text), !text.ends_with('\n'), has_chip))
      readings.devices.push_back(device_of(feature));
  }
  if (readings.devices.empty()) {
    if (contains(text, "No sensors found"))
      return fail(ErrorCode::invalid_input, "sensors failed: No sensors found",
                  "load the board's driver (sensors-detect); until then its power is unknown");
    if (has_chip)
      return fail(ErrorCode::invalid_input,
                  "sensors: no chip here measures power: this board's power is unknown to it",
                  "look for acpi_power_meter, or ask the BMC: ipmitool dcmi power reading");
    const auto lines = lines_of(text);
    return layout_error(kSensorsName, 1, "chips with lines such as 'power1: 288.00 W'",
                        lines.empty() ? "" : lines[0]);
  }
  for (const auto& device : readings.devices) readings.unknown_devices += device.power ? 0 : 1;
  return readings;  // no total: what a chip measures may contain what another does
}

}  // namespace tidewatt::metering::tools
