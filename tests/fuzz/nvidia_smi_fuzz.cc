// Whatever nvidia-smi is made to print: no crash, and a device has either a power or a reason.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tidewatt/metering/tool_parsers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto cut = text.find('\n');
  // The first line plays the command, so that CSV without a header is reached as well.
  const auto command = text.substr(0, cut);
  const auto rest = cut == std::string_view::npos ? text : text.substr(cut + 1);
  for (const auto input : {text, rest}) {
    const auto parsed = tidewatt::metering::parse_tool("nvidia-smi", command, input);
    if (!parsed) {
      if (parsed.error().message.find('\n') != std::string::npos) std::abort();
      continue;
    }
    for (const auto& device : parsed->devices)
      if (device.power.has_value() != device.reason.empty() || (device.power && !(device.power->value() > 0)))
        std::abort();
    (void)tidewatt::metering::to_json(*parsed);
  }
  return 0;
}
