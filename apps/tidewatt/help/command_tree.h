// What the commands declare, as plain values: the one source of --help, man pages and shell completion.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tidewatt::cli {

struct OptionInfo {
  std::vector<std::string> names;  ///< "--json", "-h"; empty for a positional
  std::string positional;          ///< "NODE"; empty for the others
  std::string value;               ///< "TEXT", "csv|json"; empty for a switch
  std::string default_value;
  std::string environment;
  std::string description;
  std::vector<std::string> choices;  ///< all allowed values, where they are listed
  bool required = false;
  bool repeated = false;
};

struct CommandInfo {
  std::vector<std::string> path;  ///< {"tidewatt", "energy", "node"}
  std::string description;
  std::string footer;
  std::vector<OptionInfo> options;
  std::vector<CommandInfo> commands;
};

/// Hidden commands and options (of the empty group) are left out.
CommandInfo command_tree(const CLI::App& app);

/// The command and all below it, parents first.
std::vector<const CommandInfo*> all_commands(const CommandInfo& root);

/// "tidewatt energy node"
std::string path_text(const CommandInfo& command, const std::string& between = " ");

/// The name of the option of `command` that is nearest to what was typed; empty where none is near.
std::string nearest_option(const CLI::App& command, const std::string& typed);

}  // namespace tidewatt::cli
