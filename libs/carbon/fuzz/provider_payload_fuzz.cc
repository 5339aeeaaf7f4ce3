// Whatever a provider answers: no crash, sane points, one-line errors. The first byte picks the provider.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tidewatt/carbon/provider_parsers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidewatt::carbon;
  if (size == 0) return 0;
  static const auto providers = known_providers();
  constexpr std::string_view kEndpoints[] = {"v3/carbon-intensity/latest", "v3/forecast", "intensity",
                                             "regional", "v3/home-assistant"};
  const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
  for (const auto endpoint : kEndpoints) {
    const auto signal = parse_provider_payload(providers[data[0] % providers.size()], endpoint, "", text);
    if (!signal) {
      if (signal.error().to_string().find('\n') != std::string::npos) std::abort();
      continue;
    }
    for (const auto& point : signal->points)
      if (point.end <= point.start || !(point.intensity.value() >= 0)) std::abort();
    for (const auto& skipped : signal->skipped)
      if (skipped.reason.empty()) std::abort();
  }
  return 0;
}
