// Factors that authorities published, as data to choose from. None is in force until the operator sets it.
#pragma once

#include <span>
#include <string_view>

#include "tidewatt/carbon/factor.h"

namespace tidewatt::carbon {

/// Factors of different kinds are never interchangeable, not even of one region and year.
enum class FactorKind {
  average,            ///< all generation of the grid: location-based inventories
  residual,           ///< without what was sold as clean: the market-based rest
  marginal,           ///< what a change of load changes: decisions, never inventories
  fossil_only,        ///< fossil generation alone
  ets_compliance,     ///< fixed for reports to a carbon market, not a grid's average
  lifecycle_average,  ///< upstream included: product footprints, not Scope 2
};
std::string_view to_string(FactorKind kind);
/// What a factor of this kind is for, in one line.
std::string_view use_of(FactorKind kind);

struct PublishedFactor {
  std::string_view region;  ///< "CN", "CN-BJ", "CN-GRID-EAST"
  int year;                 ///< of the data, often two before it was published
  std::string_view scope;   ///< country, national, regional, provincial, subregion
  KilogramsPerKwh value;
  FactorKind kind;
  std::string_view publisher;
  std::string_view document;
  std::string_view published_on;  ///< ISO date, empty if unknown
  std::string_view gas;           ///< "co2", "co2e" or "unknown"
  bool single_copy;               ///< read from one copy only: compare with the document before use
};

/// By region as compiled; all of one region stand together.
std::span<const PublishedFactor> published_factors();

}  // namespace tidewatt::carbon
