// Whatever stands in energy.zone_factors and carbon.zones: no crash, one-line errors, and what is taken can
// be a factor or a chain of one identity.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tidewatt/carbon/chain_settings.h"
#include "tidewatt/carbon/factor_table.h"
#include "tidewatt/carbon/signal_book.h"

namespace {

void one_line(const tidewatt::Error& error) {
  if (error.to_string().find('\n') != std::string::npos) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidewatt::carbon;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  FactorTable table;
  if (const auto added = table.add(text); !added) {
    one_line(added.error());
    if (!table.empty()) std::abort();
  } else {
    // The same zone and year are there already.
    if (table.empty() || table.add(text)) std::abort();
  }
  const auto chain = parse_chain("ZONE", text);
  if (!chain) {
    one_line(chain.error());
    return 0;
  }
  if (chain->providers.empty()) std::abort();
  for (const auto& provider : chain->providers)
    if (!same_series(provider.identity, chain->identity) || provider.identity.zone != "ZONE") std::abort();
  return 0;
}
