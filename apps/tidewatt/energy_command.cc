// tidewatt energy node|task|group ID: what the API says, as a table or as JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "command.h"
#include "input.h"
#include "server_access.h"
#include "tidewatt/ledger/account.h"
#include "tidewatt/os/posix.h"
#include "tidewatt/units/time.h"

namespace tidewatt::cli {
namespace {

using Json = nlohmann::json;

struct EnergyOptions {
  ServerAccess access;
  std::string id;
  std::string range = "24h";
  bool range_given = false;
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

/// Cut, not rounded, as on the pages: 100 % is said only when nothing is missing.
std::string coverage(const Json& object) {
  const auto value = field(object, "coverage");
  if (!value.is_number()) return "—";
  const double share = value.get<double>();
  const auto seconds = [&object](const char* key) {
    const auto n = field(object, key);
    return n.is_number() ? n.get<double>() : 0.0;
  };
  return ledger::coverage_text(share, seconds("gap_seconds") <= 0 && seconds("partial_seconds") <= 0);
}

void row(std::string_view name, std::string_view value) { fmt::print("  {:<14} {}\n", name, value); }

void print(const Json& answer, const EnergyOptions& options) {
  fmt::print("{} {}  {} to {}, whole UTC hours\n", text(answer, "scope"), options.id, text(answer, "from"),
             text(answer, "to"));
  row("energy", number(field(answer, "energy_kwh"), "kWh"));
  row("exact", text(answer, "energy_uj") == "—" ? "—" : text(answer, "energy_uj") + " uJ");
  row("coverage",
      fmt::format("{}  (gap {}, partial {})", coverage(answer), number(field(answer, "gap_seconds"), "s"),
                  number(field(answer, "partial_seconds"), "s")));
  const bool known = field(answer, "energy_kwh").is_number();
  if (const auto method = field(answer, "method"); known && method.is_object())
    row("method", fmt::format("counter {}, integrated {}", number(field(method, "counter_kwh"), "kWh"),
                              number(field(method, "integrated_kwh"), "kWh")));
  row("quality", known ? text(answer, "quality") : "—");
  if (field(answer, "attribution").is_string()) row("attribution", text(answer, "attribution"));
  if (answer.contains("unattributed_kwh"))
    row("unattributed", known ? number(field(answer, "unattributed_kwh"), "kWh") : "—");
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

/// Refuses what the server would: a wrong flag is a usage error, named as it is on the command line.
void check(const EnergyOptions& options) {
  if (options.id.empty()) usage_error("ID", "is empty: give the id of one");
  const auto time_of = [](const std::string& flag, const std::string& text) {
    const auto at = parse_rfc3339(text);
    if (!at) usage_error(flag, fmt::format("\"{}\" is no RFC 3339 time like 2026-11-29T08:00:00Z", text));
    return *at;
  };
  if (options.range_given && !parse_duration(options.range))
    usage_error("--range",
                fmt::format("\"{}\" is no length of time: give one like 24h or 7d", options.range));
  if (options.from.empty() && !options.to.empty())
    usage_error("--to", "needs --from: give both, or --range alone");
  if (options.from.empty()) return;
  const auto from = time_of("--from", options.from);
  const auto to = options.to.empty() ? os::SystemClock{}.utc_now() : time_of("--to", options.to);
  if (from >= to)
    usage_error("--from", fmt::format("{} is not before {}", options.from,
                                      options.to.empty() ? "now" : "--to " + options.to));
}

std::string range_query(const EnergyOptions& options) {
  std::string query = options.from.empty() ? "range=" + encode_component(options.range)
                                           : "from=" + encode_component(options.from);
  if (!options.to.empty()) query += "&to=" + encode_component(options.to);  // the server's default is now
  if (!options.cluster.empty()) query += "&cluster=" + encode_component(options.cluster);
  return query;
}

Result<Json> get_object(const EnergyOptions& options, const std::string& path) {
  TW_TRY(const auto body, get(options.access, path));
  auto answer = Json::parse(body, nullptr, false);
  if (!answer.is_object())
    return fail(ErrorCode::invalid_input, options.access.url + " is no tidewatt server",
                "give its URL with --server");
  return answer;
}

/// A group's energy is its tasks' sum.
Result<Json> group_answer(const EnergyOptions& options) {
  TW_TRY(auto answer,
         get_object(options, fmt::format("/api/v1/task-groups/{}/efficiency", encode_component(options.id))));
  TW_TRY(const auto tasks,
         get_object(options, fmt::format("/api/v1/tasks?group_id={}&sort=coverage&limit=1000&{}",
                                         encode_component(options.id), range_query(options))));
  const auto sum = field(tasks, "sum");
  answer["scope"] = "task_group";
  answer["id"] = options.id;
  answer["tasks"] = field(tasks, "total");
  for (const char* key : {"energy_kwh", "energy_uj"})
    answer[key] = sum.is_object() ? field(sum, key) : Json(nullptr);
  for (const char* key : {"from", "to"}) answer[key] = field(tasks, key);
  // Tasks run side by side, so their seconds don't add up: the worst of them is told.
  const auto rows = field(tasks, "tasks");
  answer["lowest_coverage"] = rows.is_array() && !rows.empty() ? field(rows[0], "coverage") : Json(nullptr);
  for (const char* key : {"gap_seconds", "partial_seconds"}) {
    std::optional<double> most;
    for (const auto& task : rows)
      if (const auto n = field(task, key); n.is_number()) most = std::max(most.value_or(0), n.get<double>());
    answer[key] = most ? Json(*most) : Json(nullptr);
  }
  return answer;
}

void print_group(const Json& answer, const EnergyOptions& options) {
  fmt::print("task group {}  {} to {}, whole UTC hours\n", options.id, text(answer, "from"),
             text(answer, "to"));
  row("energy", number(field(answer, "energy_kwh"), "kWh"));
  row("exact", text(answer, "energy_uj") == "—" ? "—" : text(answer, "energy_uj") + " uJ");
  const Json worst{{"coverage", field(answer, "lowest_coverage")},
                   {"gap_seconds", field(answer, "gap_seconds")},
                   {"partial_seconds", field(answer, "partial_seconds")}};
  row("coverage", coverage(worst) + "  (the lowest of its tasks)");
  row("tasks", field(answer, "tasks").dump());
  row("tokens/J", number(field(answer, "tokens_per_joule"), "tokens/J"));
  if (!field(answer, "tokens_per_joule").is_number()) row("reason", text(answer, "reason"));
}

int run(const std::string& kind, const EnergyOptions& options) {
  const bool group = kind == "group";
  const auto answer =
      group ? group_answer(options)
            : get_object(options, fmt::format("/api/v1/{}s/{}/energy?{}", kind, encode_component(options.id),
                                              range_query(options)));
  if (!answer) return report("energy", answer.error());
  if (options.json) {
    fmt::print("{}\n", answer->dump(-1, ' ', false, Json::error_handler_t::replace));
  } else if (group) {
    print_group(*answer, options);
  } else {
    print(*answer, options);
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
    auto* range = command->add_option("--range", options->range, "How far back: 1h, 24h, 7d, 30d")
                      ->capture_default_str();
    command->add_option("--from", options->from, "Begin, RFC 3339; totals snap to whole UTC hours")
        ->excludes(range);
    command->add_option("--to", options->to, "End, RFC 3339 (default: now)")->excludes(range);
    command->add_option("--cluster", options->cluster, "The cluster, where an id exists in several");
    command->add_flag("--json", options->json, "Print JSON");
    options->access.add_options(*command);
    command->footer(fmt::format("Example: tidewatt energy {} {} --range 24h", kind,
                                kind == "node"   ? "gpu-a01"
                                : kind == "task" ? "train-7"
                                                 : "llm"));
    command->callback([kind, options, range, &exit_code] {
      options->range_given = range->count() > 0;
      check(*options);
      exit_code = run(kind, *options);
    });
  }
}

}  // namespace tidewatt::cli
