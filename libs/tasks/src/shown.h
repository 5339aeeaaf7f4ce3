#pragma once

#include <string>
#include <string_view>

namespace tidewatt::tasks {

/// Foreign text for a message: printable ASCII (it may be in any encoding or none), on one line, not endless.
std::string shown(std::string_view text);

}  // namespace tidewatt::tasks
