#include "run_keeper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <limits>
#include <memory>

#include "run_folder.h"
#include "run_job.h"
#include "tidewatt/os/posix.h"
#include "tidewatt/runner/decide.h"
#include "tidewatt/units/text.h"

extern char** environ;

namespace tidewatt::cli {
namespace {

using runner::Pause;
using runner::State;

constexpr int kTemporaryFailure = 75;  ///< sysexits' EX_TEMPFAIL: "start me again"
constexpr int kBySignal = 128;
constexpr Milliseconds kTermPatience{30'000};
constexpr Milliseconds kLongestNap{1'000};
constexpr Milliseconds kPausingNap{50};

int wake_signal() { return SIGRTMIN; }

/// A command beside the run's: what makes a checkpoint.
class Helper {
 public:
  void start(const std::vector<std::string>& words, const std::string& done_file) {
    auto copy = words;
    std::vector<char*> argv;
    for (auto& word : copy) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::setenv("TIDEWATT_CHECKPOINT_DONE", done_file.c_str(), 1);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    if (::posix_spawnp(&pid_, argv[0], nullptr, &attributes, argv.data(), environ) != 0) pid_ = 0;
    ::posix_spawnattr_destroy(&attributes);
  }
  [[nodiscard]] bool runs() {
    if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = 0;
    return pid_ > 0;
  }
  void give_up() {
    if (!runs()) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
};

class Keeper {
 public:
  Keeper(const RunFolder& folder, runner::Order order, runner::Record record, std::shared_ptr<Clock> clock)
      : folder_(folder),
        order_(std::move(order)),
        record_(std::move(record)),
        clock_(std::move(clock)),
        job_(folder_, order_) {}

  int run() {
    take_up();
    while (record_.state != State::ended) {
      if (const auto code = job_.ended()) on_end(*code);
      if (record_.state == State::ended) break;
      if (auto plan = folder_.plan()) plan_ = std::move(*plan);
      const auto decision = decide(order_, record_, plan_, clock_->utc_now());
      if (decision.run)
        go(decision.why);
      else
        hold(decision.why);
      if (record_.state != State::ended) nap(decision.look_again);
    }
    return 0;
  }

 private:
  /// What an earlier keeper left.
  void take_up() {
    if (record_.state == State::ended) return;
    const bool there = job_.adopt();
    const auto now = clock_->utc_now();
    const bool open = !record_.pieces.empty() && !record_.pieces.back().end;
    if (there) {
      const bool stopped = record_.state == State::paused && order_.pause != Pause::kill;
      if (stopped) return;
      if (!open) record_.pieces.push_back({now, std::nullopt});
      (void)job_.resume();
      enter(State::running, "taken up again");
      return;
    }
    if (!job_.was_started() || (record_.state == State::paused && order_.pause == Pause::kill)) return;
    if (open) {
      record_.pieces.back().end = record_.pieces.back().begin;
      record_.notes.push_back("how long the last piece ran isn't known: it counts as nothing");
    }
    if (order_.pause == Pause::kill) {
      enter(State::paused, "ended from outside, to be started again");
      return;
    }
    finish(std::nullopt, "ended from outside while nobody watched (a reboot?)");
  }

  void go(const std::string& why) {
    switch (record_.state) {
      case State::waiting:
        begin(why);
        break;
      case State::paused:
        if (order_.pause == Pause::kill)
          begin(why);
        else if (const auto resumed = job_.resume(); resumed)
          open_piece(why);
        else
          log(resumed.error());
        break;
      case State::pausing:
        if (term_sent_) {
          keep_ending();
        } else {
          helper_.give_up();
          enter(State::running, why);
        }
        break;
      case State::running:
      case State::ended:
        break;
    }
  }

  void hold(const std::string& why) {
    if (record_.state == State::running && !unpausable_) {
      ask_for_checkpoint();
      enter(State::pausing, why);
    }
    if (record_.state == State::pausing && (term_sent_ || checkpoint_done())) pause(why);
    if (record_.state == State::waiting && record_.why != why) enter(State::waiting, why);
  }

  void begin(const std::string& why) {
    const auto started = job_.start();
    if (!started) {
      log(started.error());
      finish(126, started.error().message);
      return;
    }
    open_piece(why);
  }

  void open_piece(const std::string& why) {
    record_.pieces.push_back({clock_->utc_now(), std::nullopt});
    enter(State::running, why);
  }

  void ask_for_checkpoint() {
    asked_at_ = clock_->mono_now();
    term_sent_ = false;
    if (!order_.checkpoint.asked_for()) return;
    (void)folder_.files().remove(folder_.checkpoint_file());
    if (order_.checkpoint.signal) job_.send(*order_.checkpoint.signal);
    if (!order_.checkpoint.command.empty())
      helper_.start(order_.checkpoint.command, folder_.checkpoint_file());
  }

  bool checkpoint_done() {
    const auto& ask = order_.checkpoint;
    if (!ask.asked_for()) return true;
    if (clock_->mono_now() - asked_at_ >= ask.patience) {
      helper_.give_up();
      note("a checkpoint was asked for and not reported done in time");
      return true;
    }
    if (!ask.command.empty()) return !helper_.runs();
    return folder_.files().exists(folder_.checkpoint_file());
  }

  void pause(const std::string& why) {
    if (order_.pause == Pause::kill) {
      keep_ending();
      return;
    }
    if (const auto paused = job_.pause(); !paused) {
      note("it can't be paused: " + paused.error().message);
      unpausable_ = true;
      enter(State::running, "it can't be paused");
      return;
    }
    record_.pieces.back().end = clock_->utc_now();
    enter(State::paused, why);
  }

  /// Asked to end, then made to.
  void keep_ending() {
    if (!term_sent_) {
      term_sent_ = true;
      asked_at_ = clock_->mono_now();
      job_.send(SIGTERM);
    } else if (clock_->mono_now() - asked_at_ >= kTermPatience) {
      job_.kill_all();
    }
  }

  void on_end(int code) {
    auto& last = record_.pieces.back();
    if (!last.end) last.end = clock_->utc_now();
    const bool asked = record_.state == State::pausing && term_sent_;
    if (asked && (code < 0 || code == kTemporaryFailure || code >= kBySignal)) {
      enter(State::paused, "ended for a pause, to be started again");
      return;
    }
    if (code < 0)
      finish(std::nullopt, "ended; nobody was told how");
    else
      finish(code, "ended");
  }

  void finish(std::optional<int> code, const std::string& why) {
    helper_.give_up();
    job_.leave_cgroup();
    record_.exit_code = code;
    enter(State::ended, why);
  }

  void on_signal(int signal) {
    if (signal == SIGCHLD || signal == wake_signal()) return;
    if (record_.state == State::waiting || (record_.state == State::paused && order_.pause == Pause::kill)) {
      if (signal != SIGUSR1 && signal != SIGUSR2) finish(kBySignal + signal, "called off before it ran on");
      return;
    }
    if (record_.state == State::paused) {
      if (!job_.resume()) return;
      open_piece("to take a signal");
    }
    job_.send(signal);
  }

  void nap(UtcTime look_again) {
    const auto now = clock_->utc_now();
    auto time = record_.state == State::pausing ? kPausingNap : kLongestNap;
    // A trial's clock runs faster than ours: it can't be slept by.
    if (look_again > now) time = std::min(time, std::max(real(look_again - now), Milliseconds{1}));
    sigset_t awaited;
    ::sigemptyset(&awaited);
    for (const int signal : signals()) ::sigaddset(&awaited, signal);
    const timespec limit{time.count() / 1000, (time.count() % 1000) * 1'000'000};
    const int signal = ::sigtimedwait(&awaited, nullptr, &limit);
    if (signal > 0) on_signal(signal);
  }

  /// How long a stretch of the run's clock lasts on ours.
  [[nodiscard]] Milliseconds real(Milliseconds stretch) const {
    const auto mono = clock_->mono_now();
    const auto utc = clock_->utc_now();
    if (mono - since_mono_ > Milliseconds{20} && utc > since_utc_)
      return Milliseconds{static_cast<std::int64_t>(static_cast<double>(stretch.count()) *
                                                    static_cast<double>((mono - since_mono_).count()) /
                                                    static_cast<double>((utc - since_utc_).count()))};
    return Milliseconds{1};
  }

  void enter(State state, const std::string& why) {
    record_.state = state;
    record_.why = why;
    // Where the disk takes nothing the command is still looked after.
    if (const auto written = folder_.put(record_); !written) log(written.error());
  }

  void note(const std::string& text) {
    if (std::ranges::find(record_.notes, text) == record_.notes.end()) record_.notes.push_back(text);
  }

  void log(const Error& error) const {
    if (const int file =
            ::open(folder_.keeper_log().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        file >= 0) {
      const auto line = format_rfc3339(clock_->utc_now()) + " " + error.to_string() + "\n";
      (void)!::write(file, line.data(), line.size());
      ::close(file);
    }
  }

 public:
  static std::vector<int> signals() {
    return {SIGCHLD, SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2, wake_signal()};
  }

 private:
  const RunFolder& folder_;
  runner::Order order_;
  runner::Record record_;
  runner::Plan plan_;
  std::shared_ptr<Clock> clock_;
  SteadyTime since_mono_ = clock_->mono_now();
  UtcTime since_utc_ = clock_->utc_now();
  RunJob job_;
  Helper helper_;
  SteadyTime asked_at_;
  bool term_sent_ = false;
  bool unpausable_ = false;
};

int give_up(const RunFolder& folder, const Error& error) {
  (void)folder.files().write_atomically(folder.keeper_log(), error.to_string() + "\n");
  return 1;
}

}  // namespace

int keep_run(const std::string& path) {
  ::setsid();
  ::signal(SIGHUP, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t blocked;
  ::sigemptyset(&blocked);
  for (const int signal : Keeper::signals()) ::sigaddset(&blocked, signal);
  ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
  const RunFolder folder{os::make_file_system(), path};
  const auto lock = FolderLock::take(folder.keeper_lock());
  if (!lock) return 0;
  if (const auto written =
          folder.files().write_atomically(path + "/keeper.pid", std::to_string(::getpid()) + "\n");
      !written)
    return give_up(folder, written.error());
  auto order = folder.order();
  if (!order) return give_up(folder, order.error());
  auto record = folder.record();
  if (!record) return give_up(folder, record.error());
  auto clock = folder.clock();
  if (!clock) return give_up(folder, clock.error());
  return Keeper{folder, std::move(*order), std::move(*record), std::move(*clock)}.run();
}

bool start_keeper(const std::string& folder) {
  std::string self = "/proc/self/exe";
  std::string word = kKeeperWord;
  std::string path = folder;
  char* argv[] = {self.data(), word.data(), path.data(), nullptr};
  pid_t pid = 0;
  return ::posix_spawn(&pid, self.c_str(), nullptr, nullptr, argv, environ) == 0;
}

int keeper_pid(const std::string& folder) {
  if (!FolderLock::is_taken(folder + "/keeper.lock")) return 0;
  const auto text = os::make_file_system()->read_text(folder + "/keeper.pid");
  const auto pid = text ? parse_int64(std::string_view{*text}.substr(0, text->find('\n'))) : std::nullopt;
  return pid && *pid > 1 && *pid <= std::numeric_limits<int>::max() ? static_cast<int>(*pid) : 0;
}

void wake_keeper(int pid) {
  if (pid > 1) ::kill(pid, wake_signal());
}

}  // namespace tidewatt::cli
