// tidewatt carbon parse: what a carbon-intensity provider answered, as points.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "command.h"
#include "input.h"
#include "tidewatt/carbon/provider_parsers.h"

namespace tidewatt::cli {
namespace {

struct CarbonParseOptions {
  std::string provider;
  std::string endpoint;
  std::string zone;
  std::string file;
  bool json = false;
};

nlohmann::json to_json(const carbon::ParsedSignal& signal) {
  auto points = nlohmann::json::array();
  for (const auto& point : signal.points) {
    nlohmann::json one{{"start", format_rfc3339_short(point.start)},
                       {"end", format_rfc3339_short(point.end)},
                       {"gco2_per_kwh", point.intensity.value()},
                       {"kind", carbon::to_string(point.series.kind)},
                       {"quality", carbon::to_string(point.quality)},
                       {"boundary", carbon::to_string(point.series.boundary)},
                       {"basis", carbon::to_string(point.series.basis)},
                       {"zone", nullptr}};
    if (point.series.zone) one["zone"] = *point.series.zone;
    if (point.issued_at) one["issued_at"] = format_rfc3339_short(*point.issued_at);
    points.push_back(std::move(one));
  }
  auto skipped = nlohmann::json::array();
  for (const auto& one : signal.skipped) {
    nlohmann::json entry{{"reason", one.reason}};
    if (one.start) entry["start"] = format_rfc3339_short(*one.start);
    skipped.push_back(std::move(entry));
  }
  return {{"points", std::move(points)}, {"skipped", std::move(skipped)}};
}

int parse_signal(const CarbonParseOptions& options) {
  const auto text = read_all(options.file);
  if (!text) return report("carbon parse", text.error());
  const auto signal = carbon::parse_provider_payload(options.provider, options.endpoint, options.zone, *text);
  if (!signal) return report("carbon parse", signal.error());
  if (options.json) {
    fmt::print("{}\n", to_json(*signal).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return kOk;
  }
  fmt::print("{:<20} {:<20} {:>9}  {:<9} {:<10} {}\n", "start", "end", "gCO2/kWh", "kind", "quality", "zone");
  for (const auto& point : signal->points)
    fmt::print("{:<20} {:<20} {:>9.1f}  {:<9} {:<10} {}\n", format_rfc3339_short(point.start),
               format_rfc3339_short(point.end), point.intensity.value(), carbon::to_string(point.series.kind),
               carbon::to_string(point.quality), point.series.zone.value_or("—"));
  for (const auto& one : signal->skipped)
    fmt::print("skipped {}: {}\n", one.start ? format_rfc3339_short(*one.start) : "a row", one.reason);
  return kOk;
}

}  // namespace

void add_carbon_command(CLI::App& app, int& exit_code) {
  auto* group = app.add_subcommand("carbon", "Carbon intensity: parse a provider's answer");
  group->require_subcommand(1);

  auto* command = group->add_subcommand("parse", "Parse a carbon-intensity provider's answer");
  const auto options = std::make_shared<CarbonParseOptions>();
  command->add_option("--provider", options->provider, "The provider, e.g. electricitymaps")
      ->required()
      ->check([](const std::string& name) -> std::string {
        const auto known = carbon::known_providers();
        if (std::find(known.begin(), known.end(), name) != known.end()) return {};
        return fmt::format("unknown provider \"{}\" (known: {})", name, fmt::join(known, ", "));
      });
  command->add_option("--endpoint", options->endpoint, "The path asked, e.g. v3/carbon-intensity/latest")
      ->required();
  command->add_option("--zone", options->zone, "The zone asked for; an answer for another is refused");
  command->add_option("FILE", options->file, "The answer; - reads standard input")->required();
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Example: curl -s https://api.carbonintensity.org.uk/intensity | tidewatt carbon parse --provider uk "
      "--endpoint intensity -");
  command->callback([options, &exit_code] { exit_code = parse_signal(*options); });
}

}  // namespace tidewatt::cli
