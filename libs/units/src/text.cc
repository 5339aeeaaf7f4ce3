#include "tidewatt/units/text.h"

#include <charconv>
#include <cmath>
#include <system_error>

namespace tidewatt {
namespace {

template <class Int>
std::optional<Int> parse_integer(std::string_view text) {
  Int value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> parse_double(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_int64(std::string_view text) { return parse_integer<std::int64_t>(text); }
std::optional<std::uint64_t> parse_uint64(std::string_view text) {
  return parse_integer<std::uint64_t>(text);
}

std::string format_double(double value) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return error == std::errc{} ? std::string(buffer, end) : std::string("0");
}

bool holds_control_characters(std::string_view text) {
  // Without an early end, so that the compiler compares many bytes at a time.
  bool control = false;
  bool maybe = false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    control |= byte < 0x20 || byte == 0x7f;
    maybe |= byte == 0xc2 || byte == 0xe2;
  }
  if (control || !maybe) return control;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const auto byte = [&](std::size_t at) {
      return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
    };
    if (byte(i) == 0xc2 && byte(i + 1) >= 0x80 && byte(i + 1) < 0xa0) return true;  // U+0080 to U+009F
    if (byte(i) != 0xe2) continue;
    // U+200E, U+200F; U+2028 to U+202E; U+2066 to U+2069
    if (byte(i + 1) == 0x80 && (byte(i + 2) == 0x8e || byte(i + 2) == 0x8f)) return true;
    if (byte(i + 1) == 0x80 && byte(i + 2) >= 0xa8 && byte(i + 2) <= 0xae) return true;
    if (byte(i + 1) == 0x81 && byte(i + 2) >= 0xa6 && byte(i + 2) <= 0xa9) return true;
  }
  return false;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace tidewatt
