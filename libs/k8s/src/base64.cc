#include "tidewatt/k8s/base64.h"

#include <cstdint>

namespace tidewatt::k8s {

namespace {
constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
}  // namespace

std::string base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8U | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      out += i + k <= bytes.size() ? kDigits[group >> (18 - 6 * k) & 63U] : '=';
  }
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  unsigned digits = 0;
  unsigned padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    const auto digit = kDigits.find(c);
    if (c == '=') {
      ++padding;
    } else if (digit == std::string_view::npos || padding > 0) {
      return std::nullopt;
    }
    bits = bits << 6U | (c == '=' ? 0U : static_cast<std::uint32_t>(digit));
    if (++digits % 4 != 0) continue;
    for (const unsigned shift : {16U, 8U, 0U}) out += static_cast<char>(bits >> shift & 0xFFU);
    bits = 0;
  }
  if (digits % 4 != 0 || padding > 2) return std::nullopt;
  out.resize(out.size() - padding);
  return out;
}

}  // namespace tidewatt::k8s
