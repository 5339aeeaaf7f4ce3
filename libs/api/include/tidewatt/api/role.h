// Who a caller is.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "tidewatt/units/time.h"

namespace tidewatt::api {

enum class Role : std::uint8_t {
  ops,      ///< the platform's operator: everything
  tenant,   ///< a team: its own tasks and the nodes they ran on
  viewer,   ///< reads everything, changes nothing
  agent,    ///< posts heartbeats, nothing else
  cluster,  ///< a cluster's control plane: asks where and when work should run, nothing else
};
std::string_view to_string(Role role);
std::optional<Role> role_from(std::string_view text);

/// Which roles may use a route. `anyone` needs no sign-in at all.
class RoleSet {
 public:
  constexpr RoleSet(std::initializer_list<Role> roles) {
    for (const Role role : roles) bits_ = static_cast<std::uint8_t>(bits_ | bit(role));
  }
  static constexpr RoleSet anyone() {
    RoleSet set{};
    set.anyone_ = true;
    return set;
  }
  [[nodiscard]] constexpr bool is_anyone() const { return anyone_; }
  [[nodiscard]] constexpr bool has(Role role) const { return anyone_ || (bits_ & bit(role)) != 0; }

 private:
  static constexpr std::uint8_t bit(Role role) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(role));
  }
  std::uint8_t bits_ = 0;
  bool anyone_ = false;
};

struct Principal {
  Role role = Role::viewer;
  std::string team;      ///< of a tenant
  std::string name;      ///< the token's name, or "login link"
  std::string token_id;  ///< empty when signed in by a login link
  std::optional<UtcTime> expires_at;
  bool by_cookie = false;
};

}  // namespace tidewatt::api
