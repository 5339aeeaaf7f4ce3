// tidewatt continuum: the service agent of a node, and what a person says to it.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "../command.h"
#include "../input.h"
#include "continuum_loop.h"
#include "tidewatt/os/posix.h"

namespace tidewatt::cli {
namespace {

std::atomic<bool> continuum_stop{false};

struct ContinuumOptions {
  std::string config;
  std::uint64_t decisions = 0;
  ServerAccess access;
};

Result<ContinuumConfig> config_of(const ContinuumOptions& options) {
  TW_TRY(const auto text, read_all(options.config));
  auto config = parse_continuum_config(text);
  if (!config) return tl::unexpected(config.error().with_context(options.config));
  return config;
}

void wait_until(std::chrono::steady_clock::time_point due) {
  while (!continuum_stop && std::chrono::steady_clock::now() < due)
    std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(
        due - std::chrono::steady_clock::now(), std::chrono::milliseconds{100}));
}

int run_continuum(const ContinuumOptions& options) {
  auto config = config_of(options);
  if (!config) return report("continuum", config.error());
  const auto period = config->period;
  const std::shared_ptr<FileSystem> files{os::make_file_system()};
  const os::SystemClock clock;
  auto loop = ContinuumLoop::open(*std::move(config), options.access, files, clock);
  if (!loop) return report("continuum", loop.error());
  fmt::print("{}", (*loop)->introduction());
  std::fflush(stdout);
  struct sigaction stop{};
  stop.sa_handler = [](int) { continuum_stop = true; };
  ::sigaction(SIGTERM, &stop, nullptr);
  ::sigaction(SIGINT, &stop, nullptr);
  auto due = std::chrono::steady_clock::now();
  for (std::uint64_t n = 0; !continuum_stop && (options.decisions == 0 || n < options.decisions); ++n) {
    const auto line = (*loop)->step();
    if (!line) return report("continuum", line.error());
    fmt::print("{}\n", *line);
    std::fflush(stdout);
    due = std::max(due + period, std::chrono::steady_clock::now());
    if (options.decisions == 0 || n + 1 < options.decisions) wait_until(due);
  }
  return kOk;
}

int tell_continuum(const ContinuumOptions& options, const std::string& word) {
  const auto config = config_of(options);
  if (!config) return report("continuum " + word, config.error());
  const auto written = os::make_file_system()->write_atomically(config->journal + ".command", word + "\n");
  if (!written) return report("continuum " + word, written.error());
  fmt::print(
      "The agent takes it up in its next period; `tidewatt continuum status --config {}` shows what came of "
      "it.\n",
      options.config);
  return kOk;
}

int show_status(const ContinuumOptions& options) {
  const auto config = config_of(options);
  if (!config) return report("continuum status", config.error());
  const auto text = os::make_file_system()->read_text(config->journal + ".status");
  if (!text) return report("continuum status", text.error());
  fmt::print("{}", *text);
  return kOk;
}

void add_config(CLI::App& command, ContinuumOptions& options) {
  command.add_option("--config", options.config, "The agent's file")->required();
}

}  // namespace

void add_continuum_command(CLI::App& app, int& exit_code) {
  auto* group = app.add_subcommand("continuum", "Keeps services' promises at least carbon");
  group->require_subcommand(1);
  const auto options = std::make_shared<ContinuumOptions>();
  auto* runs = group->add_subcommand("run", "Observe, suggest or act, once a period");
  add_config(*runs, *options);
  runs->add_option("--decisions", options->decisions, "Stop after so many (0: never)");
  options->access.add_options(*runs);
  runs->footer(
      "Example: tidewatt continuum run --config /etc/tidewatt/continuum.yaml\nThe file: "
      "docs/operate/continuum.md");
  runs->callback([options, &exit_code] { exit_code = run_continuum(*options); });
  auto* status =
      group->add_subcommand("status", "The last decision, the promises and the carbon signal, as JSON");
  add_config(*status, *options);
  status->footer("Example: tidewatt continuum status --config /etc/tidewatt/continuum.yaml");
  status->callback([options, &exit_code] { exit_code = show_status(*options); });
  for (const auto& [word, help] : {std::pair{"approve", "Do what the agent suggests"},
                                   {"reject", "Don't, and suggest it no more for a while"},
                                   {"roll-back", "Undo the last change, and don't try it for a while"}}) {
    auto* command = group->add_subcommand(word, help);
    add_config(*command, *options);
    command->footer(
        fmt::format("Example: tidewatt continuum {} --config /etc/tidewatt/continuum.yaml", word));
    command->callback(
        [options, word = std::string{word}, &exit_code] { exit_code = tell_continuum(*options, word); });
  }
}

}  // namespace tidewatt::cli
