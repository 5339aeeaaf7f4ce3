#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tidewatt::config {

/// The known word nearest to `word`, when it is near enough to be a slip of the keyboard; else empty.
std::string nearest(std::string_view word, std::span<const std::string> known);

}  // namespace tidewatt::config
