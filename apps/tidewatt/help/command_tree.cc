#include "command_tree.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "tidewatt/config/suggest.h"

namespace tidewatt::cli {
namespace {

/// CLI11 writes the values of IsMember as "TEXT:{csv,json}".
std::vector<std::string> choices_of(const std::string& type) {
  const auto open = type.find('{');
  const auto close = type.find('}', open == std::string::npos ? 0 : open);
  std::vector<std::string> out;
  if (open == std::string::npos || close == std::string::npos) return out;
  std::string word;
  for (auto i = open + 1; i <= close; ++i) {
    if (type[i] != ',' && i != close) {
      word += type[i];
      continue;
    }
    if (!word.empty()) out.push_back(std::move(word));
    word.clear();
  }
  return out;
}

OptionInfo option_info(const CLI::Option& option) {
  OptionInfo out;
  for (const auto& name : option.get_lnames()) out.names.push_back("--" + name);
  for (const auto& name : option.get_snames()) out.names.push_back("-" + name);
  if (out.names.empty()) out.positional = option.get_name(true);
  if (option.get_items_expected_max() > 0) {
    const auto type = option.get_type_name();
    out.choices = choices_of(type);
    for (const auto& choice : out.choices) out.value += (out.value.empty() ? "" : "|") + choice;
    if (out.choices.empty()) out.value = type.empty() ? "VALUE" : type;
    out.default_value = option.get_default_str();
  }
  out.environment = option.get_envname();
  out.description = option.get_description();
  out.required = option.get_required();
  out.repeated = option.get_items_expected_max() > 1;
  return out;
}

CommandInfo info_below(const CLI::App& app, std::vector<std::string> path) {
  path.push_back(app.get_name());
  CommandInfo out{path, app.get_description(), app.get_footer(), {}, {}};
  for (const auto* option : app.get_options([](const CLI::Option* o) { return !o->get_group().empty(); }))
    out.options.push_back(option_info(*option));
  for (const auto* command : app.get_subcommands([](const CLI::App* a) { return !a->get_name().empty(); })) {
    if (!command->get_group().empty()) out.commands.push_back(info_below(*command, path));
  }
  // Groups of options that exclude each other are nameless commands to CLI11.
  for (const auto* group : app.get_subcommands([](const CLI::App* a) { return a->get_name().empty(); }))
    for (const auto* option : group->get_options({})) out.options.push_back(option_info(*option));
  return out;
}

void collect(const CommandInfo& command, std::vector<const CommandInfo*>& out) {
  out.push_back(&command);
  for (const auto& below : command.commands) collect(below, out);
}

}  // namespace

CommandInfo command_tree(const CLI::App& app) { return info_below(app, {}); }

std::vector<const CommandInfo*> all_commands(const CommandInfo& root) {
  std::vector<const CommandInfo*> out;
  collect(root, out);
  return out;
}

std::string nearest_option(const CLI::App& command, const std::string& typed) {
  std::vector<std::string> known;
  for (const auto* option : command.get_options({}))
    for (const auto& name : option->get_lnames()) known.push_back("--" + name);
  return config::nearest(typed.substr(0, typed.find('=')), known);
}

std::string path_text(const CommandInfo& command, const std::string& between) {
  std::string out;
  for (const auto& name : command.path) out += (out.empty() ? "" : between) + name;
  return out;
}

}  // namespace tidewatt::cli
