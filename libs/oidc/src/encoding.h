// Texts as OAuth writes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tidewatt::oidc {

/// Without padding.
std::string base64url(std::string_view bytes);
/// nullopt: padding, a character out of the alphabet, or bits that are left over and not zero.
std::optional<std::string> from_base64url(std::string_view text);
/// With padding, as HTTP's Basic scheme wants it.
std::string base64(std::string_view bytes);
/// Everything but unreserved characters becomes %XX.
std::string percent_encode(std::string_view text);
std::string sha256(std::string_view bytes);

}  // namespace tidewatt::oidc
