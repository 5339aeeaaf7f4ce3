// The figure of tidewatt study year.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tidewatt/base/result.h"

namespace tidewatt::cli {

/// Bars of what waiting saves, by length and slack: rows of zone "all".
Status write_year_figure(const std::string& path, const nlohmann::json& rows);

}  // namespace tidewatt::cli
