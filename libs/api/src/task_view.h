#pragma once

#include "core.h"

namespace tidewatt::api {

/// The task of the path, as the registry knows it or as it stands in the accounts.
/// @error not_found when nothing knows it, or the caller may not see it
Result<ledger::TaskInfo> visible_task(Core& core, const Call& call);

inline constexpr std::string_view kNoTokens = "no_usage_reported";

}  // namespace tidewatt::api
