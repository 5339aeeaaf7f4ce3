// Fields of other people's JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tidewatt::oidc {

using Json = nlohmann::json;

/// Empty when it is absent or no text.
inline std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

}  // namespace tidewatt::oidc
