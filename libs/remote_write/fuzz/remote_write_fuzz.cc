// Whatever a sender sends: no crash, one-line errors, and nothing but finite samples. The bytes are tried as
// they are and as what a snappy block holds.
#include <snappy.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tidewatt/remote_write/mapping.h"

namespace {

void check(std::string_view body) {
  using namespace tidewatt::remote_write;
  const auto parsed = parse_write_request(body, {.bytes = 1U << 20U, .samples = 1'000});
  if (!parsed) {
    if (parsed.error().to_string().find('\n') != std::string::npos) std::abort();
    return;
  }
  for (const auto& series : *parsed) {
    for (const auto& sample : series.samples)
      if (sample.value && !std::isfinite(*sample.value)) std::abort();
    if (const auto meaning = meaning_of(series); const auto* energy = std::get_if<EnergySeries>(&meaning))
      if (energy->index < 0 || energy->index > 4096) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  check(bytes);
  std::string packed;
  snappy::Compress(bytes.data(), bytes.size(), &packed);
  check(packed);
  return 0;
}
