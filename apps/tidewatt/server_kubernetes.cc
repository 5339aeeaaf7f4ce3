#include "server_kubernetes.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "tidewatt/units/text.h"

namespace tidewatt::cli {
namespace {

using config::Kind;
using config::Setting;

constexpr double kMostWatts = 1e7;
constexpr double kMostKwh = 1e12;

Setting weight(const char* path, const char* fallback, const char* help) {
  return Setting{
      .path = path, .kind = Kind::number, .fallback = fallback, .minimum = "0", .maximum = "1", .help = help};
}

bool is_carbon_zone(const ServerArguments& arguments, std::string_view zone) {
  return std::any_of(arguments.carbon.zones.begin(), arguments.carbon.zones.end(),
                     [&](const auto& chain) { return chain.zone == zone; });
}

/// An address that asks nobody who they are. @return nullopt where none is set, or it can't be used
std::optional<Endpoint> open_listener(config::Settings& settings, const ServerArguments& arguments,
                                      const char* path) {
  const auto text = settings.text(path);
  if (text.empty()) return std::nullopt;
  const auto endpoint = parse_endpoint(text);
  if (!endpoint) {
    settings.add_problem(path, endpoint.error().to_string());
    return std::nullopt;
  }
  if (!is_loopback(endpoint->address) && arguments.tls_certificate.empty() &&
      !settings.boolean("insecure_listen"))
    settings.add_problem(
        path, fmt::format("{} is reachable from other machines and there is no TLS: give tls.certificate and "
                          "tls.key, or --insecure-listen where the network is trusted",
                          endpoint->address));
  if (endpoint->port != 0 && endpoint->port == arguments.port)
    settings.add_problem(path,
                         fmt::format("has the port of listen, {}: it asks nobody who they are, so it must be "
                                     "another one",
                                     endpoint->port));
  return *endpoint;
}

void take_listeners(config::Settings& settings, ServerArguments& arguments) {
  arguments.cluster_listen = open_listener(settings, arguments, "kubernetes.listen");
  arguments.keda_listen = open_listener(settings, arguments, "keda.listen");
  const auto& [cluster, keda] = std::tie(arguments.cluster_listen, arguments.keda_listen);
  if (cluster && keda && cluster->port != 0 && cluster->port == keda->port)
    settings.add_problem("keda.listen",
                         fmt::format("has the port of kubernetes.listen, {}: give another one", keda->port));
}

/// Letters, digits and dashes: it becomes part of a metric's name.
bool is_policy_name(std::string_view name) {
  constexpr std::size_t kLongest = 63;
  return !name.empty() && name.size() <= kLongest && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

void take_budgets(config::Settings& settings, k8s::ClusterRules& nodes) {
  if (const auto watts = settings.maybe_number("kubernetes.node_budget_watts"))
    nodes.node_budget = Watts{*watts};
  for (const auto& [node, text] : settings.map("kubernetes.node_budgets_watts")) {
    const auto watts = parse_double(text);
    if (!watts || *watts < 1 || *watts > kMostWatts)
      settings.add_problem("kubernetes.node_budgets_watts",
                           fmt::format("\"{}: {}\" is no power from 1 to 10000000 watts", node, text));
    else
      nodes.node_budgets.insert_or_assign(node, Watts{*watts});
  }
}

void take_zones(config::Settings& settings, const ServerArguments& arguments, k8s::ClusterRules& nodes) {
  for (const auto& [place, zone] : settings.map("kubernetes.zones")) {
    if (!is_carbon_zone(arguments, zone))
      settings.add_problem("kubernetes.zones",
                           fmt::format("\"{}: {}\" names no zone of carbon.zones", place, zone));
    nodes.zone_of.insert_or_assign(place, zone);
  }
}

void take_scores(config::Settings& settings, k8s::ScoreRules& scores) {
  scores.mode =
      settings.text("kubernetes.score_mode") == "fixed" ? k8s::ScoreMode::fixed : k8s::ScoreMode::relative;
  scores.carbon_weight = settings.number("kubernetes.carbon_weight");
  scores.fixed_carbon = settings.number("kubernetes.fixed_carbon_weight");
  scores.fixed_power = settings.number("kubernetes.fixed_power_weight");
  scores.fixed_flexibility = settings.number("kubernetes.fixed_flexibility_weight");
  scores.clean = GramsPerKwh{settings.number("kubernetes.fixed_clean_g_per_kwh")};
  scores.dirty = GramsPerKwh{settings.number("kubernetes.fixed_dirty_g_per_kwh")};
  const double sum = scores.fixed_carbon + scores.fixed_power + scores.fixed_flexibility;
  if (sum > 1 + 1e-9)
    settings.add_problem("kubernetes.fixed_carbon_weight",
                         fmt::format("and the two other fixed weights add up to {}: more than 1 would leave "
                                     "the scores 0 to 10",
                                     format_double(sum)));
  if (scores.clean >= scores.dirty)
    settings.add_problem("kubernetes.fixed_dirty_g_per_kwh",
                         "is not above kubernetes.fixed_clean_g_per_kwh: the scale runs from clean to dirty");
}

void take_admission(config::Settings& settings, api::KubernetesOptions& kubernetes) {
  kubernetes.admission.untouched.insert(settings.text("kubernetes.namespace"));
  kubernetes.admission.default_tolerance =
      k8s::tolerance_from(settings.text("kubernetes.default_tolerance")).value_or(k8s::Tolerance::immediate);
  for (const auto& [team, text] : settings.map("kubernetes.team_quotas_kwh")) {
    const auto kwh = parse_double(text);
    if (!kwh || *kwh <= 0 || *kwh > kMostKwh)
      settings.add_problem("kubernetes.team_quotas_kwh",
                           fmt::format("\"{}: {}\" is no energy above 0 kWh", team, text));
    else
      kubernetes.team_quotas.insert_or_assign(team, WattHours{*kwh * kPerKilo});
  }
}

void take_policies(config::Settings& settings, const ServerArguments& arguments,
                   api::KubernetesOptions& kubernetes) {
  for (const auto& [name, text] : settings.map("keda.policies")) {
    auto policy = k8s::parse_replica_policy(text);
    if (!is_policy_name(name))
      settings.add_problem(
          "keda.policies",
          fmt::format("\"{}\" is no name: use lower-case letters, digits and dashes, at most 63", name));
    else if (!policy)
      settings.add_problem("keda.policies", fmt::format("{}: {}", name, policy.error().to_string()));
    else if (!is_carbon_zone(arguments, policy->zone))
      settings.add_problem("keda.policies",
                           fmt::format("{}: zone={} is no zone of carbon.zones", name, policy->zone));
    else
      kubernetes.policies.insert_or_assign(name, *std::move(policy));
  }
}

}  // namespace

std::vector<Setting> kubernetes_settings() {
  return {
      Setting{.path = "kubernetes.listen",
              .help = "A second address for a cluster's control plane, which can't sign in: it serves /k8s/ "
                      "alone (default: none).",
              .metavar = "HOST:PORT"},
      Setting{.path = "kubernetes.cluster",
              .fallback = "default",
              .help = "The cluster whose scheduler asks, as its agents name it."},
      Setting{.path = "kubernetes.zones",
              .kind = Kind::map,
              .help = "Topology zone or region of nodes -> zone of carbon.zones, like \"eu-central-1a: DE\"; "
                      "what has the carbon zone's own name needs no line."},
      Setting{
          .path = "kubernetes.node_budget_watts",
          .kind = Kind::number,
          .minimum = "1",
          .maximum = "10000000",
          .help = "Power budget of each node: more of it left scores higher, at it a node takes no pods."},
      Setting{.path = "kubernetes.node_budgets_watts",
              .kind = Kind::map,
              .help = "Node -> its own power budget in watts."},
      Setting{.path = "kubernetes.score_mode",
              .kind = Kind::choice,
              .fallback = "relative",
              .choices = {"relative", "fixed"},
              .help = "Carbon between the candidates (relative), or on a fixed scale."},
      weight("kubernetes.carbon_weight", "0.6",
             "relative: carbon's part of the score at full flexibility; power has the rest."),
      weight("kubernetes.fixed_carbon_weight", "0.4", "fixed: carbon's part of the score."),
      weight("kubernetes.fixed_power_weight", "0.3", "fixed: the power budget's part."),
      weight("kubernetes.fixed_flexibility_weight", "0.3", "fixed: the part of the pod's flexibility."),
      Setting{.path = "kubernetes.fixed_clean_g_per_kwh",
              .kind = Kind::number,
              .fallback = "20",
              .minimum = "0",
              .maximum = "5000",
              .help = "fixed: the intensity at which carbon's part is whole."},
      Setting{.path = "kubernetes.fixed_dirty_g_per_kwh",
              .kind = Kind::number,
              .fallback = "800",
              .minimum = "0",
              .maximum = "5000",
              .help = "fixed: the intensity at which carbon's part is nothing."},
      Setting{.path = "kubernetes.namespace",
              .fallback = "tidewatt",
              .help = "The namespace that this server runs in: webhooks leave it alone."},
      Setting{.path = "kubernetes.default_tolerance",
              .kind = Kind::choice,
              .fallback = "immediate",
              .choices = {"immediate", "daily", "weekly", "monthly"},
              .help = "carbon-tolerance of Jobs' pods that say none, in namespaces that opted in."},
      Setting{.path = "kubernetes.team_quotas_kwh",
              .kind = Kind::map,
              .help = "Team -> energy of a calendar month beyond which its new pods and Jobs are refused."},
      Setting{
          .path = "market.carry_percent",
          .kind = Kind::number,
          .fallback = "0",
          .minimum = "0",
          .maximum = "100",
          .help =
              "How much of a team's carbon budget that is left goes on to the next month; the rest expires."},
      Setting{.path = "market.matching",
              .kind = Kind::choice,
              .fallback = "continuous",
              .choices = {"continuous", "daily_call"},
              .help = "Offers and bids meet at once, or at 00:00 UTC at one price for all."},
      Setting{.path = "market.currency", .fallback = "EUR", .help = "What teams' money is called."},
      Setting{.path = "keda.listen",
              .help = "Address of KEDA's external scaler over gRPC, which can't sign in, like 127.0.0.1:7312 "
                      "(default: none).",
              .metavar = "HOST:PORT"},
      Setting{.path = "keda.policies",
              .kind = Kind::map,
              .help = "Name -> how many replicas an intensity allows, like \"zone=DE min=1 "
                      "steps=150:20,250:10,350:4 schedule=0-6:20,6-22:4\"."},
  };
}

void take_kubernetes(config::Settings& settings, ServerArguments& arguments) {
  auto& kubernetes = arguments.api.kubernetes;
  take_listeners(settings, arguments);
  kubernetes.cluster = settings.text("kubernetes.cluster");
  take_budgets(settings, kubernetes.nodes);
  take_zones(settings, arguments, kubernetes.nodes);
  take_scores(settings, kubernetes.scores);
  take_admission(settings, kubernetes);
  take_policies(settings, arguments, kubernetes);
  auto& market = arguments.api.market;
  market.carry_percent = static_cast<int>(settings.number("market.carry_percent"));
  market.daily_call = settings.text("market.matching") == "daily_call";
  market.currency = settings.text("market.currency");
}

}  // namespace tidewatt::cli
