#include "tidewatt/k8s/cluster_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidewatt::k8s {

ClusterView::ClusterView(ClusterRules rules, const std::vector<NodeFacts>& nodes, Intensities intensities)
    : rules_(std::move(rules)), zones_(std::move(intensities)) {
  nodes_.reserve(nodes.size());
  for (const auto& facts : nodes) {
    Node node{{}, facts.power, budget_of(facts.name)};
    if (const auto* known = zone(Place{facts.zone, facts.region}); known != nullptr)
      node.candidate.intensity = known->second;
    if (node.power && node.budget)
      node.candidate.power_left = std::clamp(1 - *node.power / *node.budget, 0.0, 1.0);
    const auto number = names_.add(facts.name);
    if (number == nodes_.size())
      nodes_.push_back(node);
    else
      nodes_[number] = node;
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

Candidate ClusterView::candidate(std::string_view name, const Place& place) const {
  const auto number = names_.find(name);
  Candidate candidate = number ? nodes_[*number].candidate : Candidate{};
  if (const auto* told = zone(place); told != nullptr) candidate.intensity = told->second;
  return candidate;
}

std::optional<std::string> ClusterView::refusal(std::string_view name) const {
  const auto number = names_.find(name);
  if (!number) return std::nullopt;
  const auto& node = nodes_[*number];
  if (!node.power || !node.budget || *node.power < *node.budget) return std::nullopt;
  return fmt::format("power budget reached: {:.0f} W of {:.0f} W", node.power->value(), node.budget->value());
}

}  // namespace tidewatt::k8s
