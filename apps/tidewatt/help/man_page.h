// Manual pages in roff, of the commands' own declarations. Pure: text of values.
#pragma once

#include <string>

#include "command_tree.h"

namespace tidewatt::cli {

/// Section 1; `version` stands in the page's foot.
std::string man_page(const CommandInfo& command, const std::string& version);

/// "tidewatt-energy-node.1"
std::string man_file_name(const CommandInfo& command);

}  // namespace tidewatt::cli
