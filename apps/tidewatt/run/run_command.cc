// tidewatt run: starts, pauses and resumes a command in clean hours.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>

#include "../command.h"
#include "../input.h"
#include "../server_access.h"
#include "run_folder.h"
#include "run_job.h"
#include "run_keeper.h"
#include "run_report.h"
#include "run_signal.h"
#include "tidewatt/os/posix.h"
#include "tidewatt/runner/decide.h"
#include "tidewatt/units/text.h"

namespace tidewatt::cli {
namespace {

using runner::Pause;
using runner::State;

constexpr Milliseconds kGlance{200};
/// The keeper's keeper: so often at most is a dead one replaced.
constexpr Milliseconds kBetweenKeepers{2'000};

struct RunOptions {
  std::vector<std::string> command;
  std::string duration, deadline, zone, checkpoint, pause, min_run = "30m", checkpoint_wait = "60s",
                                                           recheck = "5m";
  std::string signal_file, column = "gco2_per_kwh", runs, attach, trial;
  ServerAccess access;
  bool server_given = false;
  bool list = false;
  bool json = false;
  bool quiet = false;
};

Milliseconds duration_of(const std::string& option, const std::string& text) {
  const auto value = parse_duration(text);
  if (!value) usage_error(option, "\"" + text + "\" is no duration such as 90m or 3h");
  return *value;
}

Pause pause_of(const std::string& text) {
  if (text.empty() || text == "none") return Pause::none;
  if (text == "stop") return Pause::stop;
  if (text == "freeze") return Pause::freeze;
  if (text == "kill") return Pause::kill;
  usage_error("--pause", "\"" + text + "\" is none of none, stop, freeze, kill");
}

/// "SIGUSR1", "USR1", or a command with its words.
runner::Checkpoint checkpoint_of(const RunOptions& options) {
  runner::Checkpoint checkpoint;
  checkpoint.patience = duration_of("--checkpoint-wait", options.checkpoint_wait);
  if (options.checkpoint.empty()) return checkpoint;
  const std::vector<std::pair<std::string, int>> known{{"USR1", SIGUSR1}, {"USR2", SIGUSR2},
                                                       {"HUP", SIGHUP},   {"INT", SIGINT},
                                                       {"TERM", SIGTERM}, {"QUIT", SIGQUIT}};
  for (const auto& [name, number] : known)
    if (options.checkpoint == name || options.checkpoint == "SIG" + name) {
      checkpoint.signal = number;
      return checkpoint;
    }
  checkpoint.command = CLI::detail::split_up(options.checkpoint);
  return checkpoint;
}

/// "2026-01-01T00:00:00Z@3600": the time it shows now, and how many times as fast it runs.
std::optional<TrialClock> trial_of(const RunOptions& options, const Clock& clock) {
  if (options.trial.empty()) return std::nullopt;
  const auto at = options.trial.find('@');
  const auto begin = parse_rfc3339(options.trial.substr(0, at));
  const auto speed =
      at == std::string::npos ? std::nullopt : parse_double(std::string_view{options.trial}.substr(at + 1));
  if (!begin || !speed || !(*speed > 0 && *speed <= 1e6))
    usage_error("--trial-clock", "\"" + options.trial + "\" is nothing like 2026-01-01T00:00:00Z@3600");
  return TrialClock{*begin, clock.mono_now(), *speed};
}

std::string new_id(UtcTime now) {
  os::SecureRng rng;
  auto text = format_rfc3339(now).substr(0, 19);
  std::erase(text, '-');
  std::erase(text, ':');
  return fmt::format("{}-{:06x}", text, rng.next() & 0xFFFFFFU);
}

std::optional<ReadSignal> signal_of(const RunOptions& options) {
  if (!options.signal_file.empty()) return signal_of_file(options.signal_file, options.column);
  if (!options.zone.empty()) return signal_of_server(options.access, options.zone);
  return std::nullopt;
}

volatile sig_atomic_t taken_signal = 0;
void take_signal(int signal) { taken_signal = signal; }

void watch_signals() {
  struct sigaction action{};
  action.sa_handler = take_signal;
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2, SIGHUP})
    ::sigaction(signal, &action, nullptr);
}

/// The next start that is still to come. Those within a few minutes of each other are one to a person.
bool moved(const runner::Plan& before, const runner::Plan& after) {
  constexpr Milliseconds kSame = std::chrono::minutes{15};
  const auto next = [&](const runner::Plan& plan) -> std::optional<UtcTime> {
    for (const auto& window : plan.windows)
      if (window.begin > after.made_at + kSame) return window.begin;
    return std::nullopt;
  };
  const auto a = next(before);
  const auto b = next(after);
  return a.has_value() != b.has_value() ? b.has_value() : a && std::chrono::abs(*a - *b) > kSame;
}

/// Re-plans, tells what happens, passes signals on; ends with the command.
class Front {
 public:
  Front(const RunFolder& folder, runner::Order order, std::shared_ptr<Clock> clock, const RunOptions& options)
      : folder_(folder), order_(std::move(order)), clock_(std::move(clock)), options_(options) {
    signal_ = signal_of(options);
  }

  /// The plan from what is known now; a signal that fails leaves what was known.
  runner::Plan planned(const runner::Record& record, const std::vector<runner::SignalSlot>& known) {
    RunSignal signal;
    std::string failure;
    const auto now = clock_->utc_now();
    if (signal_ && order_.deadline) {
      auto read = (*signal_)(now, *order_.deadline);
      if (read)
        signal = std::move(*read);
      else
        failure = read.error().to_string();
    }
    if (failure != last_failure_ && !failure.empty()) say("no new carbon intensity: " + failure);
    last_failure_ = failure;
    auto plan = make_plan(order_, record, signal.slots, known, now, std::move(signal.past));
    if (!signal_ && plan.windows.empty() && order_.duration && order_.deadline)
      plan.why = "no carbon intensity is named (--zone or --signal)";
    return plan;
  }

  int follow() {
    SteadyTime keeper_since{};
    SteadyTime planned_at = clock_->mono_now();
    UtcTime planned_for = clock_->utc_now();
    const auto recheck = duration_of("--recheck", options_.recheck);
    for (;;) {
      const auto record = folder_.record();
      if (!record) return report("run", record.error());
      tell(*record);
      if (record->state == State::ended) return ended(*record);
      const int keeper = keeper_pid(folder_.path());
      const auto mono = clock_->mono_now();
      if (keeper == 0 && (keeper_since == SteadyTime{} || mono - keeper_since > kBetweenKeepers)) {
        if (keeper_since != SteadyTime{}) say_keeper_trouble();
        keeper_since = mono;
        if (!start_keeper(folder_.path()))
          return report("run", Error{ErrorCode::io, "no process can be started", ""});
      }
      if (const int signal = taken_signal; signal != 0) {
        if (signal == SIGHUP) return kOk;  // the terminal is gone; the keeper goes on
        if (keeper > 0) {
          taken_signal = 0;
          ::kill(keeper, signal);
        }
      }
      if (clock_->utc_now() - planned_for >= recheck && mono - planned_at >= kGlance) {
        planned_for = clock_->utc_now();
        planned_at = mono;
        replan(*record, keeper);
      }
      while (::waitpid(-1, nullptr, WNOHANG) > 0) {
      }
      const timespec nap{0, std::chrono::nanoseconds{kGlance}.count()};
      ::nanosleep(&nap, nullptr);
    }
  }

 private:
  void replan(const runner::Record& record, int keeper) {
    const auto before = folder_.plan();
    auto plan = planned(record, before ? before->signal : std::vector<runner::SignalSlot>{});
    if (const auto written = folder_.put(plan); !written)
      say("the plan can't be written: " + written.error().to_string());
    if (before && moved(*before, plan)) say("planned anew: " + windows_text(plan));
    wake_keeper(keeper);
  }

  void tell(const runner::Record& record) {
    const auto line = to_string(record.state) + ": " + record.why;
    if (line == last_line_ || record.why.empty()) return;
    last_line_ = line;
    auto text = line;
    const auto now = clock_->utc_now();
    if (const auto latest = latest_start(order_, record, now);
        latest && (record.state == State::waiting || record.state == State::paused))
      text += " (at " + minute_text(*latest) + " at the latest)";
    if (record.state != State::ended) say(text);
  }

  void say(const std::string& text) const {
    if (!options_.quiet) fmt::print(stderr, "tidewatt run: {} {}\n", minute_text(clock_->utc_now()), text);
  }

  void say_keeper_trouble() const {
    const auto text = folder_.files().read_text(folder_.keeper_log());
    say("its keeper is gone and starts again" +
        (text ? ": " + text->substr(0, text->find('\n')) : std::string{}));
  }

  int ended(const runner::Record& record) {
    const auto plan = folder_.plan();
    print_outcome(order_, record, plan ? *plan : runner::Plan{}, clock_->utc_now(), options_.json);
    return record.exit_code.value_or(kFailed);
  }

  const RunFolder& folder_;
  runner::Order order_;
  std::shared_ptr<Clock> clock_;
  const RunOptions& options_;
  std::optional<ReadSignal> signal_;
  std::string last_line_;
  std::string last_failure_;
};

std::string base_of(const RunOptions& options) {
  return options.runs.empty() ? default_runs_folder() : std::filesystem::absolute(options.runs).string();
}

int attach(const RunOptions& options) {
  const auto files = std::shared_ptr<FileSystem>(os::make_file_system());
  const auto folder = RunFolder::open(files, base_of(options), options.attach);
  if (!folder) return report("run", folder.error());
  const auto lock = FolderLock::take(folder->front_lock());
  if (!lock)
    return report("run",
                  Error{ErrorCode::conflict, "run " + options.attach + " is followed by another process",
                        "end that one first"});
  auto order = folder->order();
  if (!order) return report("run", order.error());
  auto clock = folder->clock();
  if (!clock) return report("run", clock.error());
  auto with_zone = options;
  if (with_zone.zone.empty()) with_zone.zone = order->zone;
  return Front{*folder, std::move(*order), std::move(*clock), with_zone}.follow();
}

runner::Order order_of(const RunOptions& options, const std::shared_ptr<FileSystem>& files,
                       const std::string& base, UtcTime now) {
  runner::Order order;
  order.id = new_id(now);
  order.argv = options.command;
  order.folder = std::filesystem::current_path().string();
  order.zone = options.zone;
  order.submitted = now;
  order.pause = pause_of(options.pause);
  order.min_run = duration_of("--min-run", options.min_run);
  order.checkpoint = checkpoint_of(options);
  if (!options.duration.empty())
    order.duration = duration_of("--duration", options.duration);
  else
    order.duration = usual_duration(files, base, options.command);
  if (!options.deadline.empty()) {
    const auto instant = parse_rfc3339(options.deadline);
    order.deadline = instant ? *instant : now + duration_of("--deadline", options.deadline);
  }
  return order;
}

int start(const RunOptions& options) {
  const auto files = std::shared_ptr<FileSystem>(os::make_file_system());
  const auto base = base_of(options);
  const os::SystemClock system;
  const auto trial = trial_of(options, system);
  const auto now = trial ? trial->begin : system.utc_now();
  auto order = order_of(options, files, base, now);
  if (order.pause == Pause::freeze)
    if (const auto problem = freeze_problem(*files); !problem.empty())
      return report("run", Error{ErrorCode::unavailable, "the command can't be frozen here: " + problem,
                                 "use --pause stop, or run it as root or under systemd-run --user --scope"});
  forget_old_runs(files, base);
  runner::Plan first;
  first.made_at = now;
  const auto folder = RunFolder::create(files, base, order, first, trial);
  if (!folder) return report("run", folder.error());
  const auto lock = FolderLock::take(folder->front_lock());
  auto clock = folder->clock();
  if (!clock) return report("run", clock.error());
  Front front{*folder, order, *clock, options};
  const auto plan = front.planned({}, {});
  if (const auto written = folder->put(plan); !written) return report("run", written.error());
  if (!options.quiet) print_start(order, plan, folder->path());
  return front.follow();
}

int list_runs(const RunOptions& options) {
  const auto files = std::shared_ptr<FileSystem>(os::make_file_system());
  print_runs(files, base_of(options), options.json);
  return kOk;
}

int run(const RunOptions& options) {
  if (options.list) return list_runs(options);
  watch_signals();
  if (!options.attach.empty()) return attach(options);
  if (options.command.empty())
    usage_error("COMMAND", "there is nothing to run: tidewatt run [options] -- COMMAND");
  return start(options);
}

}  // namespace

void add_run_command(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("run", "Run a command in clean hours: start, pause and resume it");
  const auto options = std::make_shared<RunOptions>();
  command->add_option("command", options->command, "The command and its words, after --");
  command->add_option("--duration", options->duration,
                      "How long it runs, such as 3h; without it, as long as earlier runs of it usually did");
  command->add_option(
      "--deadline", options->deadline,
      "When it must be done: 12h from now, or 2026-12-01T06:00:00Z. Without one it runs at once");
  command->add_option("--zone", options->zone, "Grid zone whose forecast the server is asked for");
  command->add_option("--signal", options->signal_file,
                      "CSV of carbon intensities instead (time first, UTC)");
  command->add_option("--value", options->column, "Its column of gCO2/kWh")->capture_default_str();
  command->add_option("--pause", options->pause,
                      "How it is paused: stop (SIGSTOP), freeze (its cgroup), kill (ended, started again); "
                      "without it, it isn't");
  command->add_option("--min-run", options->min_run, "No piece is cut shorter")->capture_default_str();
  command->add_option("--checkpoint", options->checkpoint,
                      "Before a pause: a signal such as SIGUSR1, or a command; it touches "
                      "$TIDEWATT_CHECKPOINT_DONE when done");
  command->add_option("--checkpoint-wait", options->checkpoint_wait, "How long a checkpoint is waited for")
      ->capture_default_str();
  command->add_option("--recheck", options->recheck, "How often it is planned anew")->capture_default_str();
  command->add_option("--attach", options->attach, "Follow a run that goes on by itself");
  command->add_flag("--list", options->list, "The runs of this user");
  command->add_option("--runs", options->runs, "Folder that keeps the runs' state");
  command->add_option(
      "--trial-clock", options->trial,
      "For trials: a clock that shows this time now and runs faster, 2026-01-01T00:00:00Z@3600");
  command->add_flag("--json", options->json, "Print the outcome as JSON");
  command->add_flag("--quiet", options->quiet, "Say nothing but the outcome");
  options->access.add_options(*command);
  command->footer(
      "Example: tidewatt run --duration 3h --deadline 12h --zone DE --pause stop -- make -j8 weights\n"
      "         tidewatt run --duration 8h --deadline 2d --signal de.csv --pause kill --checkpoint SIGUSR1 "
      "-- ./train.sh\n"
      "The command goes on when this process or the server dies; tidewatt run --attach ID follows it again.\n"
      "Its exit code is passed on. A command that --pause kill ends says 75 (or dies by the signal) to be "
      "started again.");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace tidewatt::cli
