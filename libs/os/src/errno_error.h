#pragma once

#include <string>
#include <string_view>

#include "tidewatt/base/result.h"

namespace tidewatt::os {

/// "path: what: permission denied" with the code that callers branch on. `error` is an errno value.
tl::unexpected<Error> errno_failure(int error, std::string_view path, std::string_view what);

}  // namespace tidewatt::os
