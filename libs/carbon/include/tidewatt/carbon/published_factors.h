// Factors that authorities published, as data to choose from. None is in force until the operator sets it.
#pragma once

#include <span>
#include <string_view>

#include "tidewatt/carbon/factor.h"

namespace tidewatt::carbon {

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
