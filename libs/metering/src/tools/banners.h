// What tools call themselves in their own output. Many print tables of the same shape: under another tool's
// name the columns would be read, but by rules that aren't theirs.
#pragma once

#include <string_view>

#include "tidewatt/base/result.h"

namespace tidewatt::metering::tools {

/// @error invalid_input  the text says that another tool printed it; "generic" reads whatever it is given
Status own_output(std::string_view tool, std::string_view text);

}  // namespace tidewatt::metering::tools
