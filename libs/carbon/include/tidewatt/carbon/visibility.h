// Who sees absolute carbon: one rule for tasks, nodes, the dashboard, reports and the API.
#pragma once

#include <string_view>

#include "tidewatt/carbon/factor.h"

namespace tidewatt::carbon {

enum class Viewer { platform_operator, other };

struct CarbonView {
  bool visible = false;
  bool placeholder = false;        ///< visible, but to be marked "placeholder factor, not authoritative"
  std::string_view hidden_reason;  ///< a code when not visible, else empty
};

/// | factor configured | viewer            | sees                          |
/// | yes               | anyone            | value, factor, source         |
/// | no                | platform operator | reference value, marked       |
/// | no                | anyone else       | nothing, and the reason       |
/// That the viewer may see the energy itself is checked elsewhere.
CarbonView carbon_view(const Factor& factor, Viewer viewer);

}  // namespace tidewatt::carbon
