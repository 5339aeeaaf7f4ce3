// Sources that need no network: a file, a factor, the site's own flows.
#pragma once

#include <functional>

#include "fetch.h"
#include "tidewatt/base/file_system.h"
#include "tidewatt/carbon/hourly_series.h"

namespace tidewatt::emma {

bool is_local(const carbon::ProviderSettings& settings);

/// @param grid_of  the hourly values of another zone
Fetched read_local(const carbon::ProviderSettings& settings, const FileSystem& files, UtcTime now,
                   const std::function<carbon::HourlySeries(const std::string& zone)>& grid_of);

}  // namespace tidewatt::emma
