#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "children.h"
#include "descendants.h"
#include "errno_error.h"
#include "spawning.h"
#include "tidewatt/os/posix.h"
#include "tidewatt/units/text.h"
#include "unique_fd.h"

namespace tidewatt::os {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMaxOutput = 4U << 20U;
/// A killed process that hangs in the kernel (a stuck driver) can't be reaped yet: don't wait for it longer.
constexpr std::chrono::milliseconds kReapPatience{500};
/// How often to look for the tool's end where the kernel has no pidfd (before 5.3).
constexpr int kPollWithoutPidfd = 10;
/// What a tool leaves running behind our back is looked for this often; at once when it was killed, after its
/// first run, and after every run of one that left something once.
constexpr std::chrono::seconds kSweepPeriod{10};
/// A process may start others between being seen and being killed.
constexpr int kSweeps = 8;
/// Every tool gets such a variable of its own, and all that it starts inherits it.
constexpr std::string_view kMark = "TIDEWATT_TOOL_RUN=";
constexpr std::array<std::string_view, 5> kPath{"/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"};

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_failure(errno, "pipe", "create");
  Pipe pipe{UniqueFd{ends[0]}, UniqueFd{ends[1]}};
  ::fcntl(pipe.read_end.get(), F_SETFL, O_NONBLOCK);  // ours only: the tool's end stays blocking
  return pipe;
}

Result<std::string> find_tool(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (::access(name.c_str(), X_OK) == 0) return name;
    return errno_failure(errno, name, "run");
  }
  for (const auto folder : kPath) {
    std::string path = fmt::format("{}/{}", folder, name);
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return fail(ErrorCode::not_found, fmt::format("{}: no such tool in {}", name, fmt::join(kPath, ":")));
}

Result<pid_t> spawn(const std::string& tool, const std::vector<std::string>& argv, std::string mark,
                    const Pipe& out, const Pipe& err) {
  SpawnSettings settings;
  posix_spawn_file_actions_addopen(&settings.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&settings.actions, out.write_end.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&settings.actions, err.write_end.get(), STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&settings.actions, STDERR_FILENO + 1);
  settings.begin_clean();

  std::vector<char*> arguments;
  for (const auto& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::string path = fmt::format("PATH={}", fmt::join(kPath, ":"));
  std::string locale = "LC_ALL=C";
  char* environment[] = {path.data(), locale.data(), mark.data(), nullptr};
  pid_t pid = -1;
  int error = 0;
  start_own_child([&] {
    error = ::posix_spawn(&pid, tool.c_str(), &settings.actions, &settings.attributes, arguments.data(),
                          static_cast<char**>(environment));
    return error == 0 ? pid : -1;
  });
  if (error != 0) return errno_failure(error, tool, "run");
  return pid;
}

/// Leaves the zombie, so that neither its pid nor its group can be somebody else's yet.
bool has_ended(pid_t pid) {
  siginfo_t info{};
  const int done = ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT);
  return done != 0 || info.si_pid == pid;
}

enum class Drained { open, closed, too_much };

Drained drain(const UniqueFd& pipe, std::string& into) {
  char chunk[16384];
  for (;;) {
    const auto got = ::read(pipe.get(), chunk, sizeof chunk);
    if (got == 0) return Drained::closed;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN ? Drained::open : Drained::closed;
    if (into.size() + static_cast<std::size_t>(got) > kMaxOutput) return Drained::too_much;
    into.append(chunk, static_cast<std::size_t>(got));
  }
}

class PosixProcessRunner final : public ProcessRunner {
 public:
  ~PosixProcessRunner() override { reap_late_ones(); }

  Result<ProcessOutput> run(const std::vector<std::string>& argv, Milliseconds deadline) override;

 private:
  int kill_and_reap(pid_t pid, const std::string& tool, const std::string& mark, bool with_strays);
  void end_orphans();
  void reap_late_ones();
  void sweep();
  std::string next_mark(const std::string& tool);
  bool is_suspect(const std::string& tool);

  const std::string mark_prefix_ = new_prefix();
  std::mutex mutex_;
  std::vector<pid_t> late_;  ///< killed, but stuck in the kernel when last looked at
  std::vector<pid_t>
      strays_;  ///< the same, of those that left their group: children of ours only if we are init
  std::set<std::string> running_;
  std::map<std::uint64_t, std::string> tools_;  ///< of the runs since the last sweep
  std::set<std::string> known_;                 ///< tools that ran before
  std::set<std::string> leaving_;               ///< tools that left something running
  std::uint64_t runs_ = 0;
  SteadyClock::time_point swept_ = SteadyClock::now();

  static std::string new_prefix() {
    static std::atomic<unsigned> runners{0};
    return fmt::format("{}{}.{}.", kMark, ::getpid(), ++runners);
  }
};

/// Reads both pipes until the tool ends. What its own children may still write is not waited for.
Status collect(pid_t pid, Pipe& out, Pipe& err, ProcessOutput& output, const std::string& tool,
               Milliseconds deadline) {
  const auto until = SteadyClock::now() + deadline;
  const UniqueFd pidfd = open_pidfd(pid);
  for (;;) {
    // Look before draining: all that the tool wrote is in the pipes once it has ended.
    const bool ended = has_ended(pid);
    for (auto& [pipe, text] : {std::pair<Pipe*, std::string*>{&out, &output.out}, {&err, &output.err}}) {
      if (!pipe->read_end.valid()) continue;
      const Drained state = drain(pipe->read_end, *text);
      if (state == Drained::too_much)
        return fail(ErrorCode::io, fmt::format("{}: wrote more than {} bytes", tool, kMaxOutput));
      if (state == Drained::closed) pipe->read_end.reset();
    }
    if (ended) return {};
    const auto left = std::chrono::ceil<Milliseconds>(until - SteadyClock::now()).count();
    if (left <= 0)
      return fail(ErrorCode::timed_out,
                  fmt::format("{}: no end within {} ms, killed", tool, deadline.count()));
    std::array<pollfd, 3> waiting{pollfd{out.read_end.get(), POLLIN, 0},
                                  pollfd{err.read_end.get(), POLLIN, 0},
                                  pollfd{pidfd.get(), POLLIN, 0}};  // poll skips negative descriptors
    const auto longest = pidfd.valid() ? Milliseconds::rep{60'000} : Milliseconds::rep{kPollWithoutPidfd};
    ::poll(waiting.data(), waiting.size(), static_cast<int>(std::min(left, longest)));
  }
}

std::vector<pid_t> kill_strays(pid_t root, const std::function<bool(std::string_view)>& is_ours,
                               pid_t since) {
  std::vector<pid_t> killed;
  for (int turn = 0; turn < kSweeps; ++turn) {
    const auto found = descendants(root, is_ours, since);
    if (found.empty()) break;
    for (const pid_t pid : found) ::kill(pid, SIGKILL);
    killed.insert(killed.end(), found.begin(), found.end());
  }
  return killed;
}

/// Orphans become children of ours only then; elsewhere their pids are soon somebody else's.
bool adopts_orphans() {
  int subreaper = 0;
  return ::getpid() == 1 || (::prctl(PR_GET_CHILD_SUBREAPER, &subreaper) == 0 && subreaper != 0);
}

/// Kills the group, and with `with_strays` what left it, then collects the tool and, when we are init or a
/// subreaper, its orphans.
/// @return exit code; 128 + signal when killed
int PosixProcessRunner::kill_and_reap(pid_t pid, const std::string& tool, const std::string& mark,
                                      bool with_strays) {
  int exit_code = 128 + SIGKILL;
  std::vector<pid_t> strays;
  // Before its end, which would part the tool from its children.
  const auto is_ours = [&](std::string_view variable) { return variable == mark; };
  if (with_strays) strays = kill_strays(pid, is_ours, pid);
  ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);  // it may have left its group
  if (with_strays) {
    const auto more = kill_strays(0, is_ours, pid);
    strays.insert(strays.end(), more.begin(), more.end());
  }
  bool reaped = false;
  const auto until = SteadyClock::now() + kReapPatience;
  for (;;) {
    int status = 0;
    const pid_t got = ::waitpid(reaped ? -pid : pid, &status, WNOHANG);
    if (got == pid) {
      reaped = true;
      forget_own_child(pid);
      exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    if (got > 0 || (got < 0 && errno == EINTR)) continue;
    if (got < 0) break;  // no child of that group is left
    if (SteadyClock::now() >= until) {
      const std::lock_guard lock{mutex_};
      late_.push_back(pid);
      break;
    }
    std::this_thread::sleep_for(Milliseconds{1});
  }
  const std::lock_guard lock{mutex_};
  running_.erase(mark);
  if (!strays.empty()) leaving_.insert(tool);
  if (adopts_orphans()) strays_.insert(strays_.end(), strays.begin(), strays.end());
  // While another tool runs an orphan may be its helper.
  if (running_.empty()) end_orphans();
  return exit_code;
}

/// What cleared its environment and left its session is found by being ours now.
void PosixProcessRunner::end_orphans() {
  for (int turn = 0; turn < kSweeps; ++turn) {
    const auto orphans = adopted_children();
    if (orphans.empty()) return;
    for (const pid_t pid : orphans) {
      ::kill(pid, SIGKILL);
      const auto until = SteadyClock::now() + kReapPatience;
      while (::waitpid(pid, nullptr, WNOHANG) == 0 && SteadyClock::now() < until)
        std::this_thread::sleep_for(Milliseconds{1});
    }
  }
}

void PosixProcessRunner::reap_late_ones() {
  const std::lock_guard lock{mutex_};
  std::erase_if(late_, [](pid_t group) {
    pid_t got = 0;
    do {
      got = ::waitpid(-group, nullptr, WNOHANG);
      if (got == group) forget_own_child(group);
    } while (got > 0);
    return got < 0;
  });
  std::erase_if(strays_, [](pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG) != 0; });
}

std::string PosixProcessRunner::next_mark(const std::string& tool) {
  const std::lock_guard lock{mutex_};
  tools_.emplace(++runs_, tool);
  return *running_.insert(fmt::format("{}{}", mark_prefix_, runs_)).first;
}

bool PosixProcessRunner::is_suspect(const std::string& tool) {
  const std::lock_guard lock{mutex_};
  return known_.insert(tool).second || leaving_.contains(tool);
}

/// Ends what tools that have ended left running in sessions of their own: a few each time would pile up.
void PosixProcessRunner::sweep() {
  std::set<std::string> running;
  std::uint64_t last = 0;  // a run that begins meanwhile has a higher number
  {
    const std::lock_guard lock{mutex_};
    if (SteadyClock::now() - swept_ < kSweepPeriod) return;
    swept_ = SteadyClock::now();
    running = running_;
    last = runs_;
  }
  std::set<std::uint64_t> left_by;
  const auto killed = kill_strays(
      0,
      [&](std::string_view variable) {
        if (!variable.starts_with(mark_prefix_)) return false;
        const auto number = parse_uint64(variable.substr(mark_prefix_.size()));
        if (!number || *number > last || running.contains(std::string{variable})) return false;
        left_by.insert(*number);
        return true;
      },
      0);
  const std::lock_guard lock{mutex_};
  for (const auto number : left_by)
    if (const auto tool = tools_.find(number); tool != tools_.end()) leaving_.insert(tool->second);
  std::erase_if(tools_, [&](const auto& run) {
    return run.first <= last && !running_.contains(fmt::format("{}{}", mark_prefix_, run.first));
  });
  if (adopts_orphans()) strays_.insert(strays_.end(), killed.begin(), killed.end());
}

Result<ProcessOutput> PosixProcessRunner::run(const std::vector<std::string>& argv, Milliseconds deadline) {
  reap_late_ones();
  if (argv.empty() || argv.front().empty())
    return fail(ErrorCode::invalid_input, "no tool to run: argv is empty");
  const bool cut = std::any_of(argv.begin(), argv.end(), [](const std::string& argument) {
    return argument.find('\0') != std::string::npos;  // execve would see half of it
  });
  if (cut) return fail(ErrorCode::invalid_input, fmt::format("{}: an argument has a NUL byte", argv.front()));
  TW_TRY(const std::string tool, find_tool(argv.front()));
  TW_TRY(Pipe out, make_pipe());
  TW_TRY(Pipe err, make_pipe());
  sweep();
  const auto mark = next_mark(tool);
  const auto started = spawn(tool, argv, mark, out, err);
  if (!started) {
    const std::lock_guard lock{mutex_};
    running_.erase(mark);
    return tl::unexpected(started.error());
  }
  const pid_t pid = *started;
  out.write_end.reset();
  err.write_end.reset();

  ProcessOutput output;
  const Status done = collect(pid, out, err, output, tool, deadline);
  // A pipe that is still open after the tool's end is held by a child of its own.
  const bool left_some = out.read_end.valid() || err.read_end.valid();
  // Its end tells nothing of what it left in a session of its own with the output closed: that is looked for
  // where it costs little, or was worth it before.
  const bool suspect = is_suspect(tool);
  output.exit_code = kill_and_reap(pid, tool, mark, !done || left_some || suspect);
  if (!done) return tl::unexpected(done.error());
  return output;
}

}  // namespace

void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::unique_ptr<ProcessRunner> make_process_runner() { return std::make_unique<PosixProcessRunner>(); }

}  // namespace tidewatt::os
