// tidewatt aif run|bench|explain: the inference engine on model files.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "command.h"
#include "input.h"
#include "tidewatt/model_file/run_file.h"

namespace tidewatt::cli {
namespace {

struct AifOptions {
  std::string file;
  std::string mode = "exact";
  std::size_t steps = 64;
  bool json = false;

  [[nodiscard]] inference::Mode chosen_mode() const {
    return mode == "compat" ? inference::Mode::compat : inference::Mode::exact;
  }
};

int run(const AifOptions& options) {
  const auto text = read_all(options.file);
  if (!text) return report("aif run", text.error());
  if (model_file::is_unit_file(*text)) {
    const auto answer = model_file::unit_report(*text);
    if (!answer) return report("aif run", answer.error().with_context(options.file));
    fmt::print("{}\n", *answer);
    return kOk;
  }
  const auto file = model_file::read_run(*text, options.chosen_mode());
  if (!file) return report("aif run", file.error().with_context(options.file));
  fmt::print("{}\n", model_file::run_report(*file));
  return kOk;
}

}  // namespace

void add_aif_command(CLI::App& app, int& exit_code) {
  auto* group = app.add_subcommand("aif", "Active inference: run a model, time it, explain a decision");
  group->require_subcommand(1);
  const auto options = std::make_shared<AifOptions>();

  auto* runs = group->add_subcommand("run", "Run a model file's episodes");
  runs->add_option("FILE", options->file, "The model file; - reads standard input")->required();
  runs->add_option("--mode", options->mode, "exact, or compat: the arithmetic of the open reference")
      ->check(CLI::IsMember({"exact", "compat"}));
  runs->add_flag("--json", options->json, "Print JSON");
  runs->footer(
      "Example: tidewatt aif run model.json --mode exact --json\nFormat: docs/method/active-inference.md");
  runs->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace tidewatt::cli
