#include "tools/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "tidewatt/metering/plausibility.h"
#include "tidewatt/units/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::size_t kQuoted = 60;

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::optional<double> watts_per(std::string_view unit) {
  if (unit == "W" || unit == "w" || unit == "Watts" || unit == "watts" || unit == "Watt") return 1;
  if (unit == "mW") return 1e-3;
  if (unit == "uW" || unit == "\xC2\xB5W" || unit == "\xCE\xBCW") return 1e-6;
  if (unit == "kW" || unit == "KW") return 1e3;
  if (unit == "MW") return 1e6;
  return std::nullopt;
}

}  // namespace

std::string quotable(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kQuoted))
    out += static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F ? '?' : c;
  if (text.size() > kQuoted) out += "...";
  return out;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    auto line = text.substr(0, end);
    while (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::vector<std::string_view> cells_of(std::string_view line, char separator) {
  std::vector<std::string_view> cells;
  for (;;) {
    const auto end = line.find(separator);
    cells.push_back(trim(line.substr(0, end)));
    if (end == std::string_view::npos) return cells;
    line.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::vector<std::string_view> words;
  for (auto begin = line.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
    const auto end = line.find_first_of(kBlanks, begin);
    words.push_back(line.substr(begin, end - begin));
    begin = end == std::string_view::npos ? end : line.find_first_not_of(kBlanks, end);
  }
  return words;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string lower(std::string_view text) {
  std::string out{text};
  std::transform(out.begin(), out.end(), out.begin(), small);
  return out;
}

bool same_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return small(x) == small(y); });
}

PrintedPower parse_watts(std::string_view text, std::string_view default_unit) {
  text = trim(text);
  const auto number_end = text.find_first_not_of("+-.0123456789");
  const auto number = text.substr(0, number_end);
  const auto unit = number_end == std::string_view::npos ? std::string_view{} : trim(text.substr(number_end));
  const auto factor = watts_per(unit.empty() ? default_unit : unit);
  const auto value = parse_double(number);
  if (!factor || !value)
    return {std::nullopt,
            text.empty() ? "tool_prints_nothing" : fmt::format("tool_prints_{}", quotable(text))};
  return {Watts{*value * *factor}, {}};
}

bool may_be_cut(std::string_view value) { return parse_double(trim(value)).has_value(); }

bool is_open(std::string_view text) { return !text.empty() && !text.ends_with('\n'); }

tl::unexpected<Error> truncation_error(std::string_view tool, std::string_view text,
                                       std::string_view expected) {
  const auto lines = lines_of(text);
  std::size_t last = lines.size();
  while (last > 1 && trim(lines[last - 1]).empty()) --last;
  return fail(ErrorCode::invalid_input,
              fmt::format("{}: line {}: truncated: expected {}, the text ends at '{}'", tool,
                          std::max<std::size_t>(last, 1), expected,
                          quotable(last == 0 ? std::string_view{} : trim(lines[last - 1]))),
              "run the tool again and keep all that it prints; until then these devices are unknown");
}

void set_limit(ToolDevice& device, std::string_view text, std::string_view unit) {
  const auto printed = parse_watts(text, unit);
  if (printed.watts) device.power_limit = judge_limit(*printed.watts);
}

void set_power(ToolDevice& device, const std::vector<Candidate>& candidates, std::string_view none_reason) {
  device.power.reset();
  device.reason = none_reason;
  bool first = true;
  for (const auto& candidate : candidates) {
    const auto printed = parse_watts(candidate.text, candidate.unit);
    auto reason = printed.reason;
    if (printed.watts) {
      auto judged = judge_power(*printed.watts, device.power_limit);
      if (judged.power && judged.power->value() > kMaxDeviceWatts)
        judged = {std::nullopt, fmt::format("implausible: {} W", format_double(judged.power->value()))};
      if (judged.power) {
        device.power = judged.power;
        device.averaged = candidate.averaged;
        device.reason.clear();
        return;
      }
      reason = judged.reason;
    }
    // A number that is impossible says more than a blank that is wanted more.
    if (first || printed.watts) device.reason = reason;
    first = false;
  }
}

void add_up(ToolReadings& readings) {
  double sum = 0;
  int known = 0;
  bool cut = false;
  readings.unknown_devices = 0;
  readings.total.reset();
  for (const auto& device : readings.devices) {
    if (!device.power) {
      if (!device.reason.starts_with(kCountedOnSibling)) ++readings.unknown_devices;
      cut = cut || device.reason.starts_with(kTruncated);
      continue;
    }
    sum += device.power->value();
    ++known;
  }
  if (known > 0 && !cut) readings.total = Watts{sum};
}

tl::unexpected<Error> layout_error(std::string_view tool, std::size_t line_number, std::string_view expected,
                                   std::string_view got) {
  return fail(ErrorCode::invalid_input,
              fmt::format("{}: line {}: unknown layout: expected {}, got '{}'", tool, line_number, expected,
                          quotable(got)),
              "please report the output with the tool's version; until then these devices are unknown");
}

}  // namespace tidewatt::metering::tools
