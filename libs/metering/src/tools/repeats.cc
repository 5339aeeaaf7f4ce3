#include "tools/repeats.h"

#include <algorithm>
#include <array>

#include "tidewatt/units/text.h"
#include "tools/label.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr auto kNaming = std::to_array<std::string_view>(
    {"uuid",  "bus",  "bdf",    "serial", "address", "addr", "node",      "host",     "hostname",
     "board", "card", "chip",   "die",    "tile",    "slot", "partition", "instance", "module",
     "rank",  "tray", "blade",  "device", "dev",     "gpu",  "npu",       "xpu",      "name",
     "model", "id",   "tileid", "index",  "minor",   "rack", "server",    "pci"});
constexpr auto kMeasured = std::to_array<std::string_view>(
    {"util",      "utilization", "utilisation", "temp",      "temperature", "mem",     "memory", "clock",
     "clk",       "clocks",      "freq",        "frequency", "mhz",         "fan",     "perf",   "pstate",
     "state",     "states",      "voltage",     "volt",      "energy",      "used",    "free",   "total",
     "count",     "ecc",         "error",       "errors",    "rx",          "tx",      "pcie",   "throughput",
     "bandwidth", "read",        "write",       "rate",      "usage",       "speed",   "time",   "date",
     "timestamp", "uptime",      "age",         "sm",        "enc",         "dec",     "mode",   "health",
     "status",    "process",     "processes",   "pid",       "load",        "busy",    "power",  "pwr",
     "watt",      "watts",       "sclk",        "mclk",      "vram",        "throttle"});

template <std::size_t N>
bool has_any(const std::vector<std::string>& words, const std::array<std::string_view, N>& list) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
  });
}

bool looks_like_a_name(std::string_view cell) {
  const bool address = cell.size() >= 7 && contains(cell, ":") &&
                       cell.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
  return parse_int64(cell).has_value() || address;
}

// "Name (unit)", "util%": a number of something.
bool has_unit(std::string_view name) {
  return name.find('%') != std::string_view::npos || name.ends_with(')') || name.ends_with(']');
}

}  // namespace

std::string_view telling_column(const std::vector<std::string_view>& names,
                                const std::vector<std::string_view>& before,
                                const std::vector<std::string_view>& now,
                                const std::vector<std::size_t>& skip, bool other_time) {
  if (before.size() != names.size() || now.size() != names.size()) return {};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (before[i] == now[i] || std::find(skip.begin(), skip.end(), i) != skip.end()) continue;
    const auto words = label_words(names[i]);
    if (has_unit(names[i]) || has_any(words, kMeasured)) continue;
    if (has_any(words, kNaming)) return names[i];
    if (!other_time && looks_like_a_name(before[i]) && looks_like_a_name(now[i])) return names[i];
  }
  return {};
}

}  // namespace tidewatt::metering::tools
