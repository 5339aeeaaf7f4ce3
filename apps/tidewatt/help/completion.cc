#include "completion.h"

#include <fmt/format.h>

#include <string_view>

namespace tidewatt::cli {
namespace {

/// In single quotes for bash and zsh.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

/// In single quotes for fish, which knows \' and \\ there.
std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

/// The first line, as a list of choices has room for it.
std::string short_text(const std::string& description) {
  return description.substr(0, description.find('\n'));
}

std::string zsh_entry(std::string_view word, const std::string& description) {
  std::string out;
  for (const char c : word) out += c == ':' ? "\\:" : std::string(1, c);
  return quoted(out + ":" + short_text(description));
}

std::string words_of(const CommandInfo& command) {
  std::string out;
  for (const auto& below : command.commands) out += (out.empty() ? "" : " ") + below.path.back();
  for (const auto& option : command.options)
    for (const auto& name : option.names) out += (out.empty() ? "" : " ") + name;
  return out;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : std::string{between}) + word;
  return out;
}

/// The `case` patterns of every command's path; in bash and zsh alike.
std::string known_paths(const CommandInfo& root) {
  std::string out;
  for (const auto* command : all_commands(root))
    if (command->path.size() > 1) out += (out.empty() ? "" : "|") + quoted(path_text(*command));
  return out;
}

/// Lines of a `case` over "PATH OPTION" that give the values of options.
template <typename Line>
std::string value_cases(const CommandInfo& root, Line line) {
  std::string out;
  for (const auto* command : all_commands(root)) {
    for (const auto& option : command->options) {
      if (option.value.empty() || option.names.empty()) continue;
      std::vector<std::string> patterns;
      for (const auto& name : option.names) patterns.push_back(quoted(path_text(*command) + " " + name));
      out += fmt::format("    {}) {} ;;\n", joined(patterns, "|"), line(option));
    }
  }
  return out;
}

}  // namespace

std::string bash_completion(const CommandInfo& root) {
  std::string words;
  for (const auto* command : all_commands(root))
    words += fmt::format("    {}) words={} ;;\n", quoted(path_text(*command)), quoted(words_of(*command)));
  const auto values = value_cases(root, [](const OptionInfo& option) {
    return option.choices.empty() ? std::string{"return"}
                                  : fmt::format("COMPREPLY=($(compgen -W {} -- \"$cur\")); return",
                                                quoted(joined(option.choices, " ")));
  });
  return fmt::format(R"(# bash completion for {0}: made by `{0} completion bash`
_{0}() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} at={0} i words=
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$at ${{COMP_WORDS[i]}}" in
    {1}) at+=" ${{COMP_WORDS[i]}}" ;;
    *) break ;;
    esac
  done
  # An option's value: one of a list, or (by -o default) a file.
  case "$at $before" in
{2}  esac
  case "$at" in
{3}  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}}
complete -o default -F _{0} {0}
)",
                     root.path.front(), known_paths(root), values, words);
}

std::string zsh_completion(const CommandInfo& root) {
  std::string words;
  for (const auto* command : all_commands(root)) {
    std::string commands;
    std::string options;
    for (const auto& below : command->commands)
      commands += " " + zsh_entry(below.path.back(), below.description);
    for (const auto& option : command->options)
      for (const auto& name : option.names) options += " " + zsh_entry(name, option.description);
    words += fmt::format("    {}) commands=({}); options=({}) ;;\n", quoted(path_text(*command)), commands,
                         options);
  }
  const auto values = value_cases(root, [](const OptionInfo& option) {
    return option.choices.empty() ? std::string{"_files; return"}
                                  : "compadd -- " + joined(option.choices, " ") + "; return";
  });
  return fmt::format(R"(#compdef {0}
# zsh completion for {0}: made by `{0} completion zsh`
_{0}() {{
  local at={0} i
  local -a commands options
  for ((i = 2; i < CURRENT; ++i)); do
    case "$at $words[i]" in
    {1}) at+=" $words[i]" ;;
    *) break ;;
    esac
  done
  case "$at $words[CURRENT-1]" in
{2}  esac
  case "$at" in
{3}  esac
  if [[ $words[CURRENT] == -* ]]; then
    _describe -o option options
  elif (( $#commands )); then
    _describe command commands
  else
    _files
  fi
}}
if [[ $funcstack[1] == _{0} ]]; then _{0} "$@"; else compdef _{0} {0}; fi
)",
                     root.path.front(), known_paths(root), values, words);
}

std::string fish_completion(const CommandInfo& root) {
  std::string known;
  for (const auto* command : all_commands(root)) known += " " + fish_quoted(path_text(*command));
  std::string lines;
  for (const auto* command : all_commands(root)) {
    const auto at =
        fmt::format("complete -c {0} -n {1}", root.path.front(),
                    fish_quoted(fmt::format("__{}_at '{}'", root.path.front(), path_text(*command))));
    for (const auto& below : command->commands)
      lines += fmt::format("{} -f -a {} -d {}\n", at, below.path.back(),
                           fish_quoted(short_text(below.description)));
    for (const auto& option : command->options) {
      if (option.names.empty()) continue;
      std::string names;
      for (const auto& name : option.names)
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      std::string value = option.value.empty() ? "" : " -r";
      if (!option.choices.empty()) value = " -x -a " + fish_quoted(joined(option.choices, " "));
      lines += fmt::format("{}{}{} -d {}\n", at, names, value, fish_quoted(short_text(option.description)));
    }
  }
  return fmt::format(R"(# fish completion for {0}: made by `{0} completion fish`
function __{0}_at
  set -l at {0}
  set -l words (commandline -opc)
  for word in $words[2..-1]
    contains -- "$at $word" $__{0}_commands; or break
    set at "$at $word"
  end
  test "$at" = "$argv[1]"
end
set -g __{0}_commands{1}
{2})",
                     root.path.front(), known, lines);
}

}  // namespace tidewatt::cli
