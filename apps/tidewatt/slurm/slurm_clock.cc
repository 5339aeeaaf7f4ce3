#include "slurm_clock.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <ctime>

#include "../command.h"
#include "tidewatt/os/posix.h"
#include "tidewatt/units/text.h"

namespace tidewatt::cli {
namespace {

volatile std::sig_atomic_t stop_signal = 0;
void note_stop(int signal) { stop_signal = signal; }

}  // namespace

void SlurmSignal::add_options(CLI::App& command) {
  command.add_option("--zone", zone, "Grid zone whose intensity the server is asked for");
  command.add_option("--signal", file, "CSV of carbon intensities instead (time first, UTC)");
  command.add_option("--value", column, "Its column of gCO2/kWh")->capture_default_str();
  command.add_option("--trial-clock", trial,
                     "For trials: a clock that showed this time and runs faster, 2026-01-01T00:00:00Z@360");
  command.add_option("--trial-since", trial_since, "When it showed that; default: when this command started");
  access.add_options(command);
}

void SlurmSignal::check(bool needed) const {
  if (!zone.empty() && !file.empty()) usage_error("--signal", "stands for --zone: name one of them");
  if (needed && zone.empty() && file.empty())
    usage_error("--zone", "is needed: the grid zone as the server knows it, or --signal FILE");
  (void)time();
}

ReadSignal SlurmSignal::forecast() const {
  return file.empty() ? signal_of_server(access, zone) : signal_of_file(file, column);
}

std::optional<ReadSignal> SlurmSignal::history() const {
  if (!file.empty()) return signal_of_file(file, column);
  if (!zone.empty()) return history_of_server(access, zone);
  return std::nullopt;
}

slurm::RealTime SlurmSignal::time() const {
  static const UtcTime started = os::SystemClock{}.utc_now();
  if (trial.empty()) return {started, started, 1};
  const auto at = trial.find('@');
  const auto begin = parse_rfc3339(trial.substr(0, at));
  const auto speed =
      at == std::string::npos ? std::nullopt : parse_double(std::string_view{trial}.substr(at + 1));
  constexpr double kFastest = 1e6;
  if (!begin || !speed || !(*speed >= 1 && *speed <= kFastest))
    usage_error("--trial-clock", "\"" + trial + "\" is nothing like 2026-01-01T00:00:00Z@360");
  const auto since = trial_since.empty() ? std::optional{started} : parse_rfc3339(trial_since);
  if (!since) usage_error("--trial-since", "\"" + trial_since + "\" is no time like 2026-01-01T00:00:00Z");
  return {*since, *begin, *speed};
}

bool stop_asked() {
  static const bool listening = [] {
    struct sigaction action{};
    action.sa_handler = note_stop;
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
    return true;
  }();
  return listening && stop_signal != 0;
}

void sleep_until_stopped(Milliseconds length) {
  const os::SystemClock clock;
  const auto until = clock.mono_now() + length;
  while (!stop_asked()) {
    constexpr Milliseconds kGlance{200};
    const auto left = std::min(kGlance, until - clock.mono_now());
    if (left <= Milliseconds{0}) return;
    const timespec nap{0, std::chrono::nanoseconds{left}.count()};
    ::nanosleep(&nap, nullptr);
  }
}

Milliseconds length_of(const std::string& option, const std::string& text) {
  const auto length = parse_duration(text);
  if (!length) usage_error(option, fmt::format("\"{}\" is no length of time like 5m", text));
  return *length;
}

}  // namespace tidewatt::cli
