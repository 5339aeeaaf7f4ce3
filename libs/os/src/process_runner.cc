#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "errno_error.h"
#include "spawning.h"
#include "tidewatt/os/posix.h"
#include "unique_fd.h"

namespace tidewatt::os {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMaxOutput = 4U << 20U;
/// A killed process that hangs in the kernel (a stuck driver) can't be reaped yet: don't wait for it longer.
constexpr std::chrono::milliseconds kReapPatience{500};
/// How often to look for the tool's end where the kernel has no pidfd (before 5.3).
constexpr int kPollWithoutPidfd = 10;
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

Result<pid_t> spawn(const std::string& tool, const std::vector<std::string>& argv, const Pipe& out,
                    const Pipe& err) {
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
  char* environment[] = {path.data(), locale.data(), nullptr};
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, tool.c_str(), &settings.actions, &settings.attributes,
                                  arguments.data(), static_cast<char**>(environment));
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
  int kill_and_reap(pid_t pid);
  void reap_late_ones();

  std::mutex mutex_;
  std::vector<pid_t> late_;  ///< killed, but stuck in the kernel when last looked at
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

/// Kills the group, then collects the tool and, when we are init or a subreaper, its orphans.
/// @return exit code; 128 + signal when killed
int PosixProcessRunner::kill_and_reap(pid_t pid) {
  int exit_code = 128 + SIGKILL;
  ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);  // it may have left its group
  bool reaped = false;
  const auto until = SteadyClock::now() + kReapPatience;
  for (;;) {
    int status = 0;
    const pid_t got = ::waitpid(reaped ? -pid : pid, &status, WNOHANG);
    if (got == pid) {
      reaped = true;
      exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    if (got > 0 || (got < 0 && errno == EINTR)) continue;
    if (got < 0) return exit_code;  // no child of that group is left
    if (SteadyClock::now() >= until) break;
    std::this_thread::sleep_for(Milliseconds{1});
  }
  const std::lock_guard lock{mutex_};
  late_.push_back(pid);
  return exit_code;
}

void PosixProcessRunner::reap_late_ones() {
  const std::lock_guard lock{mutex_};
  std::erase_if(late_, [](pid_t group) {
    pid_t got = 0;
    do {
      got = ::waitpid(-group, nullptr, WNOHANG);
    } while (got > 0);
    return got < 0;
  });
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
  TW_TRY(const pid_t pid, spawn(tool, argv, out, err));
  out.write_end.reset();
  err.write_end.reset();

  ProcessOutput output;
  const Status done = collect(pid, out, err, output, tool, deadline);
  output.exit_code = kill_and_reap(pid);
  if (!done) return tl::unexpected(done.error());
  return output;
}

}  // namespace

std::unique_ptr<ProcessRunner> make_process_runner() { return std::make_unique<PosixProcessRunner>(); }

}  // namespace tidewatt::os
