// Decompression with the reason of a failure: a server answers "too large" and "broken" differently.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tidewatt::net {

enum class Encoding { identity, gzip, zstd };
/// By the name in Content-Encoding, in any case of letters; nullopt for one we can't undo.
std::optional<Encoding> parse_encoding(std::string_view name);

enum class Inflated { ok, broken, too_large };

struct InflateLimits {
  std::size_t bytes = 0;  ///< of output
  std::size_t ratio = 0;  ///< output to input
};

/// `out` is undefined unless the result is ok. Never holds more than the limits allow.
Inflated decompress(Encoding encoding, std::string_view bytes, InflateLimits limits, std::string& out);

}  // namespace tidewatt::net
