// One value's text against its setting's kind and range.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tidewatt/config/settings.h"

namespace tidewatt::config {

/// "4096", "256MiB", "4 MB", "1GiB"; nullopt for anything else or beyond int64.
std::optional<std::uint64_t> parse_bytes(std::string_view text);
/// What is wrong with `text` for this setting; empty = nothing. For scalar kinds.
std::string why_not(const Setting& setting, std::string_view text);
/// "1s to 10m", "at least 1"; empty = open.
std::string range_text(const Setting& setting);

}  // namespace tidewatt::config
