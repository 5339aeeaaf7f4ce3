// Any bytes: no crash, and whatever parses survives being printed and parsed again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tidewatt/wire/beat_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static tidewatt::wire::BeatParser parser;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const auto beats = parser.parse(body);
  if (beats) {
    for (const auto& beat : *beats) {
      if (!beat) continue;
      const auto text = tidewatt::wire::to_json(*beat);
      const auto again = parser.parse(text);
      if (!again || again->size() != 1 || !again->front()) std::abort();
      if (tidewatt::wire::to_json(*again->front()) != text) std::abort();
    }
  }
  (void)tidewatt::wire::answers_from_json(body);
  return 0;
}
