// "Instantaneous power reading: 167 Watts" among its minimum, maximum and average; only with the state
// "activated". FreeIPMI and ipmiutil say "Current Power" and "Active".
#include <fmt/format.h>

#include "tidewatt/units/text.h"
#include "tools/ipmi.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

struct Dcmi {
  std::optional<std::string_view> current;
  std::optional<std::string_view> average;
  std::optional<std::string_view> limit;
  std::optional<std::string> state;
};

// "195 Watts", "896 Watts (inactive)" -> without what stands in parentheses.
std::string_view quantity(std::string_view value) { return trim(value.substr(0, value.find('('))); }

void read_line(Dcmi& out, std::string_view key, std::string_view value) {
  const auto is = [&](std::string_view start) { return key.starts_with(start); };
  if (is("instantaneous power reading") || is("instantaneous reading") || key == "current power")
    out.current = quantity(value);
  else if (is("average power") || is("average reading") || is("avg power"))
    out.average = quantity(value);
  else if (key == "power limit")
    out.limit = quantity(value);
  else if (is("power reading state") || is("power measurement"))
    out.state = lower(trim(value));
}

bool is_active(std::string_view state) {
  return state.starts_with("activ") || state == "enabled" || state == "on";
}

}  // namespace

std::optional<ToolReadings> read_dcmi(std::string_view command, const std::vector<std::string_view>& lines) {
  Dcmi seen;
  for (const auto line : lines) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto key = lower(trim(line.substr(0, colon)));
    // A second reading (a host range, a loop) replaces the first.
    read_line(seen, key, trim(line.substr(colon + 1)));
  }
  if (!seen.current && !seen.average && !seen.limit) return std::nullopt;

  ToolReadings readings;
  ToolDevice device;
  device.index = std::int64_t{0};
  if (seen.limit) set_limit(device, *seen.limit, "");
  if (seen.average) {
    ToolDevice judged;
    set_power(judged, {{*seen.average, true, ""}}, "");
    device.average = judged.power;
  }
  // A filter behind a pipe may have dropped the state; anything else that lacks it was cut off.
  const bool filtered = contains(command, "|");
  if (!seen.current) {
    device.reason = "no current power in this output";
  } else if (seen.state && !is_active(*seen.state)) {
    device.reason = fmt::format("power_reading_state_{}", seen.state->substr(0, 40));
    device.average.reset();
  } else if (!seen.state && !filtered) {
    device.reason = "truncated: the power reading's state is missing";
  } else {
    set_power(device, {{*seen.current, false, ""}}, "");
  }
  readings.devices.push_back(std::move(device));
  add_up(readings);
  return readings;
}

}  // namespace tidewatt::metering::tools
