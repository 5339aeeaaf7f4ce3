// Every route with the roles that may use it: the one table that the dispatcher, the tests and the OpenAPI
// check read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/api/role.h"

namespace tidewatt::api {

struct RouteInfo {
  std::string_view method;
  std::string_view path;  ///< a template: "/api/v1/nodes/{id}"
  RoleSet roles;
  bool cluster_listener = false;  ///< also there, without sign-in: see ADR 0013. It changes nothing.
};
std::vector<RouteInfo> route_table();

/// Matches a path as sent against a template, segment by segment; each {name} is percent-decoded by itself,
/// so that
/// "%2F" in an id doesn't part it.
/// @return the values in order; nullopt when it doesn't match or an escape is broken
std::optional<std::vector<std::string>> match_path(std::string_view path_template, std::string_view raw_path);

}  // namespace tidewatt::api
