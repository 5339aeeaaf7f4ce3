// tidewatt carbon parse|factors: what an intensity provider answered, and what authorities published.
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
#include "tidewatt/carbon/published_factors.h"

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

/// The region itself and those within it: CN names CN-BJ too.
int factors(const std::string& region, bool json) {
  auto all = nlohmann::json::array();
  bool any = false;
  if (!json)
    fmt::print("{:<18} {:>4} {:>8}  {:<7} {:<17} {:<10} {}\n", "region", "year", "kg/kWh", "gas", "kind",
               "scope", "what it is for; publisher, document");
  for (const auto& one : carbon::published_factors()) {
    if (!region.empty() && one.region != region && !one.region.starts_with(region + "-")) continue;
    any = true;
    const auto* caveat = one.single_copy ? "read from one copy: compare with the document before use" : "";
    if (json)
      all.push_back({{"region", one.region},
                     {"year", one.year},
                     {"scope", one.scope},
                     {"kgco2_per_kwh", one.value.value()},
                     {"gas", one.gas},
                     {"kind", carbon::to_string(one.kind)},
                     {"use", carbon::use_of(one.kind)},
                     {"publisher", one.publisher},
                     {"document", one.document},
                     {"published_on", one.published_on},
                     {"caveat", caveat}});
    else
      fmt::print("{:<18} {:>4} {:>8.4f}  {:<7} {:<17} {:<10} {}; {}, {}{}{}\n", one.region, one.year,
                 one.value.value(), one.gas, carbon::to_string(one.kind), one.scope, carbon::use_of(one.kind),
                 one.publisher, one.document, one.single_copy ? "; " : "", caveat);
  }
  if (!any)
    return report("carbon factors",
                  Error{ErrorCode::not_found, fmt::format("no published factor for \"{}\"", region),
                        "leave --region out to see them all"});
  if (json)
    fmt::print("{}\n", nlohmann::json{{"factors", all}}.dump(2));
  else
    fmt::print("None is in force until you set energy.emission_factor_kgco2_per_kwh with its source.\n");
  return kOk;
}

}  // namespace

void add_carbon_command(CLI::App& app, int& exit_code) {
  auto* group =
      app.add_subcommand("carbon", "Carbon intensity: parse a provider's answer, list published factors");
  group->require_subcommand(1);
  group->footer("Example: tidewatt carbon factors --region CN");

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

  auto* list = group->add_subcommand("factors", "Factors that authorities published, with what each is for");
  const auto region = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>(false);
  list->add_option("--region", *region, "Only this region and those within it, e.g. CN");
  list->add_flag("--json", *json, "Print JSON");
  list->footer("Example: tidewatt carbon factors --region CN");
  list->callback([region, json, &exit_code] { exit_code = factors(*region, *json); });
}

}  // namespace tidewatt::cli
