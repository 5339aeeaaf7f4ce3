// Reading of JSON objects whose fields may be missing or of another type.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string_view>

namespace tidewatt::k8s_json {

/// What isn't there, or no text, is an empty one.
inline std::string_view text_at(const simdjson::dom::object& object, std::string_view key) {
  std::string_view text;
  return object[key].get(text) == simdjson::SUCCESS ? text : std::string_view{};
}

/// What isn't there, or no object, has no fields.
inline std::optional<simdjson::dom::object> object_at(const simdjson::dom::object& object,
                                                      std::string_view key) {
  simdjson::dom::object inner;
  return object[key].get(inner) == simdjson::SUCCESS ? std::optional{inner} : std::nullopt;
}
inline std::optional<simdjson::dom::object> object_at(const std::optional<simdjson::dom::object>& object,
                                                      std::string_view key) {
  return object ? object_at(*object, key) : std::nullopt;
}

}  // namespace tidewatt::k8s_json
