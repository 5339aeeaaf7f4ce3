#include "run_job.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "tidewatt/os/posix.h"

namespace tidewatt::cli {
namespace {

/// Where the second version's hierarchy is mounted: alone, or beside the first one's. Empty: nowhere.
std::string cgroups(const FileSystem& files) {
  for (const std::string root : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"})
    if (files.exists(root + "/cgroup.controllers")) return root;
  return {};
}

/// Of /proc/PID/stat: when it started, in clock ticks. nullopt for none and for a zombie.
std::optional<std::uint64_t> start_ticks(const FileSystem& files, pid_t pid) {
  const auto stat = files.read_text(fmt::format("/proc/{}/stat", pid));
  if (!stat) return std::nullopt;
  const auto name_end = stat->rfind(')');  // a name may hold anything, brackets too
  if (name_end == std::string::npos || name_end + 2 >= stat->size()) return std::nullopt;
  std::string_view rest{*stat};
  rest.remove_prefix(name_end + 2);
  if (rest.front() == 'Z' || rest.front() == 'X') return std::nullopt;
  for (int field = 3; field < 22; ++field) {
    const auto space = rest.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(space + 1);
  }
  std::uint64_t ticks = 0;
  for (const char c : rest) {
    if (c < '0' || c > '9') break;
    ticks = ticks * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return ticks;
}

/// The cgroup of this process in the second hierarchy; empty where there is none.
std::string own_cgroup(const FileSystem& files) {
  const auto root = cgroups(files);
  const auto text = files.read_text("/proc/self/cgroup");
  if (root.empty() || !text) return {};
  const auto at = text->find("0::");
  if (at == std::string::npos || (at > 0 && (*text)[at - 1] != '\n')) return {};
  const auto path = text->substr(at + 3, text->find('\n', at) - at - 3);
  return path == "/" ? root : root + path;
}

Status write_file(const std::string& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return fail(ErrorCode::io, fmt::format("{}: {}", path, std::strerror(errno)));
  const auto written = ::write(file, text.data(), text.size());
  const int failure = errno;
  ::close(file);
  if (written != static_cast<ssize_t>(text.size()))
    return fail(ErrorCode::io, fmt::format("{}: {}", path, std::strerror(failure)));
  return {};
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  list.reserve(words.size() + 1);
  for (auto& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

}  // namespace

std::string freeze_problem(const FileSystem& files) {
  const auto own = own_cgroup(files);
  if (own.empty()) return "there is no cgroup of the second version here";
  if (!files.exists(own + "/cgroup.freeze") && own != cgroups(files)) return own + " can't be frozen";
  if (::access(own.c_str(), W_OK) != 0) return "no cgroup may be made in " + own;
  return {};
}

RunJob::RunJob(const RunFolder& folder, const runner::Order& order) : folder_(folder), order_(order) {}

bool RunJob::was_started() const { return folder_.files().exists(folder_.job_file()); }

bool RunJob::adopt() {
  const auto text = folder_.files().read_text(folder_.job_file());
  if (!text) return false;
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  const auto text_of = [&](const char* name) {
    return json.is_object() && json.contains(name) && json[name].is_string() ? json[name].get<std::string>()
                                                                             : std::string{};
  };
  const auto number_of = [&](const char* name) -> std::int64_t {
    return json.is_object() && json.contains(name) && json[name].is_number_integer()
               ? json[name].get<std::int64_t>()
               : 0;
  };
  cgroup_ = text_of("cgroup");
  const auto pid = number_of("pid");
  if (pid <= 1 || pid > std::numeric_limits<pid_t>::max()) return false;
  if (text_of("boot_id") != os::boot_id(folder_.files())) return false;
  const auto ticks = start_ticks(folder_.files(), static_cast<pid_t>(pid));
  if (!ticks || static_cast<std::int64_t>(*ticks) != number_of("start_ticks")) return false;
  pid_ = static_cast<pid_t>(pid);
  ours_ = false;
  return true;
}

void RunJob::enter_cgroup() {
  const auto own = own_cgroup(folder_.files());
  if (own.empty()) return;
  const auto path = own + "/tidewatt-run-" + order_.id + ".scope";
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) return;
  if (write_file(path + "/cgroup.procs", std::to_string(pid_)))
    cgroup_ = path;
  else
    ::rmdir(path.c_str());
}

Status RunJob::start() {
  int gate[2];
  if (::pipe2(gate, O_CLOEXEC) != 0)
    return fail(ErrorCode::io, fmt::format("no pipe: {}", std::strerror(errno)));
  auto words = order_.argv;
  const auto argv = pointers(words);
  const auto checkpoint = folder_.checkpoint_file();
  const pid_t child = ::fork();
  if (child < 0) {
    const auto why = std::strerror(errno);
    ::close(gate[0]);
    ::close(gate[1]);
    return fail(ErrorCode::io, fmt::format("no process can be started: {}", why));
  }
  if (child == 0) {
    // A session, not only a group: a stopped group whose session's others die is hung up by the kernel.
    ::setsid();
    ::close(gate[1]);
    char go = 0;
    if (::read(gate[0], &go, 1) != 1) ::_exit(127);  // nobody knows of us: not to run at all
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    ::signal(SIGHUP, SIG_DFL);
    ::setenv("TIDEWATT_CHECKPOINT_DONE", checkpoint.c_str(), 1);
    ::setenv("TIDEWATT_RUN_ID", order_.id.c_str(), 1);
    if (::chdir(order_.folder.c_str()) != 0) {
      fmt::print(stderr, "tidewatt run: {}: {}\n", order_.folder, std::strerror(errno));
      ::_exit(126);
    }
    ::execvp(argv[0], argv.data());
    const int failure = errno;
    fmt::print(stderr, "tidewatt run: {}: {}\n", argv[0], std::strerror(failure));
    ::_exit(failure == ENOENT ? 127 : 126);
  }
  ::close(gate[0]);
  pid_ = child;
  ours_ = true;
  enter_cgroup();
  const nlohmann::json json{{"pid", child},
                            {"start_ticks", start_ticks(folder_.files(), child).value_or(0)},
                            {"boot_id", os::boot_id(folder_.files())},
                            {"cgroup", cgroup_}};
  auto written = folder_.files().write_atomically(folder_.job_file(), json.dump() + "\n");
  if (written && ::write(gate[1], "g", 1) != 1)
    written = fail(ErrorCode::io, "the command ended before it began");
  ::close(gate[1]);
  if (!written) {
    int ignored = 0;
    ::waitpid(child, &ignored, 0);
    pid_ = 0;
    return written;
  }
  return {};
}

std::optional<int> RunJob::ended() {
  if (pid_ <= 0) return std::nullopt;
  if (!ours_) {
    if (folder_.files().exists(fmt::format("/proc/{}", pid_))) {
      RunJob same{folder_, order_};
      if (same.adopt()) return std::nullopt;
    }
    pid_ = 0;
    return -1;
  }
  int status = 0;
  const pid_t found = ::waitpid(pid_, &status, WNOHANG);
  if (found != pid_) return std::nullopt;
  pid_ = 0;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void RunJob::send(int signal) const {
  if (pid_ > 0) ::kill(-pid_, signal);
}

Status RunJob::freeze(bool frozen) const {
  if (cgroup_.empty())
    return fail(ErrorCode::unavailable, "the command has no cgroup of its own to be frozen",
                "use --pause stop");
  return write_file(cgroup_ + "/cgroup.freeze", frozen ? "1" : "0");
}

Status RunJob::pause() const {
  if (order_.pause == runner::Pause::freeze) return freeze(true);
  send(SIGSTOP);
  return {};
}

Status RunJob::resume() const {
  if (order_.pause == runner::Pause::freeze) return freeze(false);
  send(SIGCONT);
  return {};
}

void RunJob::kill_all() const {
  send(SIGKILL);
  if (!cgroup_.empty()) (void)write_file(cgroup_ + "/cgroup.kill", "1");
}

void RunJob::leave_cgroup() const {
  if (!cgroup_.empty()) ::rmdir(cgroup_.c_str());
}

}  // namespace tidewatt::cli
