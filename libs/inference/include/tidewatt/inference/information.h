// Information about states from all outcomes at once, where every modality sees every factor.
#pragma once

#include <vector>

#include "tidewatt/inference/agent.h"

namespace tidewatt::inference {

/// Of each policy, as older reference programs count it (outcomes of all modalities jointly, compat guards).
/// Empty where a modality doesn't see all factors, or where it would take more than about 4e9 operations. For
/// reports.
std::vector<double> joint_state_information(const Agent& agent);

}  // namespace tidewatt::inference
