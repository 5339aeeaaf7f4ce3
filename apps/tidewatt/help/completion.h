// Completion scripts for shells, of the commands' own declarations. Pure: text of values.
#pragma once

#include <string>

#include "command_tree.h"

namespace tidewatt::cli {

std::string bash_completion(const CommandInfo& root);
std::string zsh_completion(const CommandInfo& root);
std::string fish_completion(const CommandInfo& root);

}  // namespace tidewatt::cli
