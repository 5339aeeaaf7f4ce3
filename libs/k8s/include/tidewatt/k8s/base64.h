#pragma once

#include <string>
#include <string_view>

namespace tidewatt::k8s {

/// RFC 4648 with padding, as Kubernetes has bytes in its JSON.
std::string base64(std::string_view bytes);

}  // namespace tidewatt::k8s
