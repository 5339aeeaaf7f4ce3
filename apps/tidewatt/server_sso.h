// The settings of sign-in through an OpenID Connect issuer.
#pragma once

#include <vector>

#include "server_settings.h"
#include "tidewatt/config/settings.h"

namespace tidewatt::cli {

/// What the settings table has under "oidc.".
std::vector<config::Setting> sso_settings();
/// Fills arguments.api.sso when oidc.issuer is given; what is wrong becomes a problem of `settings`.
void take_sso(config::Settings& settings, ServerArguments& arguments, const FileSystem& files);

}  // namespace tidewatt::cli
