// One parser of a tool's output, compiled once per tool with TIDEWATT_FUZZED_TOOL. Whatever the tool is made
// to print: no crash, one line of error, and every device has either a finite power or a reason.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tidewatt/metering/tool_parsers.h"

namespace {

constexpr std::string_view kTool = TIDEWATT_FUZZED_TOOL;

void check(std::string_view command, std::string_view text) {
  const auto parsed = tidewatt::metering::parse_tool(kTool, command, text);
  if (!parsed) {
    if (parsed.error().message.find('\n') != std::string::npos) std::abort();
    return;
  }
  for (const auto& device : parsed->devices) {
    if (device.power.has_value() != device.reason.empty()) std::abort();
    if (device.power && !(std::isfinite(device.power->value()) && device.power->value() >= 0)) std::abort();
    if (device.power_limit && !(device.power_limit->value() > 0)) std::abort();
  }
  (void)tidewatt::metering::to_json(*parsed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  // A first line with an option plays the command, so that forms which need it are reached as well.
  const auto cut = text.find('\n');
  if (cut != std::string_view::npos && text.substr(0, cut).find(" -") != std::string_view::npos)
    check(text.substr(0, cut), text.substr(cut + 1));
  else
    check(kTool, text);
  return 0;
}
