#include "tools/ipmi.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tidewatt/units/text.h"
#include "tools/node_tools.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::string_view kIpmiName = "ipmi";

// Pieces of what these tools say when they have nothing to show, in small letters. ipmitool exits with 0 even
// so.
constexpr std::array<std::string_view, 19> kFailures{"dcmi request failed",
                                                     "could not open device",
                                                     "unable to establish",
                                                     "session timeout",
                                                     "get session challenge",
                                                     "unable to send",
                                                     "unable to get",
                                                     "connection timeout",
                                                     "command invalid or unsupported",
                                                     "command not supported",
                                                     "invalid command",
                                                     "not supported",
                                                     "invalid data field",
                                                     "permission denied",
                                                     "must be root",
                                                     "driver timeout",
                                                     "no such file",
                                                     "command not found",
                                                     "error"};

std::optional<std::string_view> failure_in(const std::vector<std::string_view>& lines) {
  for (const auto pattern : kFailures)
    for (const auto line : lines)
      if (contains(lower(line), pattern)) return trim(line);
  return std::nullopt;
}

}  // namespace

Result<ToolReadings> parse_ipmi(std::string_view command, std::string_view text) {
  if (trim(text).empty())
    return fail(ErrorCode::invalid_input, "ipmi: the tool printed nothing: the node's power is unknown",
                "run it by hand and look at its exit status; it needs root and the module ipmi_devintf");
  if (trim(text).starts_with('{') || trim(text).starts_with('[')) return parse_capmc(text);
  const auto lines = lines_of(text);
  if (auto reading = read_dcmi(command, lines)) return *std::move(reading);
  auto list = read_sensor_list(lines);
  if (!list.readings.devices.empty()) return std::move(list.readings);
  if (list.rows > 0)
    return fail(
        ErrorCode::invalid_input,
        fmt::format("ipmi: none of {} sensors is in watts: the node's power is unknown to it", list.rows),
        "try 'ipmitool dcmi power reading'; watts are never computed from volts and amps");
  if (const auto failure = failure_in(lines))
    return fail(ErrorCode::invalid_input, fmt::format("ipmi failed: {}", failure->substr(0, 200)),
                "the node's power is unknown until it works");
  const auto first =
      std::find_if(lines.begin(), lines.end(), [](std::string_view line) { return !trim(line).empty(); });
  return layout_error(kIpmiName, static_cast<std::size_t>(first - lines.begin()) + 1,
                      "a DCMI power reading, a sensor list or capmc's JSON", *first);
}

}  // namespace tidewatt::metering::tools
