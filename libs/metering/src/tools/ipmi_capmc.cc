// Cray's capmc gives means over a window, never an instantaneous value.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tidewatt/metering/plausibility.h"
#include "tidewatt/units/text.h"
#include "tools/ipmi.h"
#include "tools/json_text.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

using nlohmann::json;

std::optional<Watts> watts_in(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return judge_power(Watts{found->get<double>()}, std::nullopt).power;
}

ToolDevice window_mean(const json& object, ToolIndex index) {
  ToolDevice device;
  device.index = std::move(index);
  device.average = watts_in(object, "avg");
  device.reason = device.average ? "only_window_average_min_max_no_instant" : "no average in this window";
  return device;
}

// Cabinets have a place ("x", "y"), nodes a number.
ToolIndex index_of(const json& object, std::size_t order) {
  if (const auto nid = object.find("nid"); nid != object.end() && nid->is_number_integer())
    return nid->get<std::int64_t>();
  return static_cast<std::int64_t>(order);
}

}  // namespace

Result<ToolReadings> parse_capmc(std::string_view text) {
  const auto document = parse_json(text);
  if (!document.is_object()) return layout_error("capmc", 1, "one whole JSON object", trim(text));
  if (const auto code = document.find("e"); code != document.end() && code->is_number() && *code != 0) {
    const auto message = document.find("err_msg");
    return fail(
        ErrorCode::invalid_input,
        fmt::format("capmc failed: {} (e = {})",
                    message != document.end() && message->is_string() ? message->get<std::string>() : "",
                    printed(*code)),
        "the power is unknown until it works");
  }
  ToolReadings readings;
  if (document.contains("avg")) {
    readings.devices.push_back(window_mean(document, std::int64_t{0}));
  } else {
    for (const char* list : {"cabinets", "nodes"})
      if (const auto members = document.find(list); members != document.end() && members->is_array())
        for (const auto& member : *members)
          if (member.is_object())
            readings.devices.push_back(window_mean(member, index_of(member, readings.devices.size())));
  }
  if (readings.devices.empty())
    return layout_error("capmc", 1, "avg, min and max, or a list of cabinets or nodes", trim(text));
  readings.unknown_devices = static_cast<int>(readings.devices.size());
  return readings;
}

}  // namespace tidewatt::metering::tools
