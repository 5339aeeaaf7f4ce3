#include "value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

#include "tidewatt/config/suggest.h"
#include "tidewatt/units/text.h"

namespace tidewatt::config {
namespace {

struct ByteUnit {
  std::string_view name;
  std::uint64_t factor;
};
constexpr std::array kByteUnits{
    ByteUnit{"KiB", 1ULL << 10U}, ByteUnit{"MiB", 1ULL << 20U},
    ByteUnit{"GiB", 1ULL << 30U}, ByteUnit{"TiB", 1ULL << 40U},
    ByteUnit{"kB", 1000},         ByteUnit{"MB", 1000'000},
    ByteUnit{"GB", 1000'000'000}, ByteUnit{"B", 1},
};

/// A value as a number that can be compared with the range: milliseconds, bytes, the number itself.
std::optional<double> magnitude(Kind kind, std::string_view text) {
  switch (kind) {
    case Kind::integer:
      if (const auto n = parse_int64(text)) return static_cast<double>(*n);
      return std::nullopt;
    case Kind::number:
      return parse_double(text);
    case Kind::duration:
      if (const auto d = parse_duration(text)) return static_cast<double>(d->count());
      return std::nullopt;
    case Kind::bytes:
      if (const auto b = parse_bytes(text)) return static_cast<double>(*b);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

std::string_view expected(Kind kind) {
  switch (kind) {
    case Kind::integer:
      return "a whole number";
    case Kind::number:
      return "a number";
    case Kind::boolean:
      return "true or false";
    case Kind::duration:
      return "a number with a unit, such as 250ms, 20s, 5m, 24h or 7d";
    case Kind::bytes:
      return "bytes, such as 4096, 64KiB or 256MiB";
    default:
      return "text";
  }
}

}  // namespace

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  std::uint64_t factor = 1;
  for (const auto& unit : kByteUnits) {
    if (text.ends_with(unit.name)) {
      factor = unit.factor;
      text.remove_suffix(unit.name.size());
      break;
    }
  }
  const auto n = parse_uint64(trim(text));
  const auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!n || *n > most / factor) return std::nullopt;
  return *n * factor;
}

std::string range_text(const Setting& setting) {
  if (setting.minimum.empty() && setting.maximum.empty()) return {};
  if (setting.maximum.empty()) return "at least " + setting.minimum;
  if (setting.minimum.empty()) return "at most " + setting.maximum;
  return setting.minimum + " to " + setting.maximum;
}

std::string why_not(const Setting& setting, std::string_view text) {
  switch (setting.kind) {
    case Kind::boolean:
      if (text == "true" || text == "false") return {};
      return fmt::format("\"{}\" is not true or false", text);
    case Kind::choice: {
      if (std::ranges::find(setting.choices, text) != setting.choices.end()) return {};
      const std::string guess = nearest(text, setting.choices);
      return fmt::format("unknown value \"{}\"; known: {}{}", text, fmt::join(setting.choices, ", "),
                         guess.empty() ? "" : fmt::format("; did you mean \"{}\"?", guess));
    }
    case Kind::integer:
    case Kind::number:
    case Kind::duration:
    case Kind::bytes: {
      const auto n = magnitude(setting.kind, text);
      if (!n) return fmt::format("\"{}\" is not {}", text, expected(setting.kind));
      const auto low = magnitude(setting.kind, setting.minimum);
      const auto high = magnitude(setting.kind, setting.maximum);
      if ((low && *n < *low) || (high && *n > *high)) {
        return fmt::format("{} is out of range: {}", text, range_text(setting));
      }
      return {};
    }
    default:
      return {};
  }
}

}  // namespace tidewatt::config
