#include "tidewatt/k8s/cluster_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidewatt::k8s {

ClusterView::ClusterView(ClusterRules rules, const std::vector<NodeFacts>& nodes, Intensities intensities)
    : rules_(std::move(rules)), zones_(std::move(intensities)) {
  nodes_.reserve(nodes.size());
  for (const auto& node : nodes) {
    const auto* known = zone(Place{node.zone, node.region});
    nodes_.insert_or_assign(node.name, Node{node.power, known != nullptr ? known->second : std::nullopt});
  }
}

const ClusterView::Zone* ClusterView::zone(std::string_view name) const {
  if (name.empty()) return nullptr;
  const auto mapped = rules_.zone_of.find(name);
  const auto known = zones_.find(mapped == rules_.zone_of.end() ? name : mapped->second);
  return known == zones_.end() ? nullptr : &*known;
}

const ClusterView::Zone* ClusterView::zone(const Place& place) const {
  const auto* by_zone = zone(place.zone);
  return by_zone != nullptr ? by_zone : zone(place.region);
}

std::optional<std::string> ClusterView::carbon_zone(std::string_view name) const {
  const auto* known = zone(name);
  return known == nullptr ? std::nullopt : std::optional{known->first};
}

std::optional<Watts> ClusterView::budget_of(std::string_view node) const {
  const auto own = rules_.node_budgets.find(node);
  return own == rules_.node_budgets.end() ? rules_.node_budget : std::optional{own->second};
}

Candidate ClusterView::candidate(std::string_view node, const Place& place) const {
  Candidate candidate;
  const auto known = nodes_.find(node);
  if (const auto* told = zone(place); told != nullptr)
    candidate.intensity = told->second;
  else if (known != nodes_.end())
    candidate.intensity = known->second.intensity;
  const auto budget = budget_of(node);
  if (budget && known != nodes_.end() && known->second.power)
    candidate.power_left = std::clamp(1 - *known->second.power / *budget, 0.0, 1.0);
  return candidate;
}

std::optional<std::string> ClusterView::refusal(std::string_view node) const {
  const auto budget = budget_of(node);
  const auto known = nodes_.find(node);
  if (!budget || known == nodes_.end() || !known->second.power || *known->second.power < *budget)
    return std::nullopt;
  return fmt::format("power budget reached: {:.0f} W of {:.0f} W", known->second.power->value(),
                     budget->value());
}

}  // namespace tidewatt::k8s
