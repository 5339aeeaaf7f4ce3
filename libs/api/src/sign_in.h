// What the ways to sign in share: cookies, redirects, the rate per address.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core.h"

namespace tidewatt::api {

/// A cookie's value, empty when it isn't there.
std::string cookie_value(const net::Request& request, std::string_view name);
/// Set-Cookie of the session; empty value and 0 take it away.
std::string session_cookie_header(const Core& core, std::string_view value, std::int64_t max_age_seconds);
std::int64_t session_seconds();
/// Only paths of ours: "//host" and "/\host" would lead elsewhere.
bool is_local_path(std::string_view path);
net::Response see_other(std::string location);
/// 429 when this address signs in too often.
std::optional<net::Response> too_many_sign_ins(Core& core, const Call& call);

}  // namespace tidewatt::api
