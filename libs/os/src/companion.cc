#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "children.h"
#include "errno_error.h"
#include "spawning.h"
#include "tidewatt/os/posix.h"
#include "unique_fd.h"

// NOLINTNEXTLINE(readability-identifier-naming): POSIX names it
extern char** environ;

namespace tidewatt::os {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// How long a killed child may take to end before it counts as stuck in the kernel.
constexpr std::chrono::milliseconds kCompanionReapPatience{500};
/// How long a child that closed its end may take to exit by itself.
constexpr std::chrono::milliseconds kExitPatience{200};
constexpr std::size_t kLongestQuestion = 4096;

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

class PosixCompanion final : public Companion {
 public:
  PosixCompanion(std::string name, pid_t pid, UniqueFd line)
      : name_(std::move(name)), pid_(pid), line_(std::move(line)) {}
  PosixCompanion(const PosixCompanion&) = delete;
  PosixCompanion& operator=(const PosixCompanion&) = delete;
  ~PosixCompanion() override {
    kill();
    reap_within(kCompanionReapPatience);
  }

  Result<std::string> ask(std::string_view question, Milliseconds deadline, std::size_t max_bytes) override {
    auto answer = talk(question, SteadyClock::now() + deadline, max_bytes);
    if (!answer && answer.error().code == ErrorCode::timed_out)
      answer = fail(ErrorCode::timed_out,
                    fmt::format("{}: no answer within {} ms, killed", name_, deadline.count()));
    if (!answer) kill();
    return answer;
  }

  bool gone() override {
    kill();
    return reap();
  }

 private:
  Result<std::string> talk(std::string_view question, SteadyClock::time_point until, std::size_t max_bytes) {
    if (!line_.valid()) return fail(ErrorCode::unavailable, fmt::format("{}: has been killed", name_));
    std::string out{question};
    out += '\n';
    TW_TRY_STATUS(send(out, until));
    std::string answer;
    char chunk[16384];
    for (;;) {
      TW_TRY_STATUS(wait(POLLIN, until));
      const auto got = ::recv(line_.get(), chunk, sizeof chunk, MSG_DONTWAIT);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got <= 0) return tl::unexpected(lost());
      answer.append(chunk, static_cast<std::size_t>(got));
      const auto end = answer.find('\n');
      if (end == std::string::npos && answer.size() <= max_bytes) continue;
      if (std::min(end, answer.size()) > max_bytes)
        return fail(ErrorCode::corrupt,
                    fmt::format("{}: answered with more than {} bytes, killed", name_, max_bytes));
      if (end + 1 != answer.size())
        return fail(ErrorCode::corrupt, fmt::format("{}: wrote more than its answer, killed", name_));
      answer.pop_back();
      return answer;
    }
  }

  Status send(std::string_view text, SteadyClock::time_point until) {
    while (!text.empty()) {
      TW_TRY_STATUS(wait(POLLOUT, until));
      const auto sent = ::send(line_.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (sent < 0) return tl::unexpected(lost());
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return {};
  }

  Status wait(short event, SteadyClock::time_point until) {
    const auto left = std::chrono::ceil<Milliseconds>(until - SteadyClock::now()).count();
    if (left <= 0) return fail(ErrorCode::timed_out, "");
    pollfd waiting{line_.get(), event, 0};
    ::poll(&waiting, 1, static_cast<int>(std::min<Milliseconds::rep>(left, 60'000)));
    return {};
  }

  /// The other end is closed: why?
  Error lost() {
    const auto until = SteadyClock::now() + kExitPatience;
    while (!reap() && SteadyClock::now() < until) std::this_thread::sleep_for(Milliseconds{1});
    return {ErrorCode::unavailable,
            fmt::format("{}: {}", name_, reaped_ ? how_it_ended(status_) : "closed its output, killed"),
            {}};
  }

  void kill() {
    line_.reset();
    if (reaped_) return;
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
  }
  bool reap() {
    if (reaped_) return true;
    const pid_t got = ::waitpid(pid_, &status_, WNOHANG);
    reaped_ = got == pid_ || (got < 0 && errno == ECHILD);
    if (reaped_) forget_own_child(pid_);
    return reaped_;
  }
  void reap_within(Milliseconds patience) {
    const auto until = SteadyClock::now() + patience;
    while (!reap() && SteadyClock::now() < until) std::this_thread::sleep_for(Milliseconds{1});
  }

  std::string name_;
  pid_t pid_;
  UniqueFd line_;
  int status_ = 0;
  bool reaped_ = false;
};

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto put = ::write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) ::_exit(0);  // the parent is gone
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

/// Keeps input and output for us alone, so that nothing a library prints gets between our lines.
UniqueFd keep(int standard_fd) { return UniqueFd{::fcntl(standard_fd, F_DUPFD_CLOEXEC, 3)}; }

}  // namespace

Result<std::unique_ptr<Companion>> start_companion(std::string name, const std::vector<std::string>& argv) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return errno_failure(errno, name, "open a socket pair for");
  UniqueFd ours{ends[0]};
  const UniqueFd theirs{ends[1]};

  SpawnSettings settings;
  posix_spawn_file_actions_adddup2(&settings.actions, theirs.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&settings.actions, theirs.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&settings.actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&settings.actions, STDERR_FILENO + 1);
  settings.begin_clean();

  std::vector<char*> arguments;
  arguments.reserve(argv.size() + 1);
  for (const auto& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> environment;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (!std::string_view{*variable}.starts_with("LC_ALL=")) environment.push_back(*variable);
  std::string locale = "LC_ALL=C";
  environment.push_back(locale.data());
  environment.push_back(nullptr);
  pid_t pid = -1;
  int error = 0;
  start_own_child([&] {
    error = ::posix_spawn(&pid, argv.at(0).c_str(), &settings.actions, &settings.attributes, arguments.data(),
                          environment.data());
    return error == 0 ? pid : -1;
  });
  if (error != 0) return errno_failure(error, name, "start");
  return std::make_unique<PosixCompanion>(std::move(name), pid, std::move(ours));
}

void serve_as_companion(const std::function<std::string(std::string_view)>& answer) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // even when a library hangs and never reads the end of its input
  ::prctl(PR_SET_NAME, "tidewatt-sensor");
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  for (const int meant_for_the_parent : {SIGTERM, SIGINT, SIGHUP, SIGPIPE})
    ::signal(meant_for_the_parent, SIG_IGN);
  const UniqueFd in = keep(STDIN_FILENO);
  const UniqueFd out = keep(STDOUT_FILENO);
  if (!in.valid() || !out.valid()) ::_exit(1);
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere < 0) ::_exit(1);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, standard);

  std::string pending;
  char chunk[1024];
  for (;;) {
    const auto end = pending.find('\n');
    if (end != std::string::npos) {
      write_all(out.get(), answer(std::string_view{pending}.substr(0, end)) + '\n');
      pending.erase(0, end + 1);
      continue;
    }
    if (pending.size() > kLongestQuestion) ::_exit(1);
    const auto got = ::read(in.get(), chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    // Not exit(): a library's destructors may hang or crash, and the kernel frees what they would.
    if (got <= 0) ::_exit(0);
    pending.append(chunk, static_cast<std::size_t>(got));
  }
}

}  // namespace tidewatt::os
