// A cluster's nodes as a scheduler's question needs them: what each draws, what it may draw, and how clean
// its zone's energy is. Made anew every few seconds, read by many at once.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/k8s/name_table.h"
#include "tidewatt/k8s/placement.h"
#include "tidewatt/units/quantity.h"

namespace tidewatt::k8s {

/// Where a node stands, in the cluster's words; empty = not told.
struct Place {
  std::string_view zone;    ///< label topology.kubernetes.io/zone
  std::string_view region;  ///< label topology.kubernetes.io/region
};

/// What the ledger knows of a node now.
struct NodeFacts {
  std::string name;
  std::optional<Watts> power;  ///< measured; nullopt when it isn't known now
  std::string zone;
  std::string region;
};

struct ClusterRules {
  std::optional<Watts> node_budget;                         ///< of each node without one of its own; > 0
  std::map<std::string, Watts, std::less<>> node_budgets;   ///< by node name; > 0
  std::map<std::string, std::string, std::less<>> zone_of;  ///< topology zone or region -> carbon zone
};

/// By carbon zone; nullopt = degraded or off: it isn't used.
using Intensities = std::map<std::string, std::optional<GramsPerKwh>, std::less<>>;

/// Immutable. Zones that aren't in the map may have a carbon zone's own name.
class ClusterView {
 public:
  ClusterView(ClusterRules rules, const std::vector<NodeFacts>& nodes, Intensities intensities);

  /// A node as a candidate. `place` as the scheduler tells it wins over what the node's agent says.
  [[nodiscard]] Candidate candidate(std::string_view node, const Place& place) const;
  /// Why the node may take no more work: its measured power has reached its budget. nullopt = it may, also
  /// where either isn't known.
  [[nodiscard]] std::optional<std::string> refusal(std::string_view node) const;
  /// The carbon zone of a topology zone, region or carbon zone; nullopt = there is none.
  [[nodiscard]] std::optional<std::string> carbon_zone(std::string_view name) const;

 private:
  struct Node {
    Candidate candidate;  ///< by what its agent says
    std::optional<Watts> power;
    std::optional<Watts> budget;
  };
  using Zone = Intensities::value_type;
  [[nodiscard]] const Zone* zone(std::string_view name) const;
  [[nodiscard]] const Zone* zone(const Place& place) const;
  [[nodiscard]] std::optional<Watts> budget_of(std::string_view node) const;

  ClusterRules rules_;
  Intensities zones_;
  NameTable names_;
  std::vector<Node> nodes_;  ///< by number of its name
};

}  // namespace tidewatt::k8s
