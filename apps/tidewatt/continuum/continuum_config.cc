// yaml-cpp reports by exception: it is wrapped here.
#include "continuum_config.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>

#include "tidewatt/net/client.h"
#include "tidewatt/popol/actuator.h"

namespace tidewatt::cli {
namespace {

tl::unexpected<Error> bad(const std::string& what, std::string hint) {
  return fail(ErrorCode::invalid_input, what, std::move(hint));
}

Status only(const YAML::Node& node, const std::string& where, const std::set<std::string>& known) {
  if (!node.IsMap()) return bad(where + " is no map", "see docs/operate/continuum.md");
  for (const auto& entry : node)
    if (!known.contains(entry.first.as<std::string>())) {
      std::string all;
      for (const auto& one : known) all += (all.empty() ? "" : ", ") + one;
      return bad(fmt::format("{}: \"{}\" is no key", where, entry.first.as<std::string>()),
                 "there are: " + all);
    }
  return {};
}

template <class T>
void take(const YAML::Node& node, const char* key, T& value) {
  if (node[key]) value = node[key].as<T>();
}

Result<ContinuumService> service_of(const YAML::Node& node) {
  TW_TRY_STATUS(only(node, "services", {"name", "url", "price", "load_metric", "load_above"}));
  ContinuumService service;
  take(node, "name", service.name);
  take(node, "url", service.url);
  take(node, "price", service.price);
  take(node, "load_metric", service.load_metric);
  take(node, "load_above", service.load_above);
  if (service.name.empty()) return bad("a service without a name", "write name: shop");
  if (const auto problem = net::server_url_problem(service.url); !problem.empty())
    return bad(fmt::format("service {}: url: {}", service.name, problem), "write url: http://127.0.0.1:8000");
  if (!std::ranges::is_sorted(service.load_above) ||
      (!service.load_above.empty() && service.load_metric.empty()))
    return bad(fmt::format("service {}: load_above", service.name), "rising numbers, with load_metric");
  return service;
}

Result<ContinuumKnob> knob_of(const YAML::Node& node) {
  TW_TRY_STATUS(
      only(node, "knobs", {"name", "kind", "target", "parameter", "levels", "services", "switch_grams"}));
  ContinuumKnob knob;
  take(node, "name", knob.name);
  take(node, "kind", knob.kind);
  take(node, "target", knob.target);
  take(node, "parameter", knob.parameter);
  take(node, "levels", knob.levels);
  take(node, "services", knob.services);
  take(node, "switch_grams", knob.switch_grams);
  if (knob.kind == "devol") {
    if (knob.parameter.empty())
      return bad(fmt::format("knob {}: no parameter", knob.name), "name one of the service's spec");
  } else if (!popol::file_kind(knob.kind))
    return bad(
        fmt::format("knob {}: kind \"{}\"", knob.name, knob.kind),
        "there are devol, rapl_power_w, cpu_frequency_mhz, cgroup_cpus, cgroup_memory_mib, cgroup_freeze");
  if (knob.name.empty() || knob.target.empty()) return bad("a knob without name or target", "write both");
  auto sorted = knob.levels;
  std::ranges::sort(sorted);
  if (knob.levels.size() < 2 || std::ranges::adjacent_find(sorted) != sorted.end())
    return bad(fmt::format("knob {}: levels", knob.name),
               "two or more different numbers, from thrifty to generous");
  return knob;
}

Status take_hours(const YAML::Node& node, ContinuumConfig& config) {
  std::vector<int> hours;
  take(node, "try_hours_utc", hours);
  if (hours.empty()) return {};
  if (hours.size() != 2 || hours[0] < 0 || hours[1] > 24 || hours[0] >= hours[1])
    return bad("try_hours_utc", "write for example [1, 5]");
  config.try_hours = {{hours[0], hours[1]}};
  return {};
}

/// What conditions may name.
bool is_signal(const ContinuumConfig& config, const std::string& name) {
  if (name == "ci_g_per_kwh" || name == "power_w") return true;
  for (const auto& service : config.services)
    if (name == "load." + service.name || name == "violated." + service.name) return true;
  return false;
}

Result<continuum::Rule> rule_of(const YAML::Node& node, const ContinuumConfig& config) {
  TW_TRY_STATUS(only(node, "rules", {"when", "set"}));
  continuum::Rule rule;
  for (const auto& text : node["when"]) {
    TW_TRY(auto condition, continuum::parse_condition(text.as<std::string>()));
    if (!is_signal(config, condition.signal))
      return bad(fmt::format("rules: \"{}\" is no signal", condition.signal),
                 "there are ci_g_per_kwh, power_w, and load.SERVICE and violated.SERVICE (0 or 1)");
    rule.when.push_back(std::move(condition));
  }
  for (const auto& entry : node["set"]) {
    const auto knob = std::ranges::find(config.knobs, entry.first.as<std::string>(), &ContinuumKnob::name);
    if (knob == config.knobs.end())
      return bad(fmt::format("rules: no knob {}", entry.first.as<std::string>()), "name one of the file");
    const auto level = std::ranges::find(knob->levels, entry.second.as<double>());
    if (level == knob->levels.end())
      return bad(fmt::format("rules: {} is no level of {}", entry.second.as<double>(), knob->name),
                 "set one of its levels");
    rule.set.emplace_back(static_cast<std::size_t>(knob - config.knobs.begin()),
                          static_cast<std::size_t>(level - knob->levels.begin()));
  }
  if (rule.when.empty() || rule.set.empty())
    return bad("a rule without when or set",
               "write when: [\"load.shop < 10 for 30m\"] and set: {workers: 1}");
  return rule;
}

Status take_top(const YAML::Node& node, ContinuumConfig& config) {
  TW_TRY_STATUS(only(node, "the file",
                     {"mode", "journal", "host_root", "period", "zone", "signal_file", "signal_column",
                      "power", "power_w", "grams_per_violation", "try_hours_utc", "guard_periods",
                      "block_periods", "delta", "services", "knobs", "policy", "rules"}));
  std::string mode = "observe", period = "10s", policy = "engine";
  take(node, "mode", mode);
  if (mode != "observe" && mode != "suggest" && mode != "auto")
    return bad(fmt::format("mode \"{}\"", mode), "there are observe, suggest and auto");
  config.mode = mode == "auto"      ? ContinuumMode::automatic
                : mode == "suggest" ? ContinuumMode::suggest
                                    : ContinuumMode::observe;
  take(node, "policy", policy);
  if (policy != "engine" && policy != "rules")
    return bad(fmt::format("policy \"{}\"", policy), "there are engine and rules");
  config.by_rules = policy == "rules";
  take(node, "period", period);
  const auto parsed = parse_duration(period);
  if (!parsed || *parsed < Milliseconds{200} || *parsed > Milliseconds{3'600'000})
    return bad("period " + period, "200ms to 1h, such as 10s");
  config.period = *parsed;
  take(node, "journal", config.journal);
  if (config.journal.empty() || config.journal.front() != '/')
    return bad("journal", "the absolute path of a file, such as /var/lib/tidewatt/continuum.jsonl");
  take(node, "host_root", config.host_root);
  take(node, "zone", config.zone);
  take(node, "signal_file", config.signal_file);
  take(node, "signal_column", config.signal_column);
  take(node, "power_w", config.power_w);
  if (node["grams_per_violation"]) config.grams_per_violation = node["grams_per_violation"].as<double>();
  take(node, "guard_periods", config.guard_periods);
  take(node, "block_periods", config.block_periods);
  take(node, "delta", config.delta);
  if (const auto power = node["power"]) {
    TW_TRY_STATUS(only(power, "power", {"service", "metric"}));
    take(power, "service", config.power_service);
    take(power, "metric", config.power_metric);
  }
  return take_hours(node, config);
}

Status check_names(const ContinuumConfig& config) {
  std::set<std::string> services, knobs;
  for (const auto& one : config.services)
    if (!services.insert(one.name).second)
      return bad("two services named " + one.name, "give each a name of its own");
  for (const auto& one : config.knobs) {
    if (!knobs.insert(one.name).second)
      return bad("two knobs named " + one.name, "give each a name of its own");
    if (one.kind == "devol" && !services.contains(one.target))
      return bad(fmt::format("knob {}: no service {}", one.name, one.target), "name a service of the file");
    for (const auto& service : one.services)
      if (!services.contains(service))
        return bad(fmt::format("knob {}: no service {}", one.name, service), "name services of the file");
  }
  if (!config.power_metric.empty() && !services.contains(config.power_service))
    return bad("power.service", "name a service of the file");
  return {};
}

Result<ContinuumConfig> config_of(const YAML::Node& root) {
  ContinuumConfig config;
  TW_TRY_STATUS(take_top(root, config));
  for (const auto& one : root["services"]) {
    TW_TRY(auto service, service_of(one));
    config.services.push_back(std::move(service));
  }
  for (const auto& one : root["knobs"]) {
    TW_TRY(auto knob, knob_of(one));
    config.knobs.push_back(std::move(knob));
  }
  if (config.services.empty() || config.knobs.empty())
    return bad("no services or no knobs", "see docs/operate/continuum.md");
  TW_TRY_STATUS(check_names(config));
  for (const auto& one : root["rules"]) {
    TW_TRY(auto rule, rule_of(one, config));
    config.rules.push_back(std::move(rule));
  }
  if (config.by_rules && config.rules.empty()) return bad("policy rules, and no rules", "write rules");
  return config;
}

}  // namespace

Result<ContinuumConfig> parse_continuum_config(const std::string& text) {
  try {
    return config_of(YAML::Load(text));
  } catch (const YAML::Exception& error) {
    return bad(fmt::format("line {}: {}", error.mark.line + 1, error.msg), "see docs/operate/continuum.md");
  }
}

}  // namespace tidewatt::cli
