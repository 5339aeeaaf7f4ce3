// What vendors' tools print, as readings. Text in, readings out; one file per tool in src/tools/, one line of
// registration in src/tool_parsers.cc. No number is taken by position: columns and lines are found by their
// names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/units/quantity.h"

namespace tidewatt::metering {

/// A number where the tool prints one, else the sensor's or rail's name.
using ToolIndex = std::variant<std::int64_t, std::string>;

/// One thing with a reading of its own.
struct ToolDevice {
  ToolIndex index = std::int64_t{0};
  std::optional<ToolIndex> sub_index;
  bool counted = false;  ///< the tool prints no number: `index` is the place in its list
  std::string name;
  std::string uuid;
  std::string domain;  ///< "cpu_package" = a processor's socket among cards; empty = what the tool is for
  std::string bus_id;  ///< PCI address as printed; empty = not printed
  std::optional<Watts>
      power;              ///< instantaneous where the tool names one, else the plain draw; nullopt = unknown
  bool averaged = false;  ///< the tool says that `power` is an average
  std::optional<Watts> average;  ///< the tool's own average, where it prints one beside
  std::optional<Watts> power_limit;
  std::string reason;          ///< why power is unknown, with the printed token; empty when known
  std::optional<double> util;  ///< 0..1
  std::optional<std::int64_t> memory_used_bytes;
  std::optional<double> temperature_c;
};

struct ToolReadings {
  std::vector<ToolDevice> devices;
  std::optional<Watts> total;  ///< only where adding is right; a sum of the known ones, see unknown_devices
  int unknown_devices = 0;     ///< devices without power: `total` is then a lower bound
};

/// How well a form of a tool's output is supported.
enum class CoverageState {
  complete,   ///< read from real output
  adapted,    ///< from documentation, published source or another version's output
  no_sample,  ///< no output seen: read only as far as its names say, else unknown
};

/// One row of the table vendor x tool x form.
struct ToolCoverage {
  std::string vendor;
  std::string tool;  ///< one of known_tools(), or a tool that has no parser
  std::string form;
  CoverageState state = CoverageState::no_sample;
  std::string
      agent_sources;  ///< by which names of the agent's `sources` these devices are read; empty = by none
  std::string note;   ///< what is special, or why there is no reading
};

/// What is covered, by vendor, tool and form; with a row for tools that print no watts at all.
std::vector<ToolCoverage> tool_coverage();

/// "complete", "adapted", "no sample".
std::string_view to_string(CoverageState state);

/// Names of the tools understood, sorted.
std::vector<std::string_view> known_tools();

/// Parses a tool's output.
/// @param tool     one of known_tools()
/// @param command  the command line that printed it; decides only what the text itself leaves open (CSV
/// without header)
/// @error invalid_input  unknown tool (lists the known ones), unknown layout (tool, line, what was expected),
/// more
///                       than 4096 devices, or the output is the tool's own failure message (quoted): the
///                       devices are then unknown, not absent
Result<ToolReadings> parse_tool(std::string_view tool, std::string_view command, std::string_view text);

/// {"devices":[{"index":0,"power_watts":37.0,"power_limit_watts":250.0,"reason":null},...],"total_power_watts":37.0}
/// with null for unknown; sub_index, name, uuid, domain, average_watts, averaged only where the tool gave
/// them.
std::string to_json(const ToolReadings& readings);

}  // namespace tidewatt::metering
