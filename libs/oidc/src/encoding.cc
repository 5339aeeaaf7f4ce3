#include "encoding.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <cstdint>

namespace tidewatt::oidc {
namespace {

constexpr std::string_view kUrlAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string encode(std::string_view bytes, std::string_view alphabet) {
  std::string text;
  text.reserve((bytes.size() * 4 + 2) / 3);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : bytes) {
    bits = (bits << 8U) | static_cast<unsigned char>(c);
    for (held += 8; held >= 6; held -= 6) text += alphabet[(bits >> static_cast<unsigned>(held - 6)) & 63U];
  }
  if (held > 0) text += alphabet[(bits << static_cast<unsigned>(6 - held)) & 63U];
  return text;
}

}  // namespace

std::string base64url(std::string_view bytes) { return encode(bytes, kUrlAlphabet); }

std::string base64(std::string_view bytes) {
  std::string text = encode(bytes, kAlphabet);
  text.append((4 - text.size() % 4) % 4, '=');
  return text;
}

std::optional<std::string> from_base64url(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char c : text) {
    const auto value = kUrlAlphabet.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>((bits >> held) & 255U);
  }
  if (held >= 6 || (bits & ((1U << held) - 1U)) != 0) return std::nullopt;
  return bytes;
}

std::string percent_encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  std::string out;
  for (unsigned int i = 0; i < size; ++i) out += static_cast<char>(digest.at(i));
  return out;
}

}  // namespace tidewatt::oidc
