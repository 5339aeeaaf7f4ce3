// tidewatt energy node|task|group ID: what the API says, as a table or as JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "command.h"
#include "input.h"
#include "server_access.h"

namespace tidewatt::cli {
namespace {

using Json = nlohmann::json;

struct EnergyOptions {
  ServerAccess access;
  std::string id;
  std::string range = "24h";
  std::string from;
  std::string to;
  std::string cluster;
  bool json = false;
};

std::string number(const Json& value, std::string_view unit) {
  if (!value.is_number()) return "—";
  return fmt::format("{:.6g} {}", value.get<double>(), unit);
}

std::string text(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return "—";
  return found->get<std::string>();
}

Json field(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? Json(nullptr) : *found;
}

std::string coverage(const Json& value) {
  if (!value.is_number()) return "—";
  // Cut, not rounded: 100 % is said only when nothing is missing.
  return fmt::format("{:.1f}%", static_cast<double>(static_cast<long>(value.get<double>() * 1000)) / 10);
}

void row(std::string_view name, std::string_view value) { fmt::print("  {:<14} {}\n", name, value); }

void print(const Json& answer, const EnergyOptions& options) {
  fmt::print("{} {}  {} to {}\n", text(answer, "scope"), options.id, text(answer, "from"),
             text(answer, "to"));
  row("energy", number(field(answer, "energy_kwh"), "kWh"));
  row("exact", text(answer, "energy_uj") == "—" ? "—" : text(answer, "energy_uj") + " uJ");
  row("coverage", fmt::format("{}  (gap {})", coverage(field(answer, "coverage")),
                              number(field(answer, "gap_seconds"), "s")));
  if (const auto method = field(answer, "method"); method.is_object())
    row("method", fmt::format("counter {}, integrated {}", number(field(method, "counter_kwh"), "kWh"),
                              number(field(method, "integrated_kwh"), "kWh")));
  row("quality", text(answer, "quality"));
  if (field(answer, "attribution").is_string()) row("attribution", text(answer, "attribution"));
  if (answer.contains("unattributed_kwh"))
    row("unattributed", number(field(answer, "unattributed_kwh"), "kWh"));
  if (const auto factor = field(answer, "emission_factor"); factor.is_object()) {
    row("carbon", number(field(answer, "carbon_kgco2e"), "kg CO2e"));
    row("factor",
        fmt::format("{} ({})", number(field(factor, "value"), text(factor, "unit")), text(factor, "source")));
  } else if (answer.contains("carbon_hidden_reason")) {
    row("carbon", "— (" + text(answer, "carbon_hidden_reason") + ")");
  }
  for (const auto& domain : field(answer, "domains").is_array() ? answer["domains"] : Json::array())
    row("domain " + text(domain, "domain"),
        fmt::format("{}{}", number(field(domain, "energy_kwh"), "kWh"),
                    field(domain, "in_total") == true ? "" : "  (not in the total)"));
  for (const auto& part : field(answer, "allocations").is_array() ? answer["allocations"] : Json::array())
    row("on", fmt::format("{}/{}  {}", text(part, "node_id"), field(part, "device_index").dump(),
                          number(field(part, "energy_kwh"), "kWh")));
  for (const auto& note : field(answer, "notes").is_array() ? answer["notes"] : Json::array())
    row("note", text(note, "text"));
}

int run(const std::string& kind, const EnergyOptions& options) {
  const std::string paths = kind == "group" ? "task-groups" : kind + "s";
  const std::string what = kind == "group" ? "efficiency" : "energy";
  auto path = fmt::format("/api/v1/{}/{}/{}?", paths, encode_component(options.id), what);
  if (!options.from.empty() || !options.to.empty()) {
    path += fmt::format("from={}&to={}", encode_component(options.from), encode_component(options.to));
  } else {
    path += "range=" + encode_component(options.range);
  }
  if (!options.cluster.empty()) path += "&cluster=" + encode_component(options.cluster);
  const auto body = get(options.access, path);
  if (!body) return report("energy", body.error());
  const auto answer = Json::parse(*body, nullptr, false);
  if (!answer.is_object())
    return report("energy", {ErrorCode::invalid_input, options.access.url + " is no tidewatt server", ""});
  if (options.json) {
    fmt::print("{}\n", *body);
  } else if (kind == "group") {
    fmt::print("task group {}\n", options.id);
    row("tokens/J", number(field(answer, "tokens_per_joule"), "tokens/J"));
    row("reason", text(answer, "reason"));
  } else {
    print(answer, options);
  }
  return kOk;
}

}  // namespace

void add_energy_command(CLI::App& app, int& exit_code) {
  auto* group = app.add_subcommand("energy", "Energy of a node, a task or a task group, as the server says");
  group->require_subcommand(1);
  group->footer("Example: tidewatt energy node gpu-a01 --range 7d");
  for (const std::string kind : {"node", "task", "group"}) {
    auto* command =
        group->add_subcommand(kind, "Energy of one " + std::string(kind == "group" ? "task group" : kind));
    const auto options = std::make_shared<EnergyOptions>();
    command->add_option("ID", options->id, "Its id")->required();
    command->add_option("--range", options->range, "How far back: 1h, 24h, 7d, 30d")->capture_default_str();
    command->add_option("--from", options->from, "Begin, RFC 3339; totals snap to whole UTC hours");
    command->add_option("--to", options->to, "End, RFC 3339");
    command->add_option("--cluster", options->cluster, "The cluster, where an id exists in several");
    command->add_flag("--json", options->json, "Print the API's answer");
    options->access.add_options(*command);
    command->footer(fmt::format("Example: tidewatt energy {} {} --range 24h", kind,
                                kind == "node"   ? "gpu-a01"
                                : kind == "task" ? "train-7"
                                                 : "llm"));
    command->callback([kind, options, &exit_code] { exit_code = run(kind, *options); });
  }
}

}  // namespace tidewatt::cli
