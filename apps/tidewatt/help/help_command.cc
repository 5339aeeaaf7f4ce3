// tidewatt completion, tidewatt man: what the commands declare, for shells and man.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "../command.h"
#include "command_tree.h"
#include "completion.h"
#include "man_page.h"

namespace tidewatt::cli {
namespace {

struct HelpOptions {
  std::string shell;
  std::vector<std::string> command;
  std::string folder;
};

int print_completion(const CLI::App& app, const std::string& shell) {
  const auto root = command_tree(app);
  const auto text = shell == "bash"  ? bash_completion(root)
                    : shell == "zsh" ? zsh_completion(root)
                                     : fish_completion(root);
  std::fputs(text.c_str(), stdout);
  return kOk;
}

int write_pages(const CommandInfo& root, const std::string& folder) {
  std::error_code trouble;
  std::filesystem::create_directories(folder, trouble);
  for (const auto* command : all_commands(root)) {
    const auto path = std::filesystem::path{folder} / man_file_name(*command);
    std::ofstream file{path};
    file << man_page(*command, TIDEWATT_VERSION);
    if (!file.flush()) {
      std::fprintf(stderr, "tidewatt man: %s can't be written: give a folder that may be written with --to\n",
                   path.c_str());
      return kFailed;
    }
  }
  return kOk;
}

int print_man(const CLI::App& app, const HelpOptions& options) {
  const auto root = command_tree(app);
  if (!options.folder.empty()) return write_pages(root, options.folder);
  const CommandInfo* at = &root;
  for (const auto& word : options.command) {
    const CommandInfo* next = nullptr;
    std::string known;
    for (const auto& below : at->commands) {
      if (below.path.back() == word) next = &below;
      known += (known.empty() ? "" : ", ") + below.path.back();
    }
    if (next == nullptr)
      usage_error("COMMAND", "\"" + word + "\" is no command of " + path_text(*at) +
                                 (known.empty() ? "" : " (there are: " + known + ")"));
    at = next;
  }
  std::fputs(man_page(*at, TIDEWATT_VERSION).c_str(), stdout);
  return kOk;
}

}  // namespace

void add_help_commands(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<HelpOptions>();
  auto* completion = app.add_subcommand("completion", "Completion of commands and options for a shell");
  completion->add_option("SHELL", options->shell, "For which shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->footer(
      "Example: source <(tidewatt completion bash)\n"
      "         tidewatt completion zsh > ~/.zfunc/_tidewatt\n"
      "         tidewatt completion fish > ~/.config/fish/completions/tidewatt.fish");
  completion->callback([&app, &exit_code, options] { exit_code = print_completion(app, options->shell); });

  auto* man = app.add_subcommand("man", "The manual page of a command, as man reads it");
  man->add_option("COMMAND", options->command, "Whose page; none for tidewatt's own");
  man->add_option("--to", options->folder, "Write every command's page into this folder instead")
      ->type_name("FOLDER");
  man->footer(
      "Example: tidewatt man energy node | man -l -\n"
      "         tidewatt man --to /usr/local/share/man/man1");
  man->callback([&app, &exit_code, options] { exit_code = print_man(app, *options); });
}

}  // namespace tidewatt::cli
