#include "tidewatt/carbon/visibility.h"

namespace tidewatt::carbon {

CarbonView carbon_view(const Factor& factor, Viewer viewer) {
  if (factor.configured) return {true, false, {}};
  if (viewer == Viewer::platform_operator) return {true, true, {}};
  return {false, false, "no_factor_configured"};
}

}  // namespace tidewatt::carbon
