#pragma once

#include <span>

#include "core.h"
#include "tidewatt/api/routes.h"

namespace tidewatt::api {

struct Route {
  RouteInfo info;
  Handler handler;
};
std::span<const Route> routes();

}  // namespace tidewatt::api
