#include "tidewatt/remote_write/mapping.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

namespace tidewatt::remote_write {
namespace {

struct EnergyRule {
  std::string_view metric;
  Family family;
  std::string_view domain;
  bool counter;
  double scale;
  std::string_view index_label;
};

constexpr std::array kEnergyRules{
    EnergyRule{"DCGM_FI_DEV_POWER_USAGE", Family::dcgm, "gpu", false, 1, "gpu"},
    EnergyRule{"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", Family::dcgm, "gpu", true, 1e-3, "gpu"},  // mJ
    EnergyRule{"kepler_node_package_joules_total", Family::kepler, "cpu_package", true, 1, "package"},
    EnergyRule{"kepler_node_dram_joules_total", Family::kepler, "dram", true, 1, "package"},
    EnergyRule{"node_rapl_package_joules_total", Family::node_rapl, "cpu_package", true, 1, "index"},
    EnergyRule{"node_rapl_dram_joules_total", Family::node_rapl, "dram", true, 1, "index"},
};

struct TokenRule {
  std::string_view metric;
  TokenSide side;
};

constexpr std::array kTokenRules{
    TokenRule{"vllm:prompt_tokens_total", TokenSide::prompt},
    TokenRule{"vllm:generation_tokens_total", TokenSide::completion},
    TokenRule{"tgi_request_input_length_sum", TokenSide::prompt},
    TokenRule{"tgi_request_generated_tokens_sum", TokenSide::completion},
    TokenRule{"sglang:prompt_tokens_total", TokenSide::prompt},
    TokenRule{"sglang:generation_tokens_total", TokenSide::completion},
};

/// The first of these labels that is there.
std::string_view first_of(const Series& series, std::initializer_list<std::string_view> names) {
  for (const auto name : names)
    if (const auto value = series.label(name); !value.empty()) return value;
  return {};
}

/// "host:9100" -> "host", "[::1]:9100" -> "[::1]"; the machine a Prometheus runs on is nobody's name.
std::string_view host_of(std::string_view instance) {
  const auto host = instance.substr(0, instance.rfind(':'));
  return host == "localhost" || host == "[::1]" || host.starts_with("127.") ? std::string_view{} : host;
}

std::string node_of(const Series& series) {
  const auto named = first_of(series, {"Hostname", "node", "node_name", "nodename", "kubernetes_node"});
  if (!named.empty()) return std::string{named};
  return std::string{host_of(first_of(series, {"exported_instance", "instance"}))};
}

/// The pod a figure is about, not the exporter's own: that is what "exported_" tells apart.
std::string task_of(const Series& series) {
  if (const auto task = series.label("task_id"); !task.empty()) return std::string{task};
  const bool exported = !series.label("exported_pod").empty();
  const auto pod = series.label(exported ? "exported_pod" : "pod");
  const auto space = series.label(exported ? "exported_namespace" : "namespace");
  if (pod.empty() || space.empty()) return {};
  return std::string{space} + "/" + std::string{pod};
}

std::string cluster_of(const Series& series) {
  const auto cluster = series.label("cluster");
  return cluster.empty() ? "default" : std::string{cluster};
}

/// Trailing digits: "0", "nvidia0", "package-1".
int index_of(std::string_view text) {
  constexpr int kMost = 4096;
  const auto digits = text.find_last_not_of("0123456789");
  const auto number = digits == std::string_view::npos ? text : text.substr(digits + 1);
  int index = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), index);
  return error == std::errc{} && index >= 0 && index <= kMost ? index : 0;
}

EnergySeries energy_series(const Series& series, const EnergyRule& rule) {
  EnergySeries out;
  out.family = rule.family;
  out.cluster = cluster_of(series);
  out.node = node_of(series);
  out.domain = rule.domain;
  out.index = index_of(series.label(rule.index_label));
  out.uuid = first_of(series, {"UUID", "uuid"});
  out.model = series.label("modelName");
  out.counter = rule.counter;
  out.scale = rule.scale;
  if (rule.family == Family::kepler) out.part = series.label("mode");
  if (rule.family == Family::dcgm) out.task_id = task_of(series);
  return out;
}

/// What tells the replicas of a pair of Prometheus apart doesn't tell counters apart.
bool is_replica(std::string_view name) {
  return name == "__replica__" || name == "replica" || name == "prometheus_replica" || name == "prometheus";
}

TokenSeries token_series(const Series& series, const TokenRule& rule) {
  TokenSeries out{
      rule.side, cluster_of(series), task_of(series), std::string{series.label("task_group")}, {}};
  auto labels = series.labels;
  std::sort(labels.begin(), labels.end());
  for (const auto& [name, value] : labels)
    // With their lengths: no choice of bytes makes two sets of labels the same text.
    if (!is_replica(name))
      out.identity += std::to_string(name.size()) + ":" + name + std::to_string(value.size()) + ":" + value;
  return out;
}

}  // namespace

std::string_view to_string(Family family) {
  switch (family) {
    case Family::dcgm:
      return "dcgm";
    case Family::kepler:
      return "kepler";
    case Family::node_rapl:
      return "node_rapl";
  }
  return "";
}

Meaning meaning_of(const Series& series) {
  const auto metric = series.label("__name__");
  for (const auto& rule : kEnergyRules)
    if (rule.metric == metric) return energy_series(series, rule);
  for (const auto& rule : kTokenRules)
    if (rule.metric == metric) return token_series(series, rule);
  return std::monostate{};
}

}  // namespace tidewatt::remote_write
