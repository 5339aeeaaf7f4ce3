// A zone's chain of providers as an operator writes it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/carbon/signal.h"

namespace tidewatt::carbon {

struct ProviderSettings {
  std::string provider;     ///< "electricitymaps", "csv", "static", "peer", "onsite", ...
  std::string zone;         ///< as the provider calls it
  SeriesIdentity identity;  ///< what its answers are; zone = ours
  std::map<std::string, std::string, std::less<>> options;  ///< url, file, column, g, grid, solar_g, wind_g
};

struct ChainSettings {
  std::string zone;
  SeriesIdentity identity;
  std::vector<ProviderSettings> providers;  ///< in the order they are asked; at least one
};

/// Providers parted by commas, each a name and options: "electricitymaps boundary=direct, csv
/// file=/etc/de.csv column=ci boundary=direct basis=consumption". Options: zone= (the provider's name for
/// it), kind=, boundary=, basis=, and those of the provider. Providers whose answers say what they are need
/// none.
/// @error invalid_input  an unknown provider, option or value; one missing; a provider of another identity
/// than the
///                       first one's
Result<ChainSettings> parse_chain(std::string_view zone, std::string_view text);

}  // namespace tidewatt::carbon
