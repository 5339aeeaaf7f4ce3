// tidewatt slurm controller: re-plans waiting jobs as the forecast changes, and requeues those that asked for
// it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "../command.h"
#include "../input.h"
#include "../run/run_folder.h"
#include "slurm_clock.h"
#include "slurm_commands.h"
#include "slurm_programs.h"
#include "tidewatt/os/posix.h"
#include "tidewatt/slurm/state_file.h"

namespace tidewatt::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr Milliseconds kAhead = std::chrono::hours{96};
constexpr std::size_t kMostState = 64U << 20U;

struct ControllerOptions {
  SlurmSignal signal;
  SlurmPlace place;
  std::string state = std::string(kSlurmFolder) + "/controller.json";
  std::string every = "1m";
  std::string min_run = "1h";
  bool once = false;
  bool dry_run = false;
  bool json = false;
};

/// Slurm's times as the trial's clock would have shown them; unchanged outside of trials.
void show(slurm::Queue& queue, const slurm::RealTime& time) {
  const auto shown = [&](std::optional<UtcTime>& at) {
    if (at) at = time.shown(*at);
  };
  for (auto& job : queue.jobs) {
    for (auto* at : {&job.submitted, &job.eligible, &job.started, &job.deadline}) shown(*at);
    if (job.limit)
      job.limit = Milliseconds{std::llround(static_cast<double>(job.limit->count()) * time.speed)};
  }
}

class Controller {
 public:
  explicit Controller(const ControllerOptions& options)
      : options_(options),
        time_(options.signal.time()),
        files_(os::make_file_system()),
        programs_(options.place),
        forecast_(options.signal.forecast()) {
    rules_.least_run = length_of("--min-run", options.min_run);
  }

  Status load() {
    if (!files_->exists(options_.state)) return {};
    TW_TRY(const auto text, files_->read_text(options_.state, kMostState));
    auto jobs = slurm::parse_jobs(text);
    if (!jobs) return tl::unexpected(jobs.error().with_context(options_.state));
    jobs_ = *std::move(jobs);
    return {};
  }

  /// One round. What is to be done is on disk before it is done: after a crash the next round finds it.
  Status turn() {
    TW_TRY(auto queue, programs_.queue());
    show(queue, time_);
    const auto now = now_shown();
    read_signal(now);
    const auto planner = [&](Milliseconds length, UtcTime latest) {
      return slurm::best_begin(length, latest, slots_, now);
    };
    auto round = next_round(jobs_, queue, planner, rules_, now);
    if (options_.dry_run) {
      for (const auto& action : round.actions) tell(action, "would");
      return {};
    }
    if (round.jobs != jobs_) {
      TW_TRY_STATUS(files_->write_atomically(options_.state, to_text(round.jobs)));
      jobs_ = std::move(round.jobs);
    }
    std::string first_failure;
    for (const auto& action : round.actions) {
      const auto done =
          programs_.carry_out(action, time_.real(std::max(Milliseconds{0}, action.begin - now_shown())));
      tell(action, done ? "done" : "failed");
      if (!done && first_failure.empty()) first_failure = done.error().to_string();
    }
    if (!first_failure.empty()) return fail(ErrorCode::unavailable, first_failure);
    return {};
  }

 private:
  [[nodiscard]] UtcTime now_shown() const { return time_.shown(os::SystemClock{}.utc_now()); }

  /// Without a new signal the last one goes on, and what it says of the past no longer counts.
  void read_signal(UtcTime now) {
    auto read = forecast_(now, now + kAhead);
    const auto failure = read ? std::string{} : read.error().to_string();
    if (failure != signal_failure_)
      fmt::print(stderr, "tidewatt slurm controller: {}\n",
                 read ? "the signal is back" : failure + "; begin times stay as they are");
    signal_failure_ = failure;
    if (read) slots_ = std::move(read->slots);
  }

  void tell(const slurm::Action& action, const char* state) const {
    const bool timed = action.act == slurm::Act::set_begin;
    if (options_.json) {
      fmt::print("{}\n", Json{{"job", action.job},
                              {"action", to_string(action.act)},
                              {"begin", timed ? Json(format_rfc3339_short(action.begin)) : Json(nullptr)},
                              {"why", action.why},
                              {"state", state}}
                             .dump());
    } else {
      fmt::print("job {}: {}{} ({}): {}\n", action.job, to_string(action.act),
                 timed ? " " + format_rfc3339_short(action.begin) : "", action.why, state);
    }
    std::fflush(stdout);
  }

  const ControllerOptions& options_;
  slurm::RealTime time_;
  std::unique_ptr<FileSystem> files_;
  SlurmPrograms programs_;
  ReadSignal forecast_;
  slurm::Rules rules_;
  slurm::Jobs jobs_;
  std::vector<runner::SignalSlot> slots_;
  std::string signal_failure_;
};

int control(const ControllerOptions& options) {
  options.signal.check(true);
  const auto every = length_of("--every", options.every);
  Controller controller{options};
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(options.state).parent_path(), ignored);
  const auto lock = FolderLock::take(options.state + ".lock");
  if (!lock)
    return report("slurm controller",
                  Error{ErrorCode::conflict, options.state + " is used by another controller",
                        "one is enough for a cluster; name another file with --state"});
  if (const auto loaded = controller.load(); !loaded) return report("slurm controller", loaded.error());
  std::string last_failure;
  while (!stop_asked()) {
    const auto turned = controller.turn();
    if (!turned && options.once) return report("slurm controller", turned.error());
    const auto failure = turned ? std::string{} : turned.error().to_string();
    if (failure != last_failure)
      fmt::print(stderr, "tidewatt slurm controller: {}\n", turned ? "well again" : failure);
    last_failure = failure;
    if (options.once) break;
    sleep_until_stopped(every);
  }
  return kOk;
}

}  // namespace

void add_slurm_controller(CLI::App& group, int& exit_code) {
  auto* command = group.add_subcommand(
      "controller", "Move begin times as the forecast changes; requeue jobs that asked for it");
  const auto options = std::make_shared<ControllerOptions>();
  options->signal.add_options(*command);
  options->place.add_options(*command);
  command->add_option("--state", options->state, "What it remembers")->capture_default_str();
  command->add_option("--every", options->every, "How often it looks at the queue")->capture_default_str();
  command->add_option("--min-run", options->min_run, "No job is requeued before it ran so long")
      ->capture_default_str();
  command->add_flag("--once", options->once, "One round");
  command->add_flag("--dry-run", options->dry_run, "Say what would be done, and do nothing");
  command->add_flag("--json", options->json, "Print each action as a line of JSON");
  command->footer(
      "Example: tidewatt slurm controller --zone DE --dry-run --once\n"
      "         tidewatt slurm controller --zone DE\n"
      "A delay is a begin time in Slurm itself: jobs start at their latest start although nothing of this "
      "runs.");
  command->callback([options, &exit_code] { exit_code = control(*options); });
}

}  // namespace tidewatt::cli
