// Bytes that claim to be gzip or zstd: never more output than the limits allow, and a body that was
// compressed here comes back as it was.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "../src/decompress.h"
#include "tidewatt/net/compress.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidewatt::net;
  if (size == 0) return 0;
  const std::string_view bytes{reinterpret_cast<const char*>(data) + 1, size - 1};
  const InflateLimits limits{.bytes = 1U << 16U, .ratio = 200};
  const auto encoding = (data[0] & 1U) != 0 ? Encoding::gzip : Encoding::zstd;
  std::string out;
  if (decompress(encoding, bytes, limits, out) == Inflated::ok)
    if (out.size() > limits.bytes || out.size() > limits.ratio * bytes.size()) std::abort();
  const auto packed = gzip(bytes);
  std::string back;
  if (decompress(Encoding::gzip, packed, {.bytes = bytes.size() + 1, .ratio = 2000}, back) != Inflated::ok ||
      back != bytes)
    std::abort();
  return 0;
}
