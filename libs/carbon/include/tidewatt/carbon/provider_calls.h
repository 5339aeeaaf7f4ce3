// Which URL answers what, per provider. Pure: settings in, request out.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tidewatt/carbon/chain_settings.h"
#include "tidewatt/units/time.h"

namespace tidewatt::carbon {

enum class Want { latest, history, forecast };

/// Secrets of the providers that want some; empty = none.
struct ProviderSecrets {
  std::string electricitymaps_token;
  std::string watttime_user;
  std::string watttime_password;
  std::string greengrid_key;
  std::string peer_token;
  std::string entsoe_token{};
};

struct ProviderCall {
  std::string url;
  std::string endpoint;  ///< path and query, for the parser
  std::vector<std::pair<std::string, std::string>> headers;
  bool needs_login = false;  ///< a bearer token from login_call() first
};

/// nullopt where the provider has no such answer, or its answer to Want::latest holds it already.
std::optional<ProviderCall> call_for(const ProviderSettings& settings, Want want, UtcTime now,
                                     const ProviderSecrets& secrets);
/// WattTime's login: HTTP Basic, answered by {"token": ...}. The token lives for 30 minutes.
ProviderCall login_call(const ProviderSettings& settings, const ProviderSecrets& secrets);
inline constexpr Milliseconds kLoginLife{25LL * 60 * 1000};

std::string base64(std::string_view bytes);

}  // namespace tidewatt::carbon
