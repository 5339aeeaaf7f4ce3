// One line per sample: "VDD_IN 5081mW/5023mW" (current/average), newer releases with a third value, older
// ones without a unit. The first value is the current one.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tidewatt/metering/plausibility.h"
#include "tidewatt/units/text.h"
#include "tools/node_tools.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::string_view kTegrastatsName = "tegrastats";

bool is_rail_name(std::string_view word) {
  return !word.empty() && word[0] >= 'A' && word[0] <= 'Z' && word != "NC" && word != "RAM" &&
         word != "SWAP" && word != "IRAM" &&
         word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string_view::npos;
}

std::optional<double> milliwatts(std::string_view text) {
  if (text.ends_with("mW")) text.remove_suffix(2);
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  return parse_double(text);
}

// "900/943", "5139mW/5139mW/5139mW". "613/3964MB" is memory.
std::optional<std::vector<double>> values_of(std::string_view word) {
  std::vector<double> values;
  for (const auto part : cells_of(word, '/')) {
    const auto value = milliwatts(part);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  if (values.size() != 2 && values.size() != 3) return std::nullopt;
  return values;
}

// "2,532/2,698": a rail's values in a form that isn't understood.
bool looks_like_values(std::string_view word) {
  return contains(word, "/") && word.find_first_of("0123456789") != std::string_view::npos &&
         word.find_first_not_of("0123456789.,/mkuW-") == std::string_view::npos;
}

// These feed the whole board and contain every other rail.
bool is_input(std::string_view rail) { return rail == "VIN" || rail.ends_with("_IN"); }

std::optional<Watts> judged(double milli, bool zero_is_real, std::string& reason) {
  if (milli == 0 && zero_is_real) return Watts{0};
  auto out = judge_power(Watts{milli / 1000}, std::nullopt);
  reason = out.reason;
  return out.power;
}

std::vector<ToolDevice> rails_of(std::string_view line) {
  std::vector<ToolDevice> rails;
  const auto words = words_of(line);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (!is_rail_name(words[i])) continue;
    const auto values = values_of(words[i + 1]);
    ToolDevice rail;
    rail.index = std::string{words[i]};
    if (!values && looks_like_values(words[i + 1])) {
      rail.reason = fmt::format("tool_prints_{}", words[i + 1].substr(0, 60));
      rails.push_back(std::move(rail));
      continue;
    }
    if (!values) continue;
    // A gated rail draws nothing; a board that runs doesn't.
    rail.power = judged((*values)[0], !is_input(words[i]), rail.reason);
    std::string ignored;
    rail.average = judged((*values)[1], !is_input(words[i]), ignored);
    rails.push_back(std::move(rail));
  }
  return rails;
}

}  // namespace

Result<ToolReadings> parse_tegrastats(std::string_view, std::string_view text) {
  const auto lines = lines_of(text);
  ToolReadings readings;
  std::size_t samples = 0;
  std::size_t last = 0;
  bool cut = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!contains(lines[i], "RAM ")) continue;
    ++samples;
    auto rails = rails_of(lines[i]);
    // A last line without its end may have been cut off: the one before it stands.
    cut = i + 1 == lines.size() && is_open(text);
    if (cut && samples > 1) {
      cut = false;
      continue;
    }
    readings.devices = std::move(rails);
    last = i;
  }
  if (samples == 0)
    return layout_error(kTegrastatsName, 1, "a line with RAM and rails such as VDD_IN 5081mW/5023mW",
                        lines.empty() ? "" : lines[0]);
  if (readings.devices.empty())
    return fail(ErrorCode::invalid_input,
                fmt::format("{}: line {} has no power rail: this board's power is unknown", kTegrastatsName,
                            last + 1),
                "run tegrastats as root; boards without current sensors have no rails");
  if (cut && values_of(words_of(lines[last]).back())) {
    auto& rail = readings.devices.back();
    rail.power.reset();
    rail.average.reset();
    rail.reason = fmt::format("{}: line {} has no line end", kTruncated, last + 1);
  }
  const auto inputs = std::count_if(readings.devices.begin(), readings.devices.end(), [](const auto& rail) {
    return is_input(std::get<std::string>(rail.index));
  });
  for (const auto& rail : readings.devices) {
    readings.unknown_devices += rail.power ? 0 : 1;
    if (inputs == 1 && !cut && is_input(std::get<std::string>(rail.index))) readings.total = rail.power;
  }
  return readings;
}

}  // namespace tidewatt::metering::tools
