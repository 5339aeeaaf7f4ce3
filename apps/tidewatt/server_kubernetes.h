// The settings of a Kubernetes cluster that asks this server where and when work should run.
#pragma once

#include <vector>

#include "server_settings.h"

namespace tidewatt::cli {

/// What the settings table has under "kubernetes." and "keda.".
std::vector<config::Setting> kubernetes_settings();
/// Fills arguments.api.kubernetes and the two listeners; what is wrong becomes a problem of
/// `settings`.
void take_kubernetes(config::Settings& settings, ServerArguments& arguments);

}  // namespace tidewatt::cli
