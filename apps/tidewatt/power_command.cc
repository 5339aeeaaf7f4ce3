// tidewatt power parse|detect: what a vendor tool printed, and what this machine can measure.
#include <fmt/format.h>

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "command.h"
#include "input.h"
#include "library_look.h"
#include "tidewatt/metering/reason.h"
#include "tidewatt/metering/tool_parsers.h"
#include "tidewatt/os/posix.h"
#include "tidewatt/sensors/detect.h"
#include "tidewatt/sensors/sources.h"

namespace tidewatt::cli {
namespace {

struct ParseOptions {
  std::string tool;
  std::string command;
  std::string file;
  bool json = false;
};

std::string watts(const std::optional<Watts>& value) {
  return value ? fmt::format("{:.2f} W", value->value()) : "—";
}

std::string name_of(const metering::ToolIndex& index) {
  if (const auto* number = std::get_if<std::int64_t>(&index)) return std::to_string(*number);
  return std::get<std::string>(index);
}

int parse(const ParseOptions& options) {
  const auto text = read_all(options.file);
  if (!text) return report("power parse", text.error());
  const auto readings =
      metering::parse_tool(options.tool, options.command.empty() ? options.tool : options.command, *text);
  if (!readings) return report("power parse", readings.error());
  if (options.json) {
    fmt::print("{}\n", metering::to_json(*readings));
    return kOk;
  }
  fmt::print("{:<12} {:>12} {:>12}  {}\n", "device", "power", "limit", "why unknown");
  for (const auto& device : readings->devices) {
    const auto sub = device.sub_index ? "." + name_of(*device.sub_index) : std::string{};
    fmt::print("{:<12} {:>12} {:>12}  {}\n", name_of(device.index) + sub, watts(device.power),
               watts(device.power_limit), metering::reason_in_words(device.reason));
  }
  const auto unknown = readings->unknown_devices;
  fmt::print("{:<12} {:>12}{}\n", "total", watts(readings->total),
             readings->total && unknown > 0
                 ? fmt::format("  of the known ones: {} are unknown, the sum is a lower bound", unknown)
             : !readings->total && readings->devices.size() > 1 && unknown == 0
                 ? "  these may contain one another: adding them could count energy twice"
                 : "");
  return kOk;
}

int detect(bool json, const std::string& host_root) {
  const auto files = os::with_host_root(os::make_file_system(), host_root);
  const auto processes = os::make_process_runner();
  const os::SystemClock clock;
  const auto found = sensors::detect(*files, *processes, clock, library_look(host_root),
                                     [](Milliseconds time) { std::this_thread::sleep_for(time); });
  const auto total = sensors::total_in_words(found);
  if (json) {
    auto all = nlohmann::json::array();
    for (const auto& source : found)
      all.push_back({{"source", source.source},
                     {"usable", source.usable},
                     {"summary", source.summary},
                     {"unknown", source.unknown},
                     {"todo", source.todo},
                     {"notes", source.notes},
                     {"devices", source.devices}});
    fmt::print(
        "{}\n",
        nlohmann::json{{"looked_for", sensors::card_vendors()}, {"sources", all}, {"total", total}}.dump(
            2, ' ', false, nlohmann::json::error_handler_t::replace));
    return kOk;
  }
  std::size_t width = 0;
  for (const auto& source : found) width = std::max(width, source.source.size());
  for (const auto& source : found) {
    fmt::print("{:<4} {:<{}} {}\n", source.usable ? "yes" : "no", source.source, width, source.summary);
    for (const auto& device : source.devices) fmt::print("{:<{}} {}\n", "", width + 5, device);
    for (const auto& note : source.notes) fmt::print("{:<{}} {}\n", "", width + 5, note);
    if (!source.todo.empty() && source.summary.find(source.todo) == std::string::npos)
      fmt::print("{:<{}} → {}\n", "", width + 5, source.todo);
  }
  fmt::print("Cards were looked for of: {}.\n", fmt::join(sensors::card_vendors(), ", "));
  fmt::print("{}\n", total);
  return kOk;
}

/// The table of docs/method/coverage.md and of the settings page, from the parsers' own registration.
int coverage(bool json, bool markdown) {
  const auto rows = metering::tool_coverage();
  if (json && markdown) usage_error("--markdown", "and --json are two forms: give one");
  if (json) {
    auto all = nlohmann::json::array();
    for (const auto& row : rows)
      all.push_back({{"vendor", row.vendor},
                     {"tool", row.tool},
                     {"form", row.form},
                     {"state", metering::to_string(row.state)},
                     {"agent_sources", row.agent_sources},
                     {"note", row.note}});
    fmt::print("{}\n", nlohmann::json{{"rows", all}}.dump(2));
    return kOk;
  }
  if (markdown)
    fmt::print("| vendor | tool | form | state | read by the agent as | note |\n|---|---|---|---|---|---|\n");
  for (const auto& row : rows)
    fmt::print(fmt::runtime(markdown ? "| {} | {} | {} | {} | {} | {} |\n"
                                     : "{:<13} {:<18} {:<38} {:<10} {:<30} {}\n"),
               row.vendor, row.tool, row.form, metering::to_string(row.state),
               row.agent_sources.empty() ? "—" : row.agent_sources, row.note);
  return kOk;
}

}  // namespace

void add_power_command(CLI::App& app, int& exit_code) {
  auto* group =
      app.add_subcommand("power", "Power readings: parse a tool's output, or see what this machine has");
  group->require_subcommand(1);
  group->footer(
      "Example: sudo tidewatt power detect     nvidia-smi -q -x | tidewatt power parse --tool nvidia-smi -");

  auto* parse_command = group->add_subcommand("parse", "Parse a vendor tool's output");
  const auto options = std::make_shared<ParseOptions>();
  parse_command->add_option("--tool", options->tool, "The tool, e.g. nvidia-smi")
      ->required()
      ->check([](const std::string& tool) -> std::string {
        const auto known = metering::known_tools();
        if (std::find(known.begin(), known.end(), tool) != known.end()) return {};
        for (const auto& row : metering::tool_coverage())
          if (row.tool == tool && !row.note.empty())
            return fmt::format("\"{}\" tells no watts ({})", tool, row.note);
        return fmt::format("unknown tool \"{}\" (known: {})", tool, fmt::join(known, ", "));
      });
  parse_command->add_option("--command", options->command, "The command line that printed it");
  parse_command->add_option("FILE", options->file, "Its output; - reads standard input")->required();
  parse_command->add_flag("--json", options->json, "Print JSON");
  parse_command->footer("Example: nvidia-smi -q -x | tidewatt power parse --tool nvidia-smi --json -");
  parse_command->callback([options, &exit_code] { exit_code = parse(*options); });

  auto* detect_command =
      group->add_subcommand("detect", "Which power sources this machine has, and why not the others");
  const auto json = std::make_shared<bool>(false);
  detect_command->add_flag("--json", *json, "Print JSON");
  const auto host_root = std::make_shared<std::string>();
  detect_command->add_option("--host-root", *host_root,
                             "Where the node's /proc and /sys are, such as /host in a container");
  detect_command->footer("Example: sudo tidewatt power detect");
  detect_command->callback([json, host_root, &exit_code] {
    need_host_root(*host_root);
    exit_code = detect(*json, *host_root);
  });

  auto* coverage_command =
      group->add_subcommand("coverage", "Which outputs of which tools are understood, and on what evidence");
  const auto coverage_json = std::make_shared<bool>(false);
  const auto markdown = std::make_shared<bool>(false);
  coverage_command->add_flag("--json", *coverage_json, "Print JSON");
  coverage_command->add_flag("--markdown", *markdown, "Print a Markdown table");
  coverage_command->footer("Example: tidewatt power coverage | grep npu-smi");
  coverage_command->callback(
      [coverage_json, markdown, &exit_code] { exit_code = coverage(*coverage_json, *markdown); });
}

}  // namespace tidewatt::cli
