#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tidewatt::k8s {

/// RFC 4648 with padding, as Kubernetes has bytes in its JSON.
std::string base64(std::string_view bytes);
/// With its padding; line breaks in between are left out. nullopt for anything else.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace tidewatt::k8s
