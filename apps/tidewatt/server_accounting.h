// The settings of accounting and money: what an operator states beside the emission factor.
#pragma once

#include <vector>

#include "server_settings.h"

namespace tidewatt::cli {

/// What the settings table has under "accounting." and "money.".
std::vector<config::Setting> accounting_settings();
/// Fills arguments.api.accounting; what is wrong becomes a problem of `settings`.
void take_accounting(config::Settings& settings, ServerArguments& arguments, const FileSystem& files);

}  // namespace tidewatt::cli
