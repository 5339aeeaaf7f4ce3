#include "tidewatt/carbon/published_factors.h"

#include <array>

namespace tidewatt::carbon {
namespace {

constexpr auto kFactors = std::to_array<PublishedFactor>({
#include "published_factors.inc"
});

}  // namespace

std::string_view to_string(FactorKind kind) {
  switch (kind) {
    case FactorKind::average:
      return "average";
    case FactorKind::residual:
      return "residual";
    case FactorKind::marginal:
      return "marginal";
    case FactorKind::fossil_only:
      return "fossil_only";
    case FactorKind::ets_compliance:
      return "ets_compliance";
    case FactorKind::lifecycle_average:
      return "lifecycle_average";
  }
  return "average";
}

std::string_view use_of(FactorKind kind) {
  switch (kind) {
    case FactorKind::average:
      return "location-based inventories";
    case FactorKind::residual:
      return "market-based: what no contract covers";
    case FactorKind::marginal:
      return "decisions only, never inventories";
    case FactorKind::fossil_only:
      return "fossil generation alone, never a grid average";
    case FactorKind::ets_compliance:
      return "carbon-market reports ONLY, not the national average";
    case FactorKind::lifecycle_average:
      return "footprints of products, not Scope 2";
  }
  return {};
}

std::span<const PublishedFactor> published_factors() { return kFactors; }

}  // namespace tidewatt::carbon
