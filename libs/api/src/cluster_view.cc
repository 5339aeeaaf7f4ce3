// What schedulers' questions need of the ledger and the signals, looked at now and then: a question must not
// wait for a store.
#include "core.h"
#include "node_view.h"
#include "tidewatt/base/log.h"
#include "tidewatt/carbon/signals.h"

namespace tidewatt::api {
namespace {

/// Longer than the server's own round, so that questions seldom have to look themselves.
constexpr Milliseconds kOldestClusterView{15'000};

std::string label_of(const ledger::NodeInfo& node, std::string_view name) {
  for (const auto& [key, value] : node.labels)
    if (key == name) return value;
  return {};
}

/// The labels of a Kubernetes node, where its agent sends them, are the words a scheduler would use.
k8s::NodeFacts facts_of(const ledger::NodeInfo& node, UtcTime now, Milliseconds silent_after) {
  k8s::NodeFacts facts;
  facts.name = node.key.node_id;
  // A sum that lacks a device would make the node look emptier than it is.
  if (const auto power = power_now(node, now, silent_after); power.known == power.total)
    facts.power = power.power;
  const auto zone = label_of(node, "topology.kubernetes.io/zone");
  const auto region = label_of(node, "topology.kubernetes.io/region");
  facts.zone = zone.empty() ? node.zone : zone;
  facts.region = region.empty() ? node.region : region;
  return facts;
}

/// What stands in for a value that a provider owes is good for planning ahead, not for choosing a node now.
std::optional<GramsPerKwh> dependable(const carbon::ChainDecision& decision) {
  if (!decision.value || !decision.degraded_reason.empty()) return std::nullopt;
  return decision.value->point.intensity;
}

}  // namespace

void Core::renew_cluster_view() {
  std::vector<k8s::NodeFacts> facts;
  const auto nodes = store.nodes();
  const bool was_blind = cluster_view_blind.exchange(!nodes);
  if (nodes) {
    const auto now = clock.utc_now();
    for (const auto& node : *nodes)
      if (node->key.cluster == options.kubernetes.cluster)
        facts.push_back(facts_of(*node, now, options.silent_after));
  } else if (!was_blind) {
    // Nodes' power is unknown then, and carbon still counts.
    log::warning("schedulers are answered without the nodes' power: the ledger can't be read",
                 {{"error", nodes.error().to_string()}});
  }
  k8s::Intensities intensities;
  if (options.signals)
    for (const auto& zone : options.signals->zones())
      if (zone.identity.zone) intensities.insert_or_assign(*zone.identity.zone, dependable(zone.decision));
  auto made =
      std::make_shared<const k8s::ClusterView>(options.kubernetes.nodes, facts, std::move(intensities));
  const std::scoped_lock lock{cluster_view_mutex};
  cached_cluster_view = std::move(made);
  cluster_view_at = clock.mono_now();
}

std::shared_ptr<const k8s::ClusterView> Core::cluster_view() {
  const auto cached = [this]() -> std::shared_ptr<const k8s::ClusterView> {
    const std::scoped_lock lock{cluster_view_mutex};
    const bool holds = cached_cluster_view && clock.mono_now() - cluster_view_at <= kOldestClusterView;
    return holds ? cached_cluster_view : nullptr;
  };
  if (auto view = cached()) return view;
  renew_cluster_view();
  const std::scoped_lock lock{cluster_view_mutex};
  return cached_cluster_view;
}

}  // namespace tidewatt::api
