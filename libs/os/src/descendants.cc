#include "descendants.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "tidewatt/units/text.h"
#include "unique_fd.h"

namespace tidewatt::os {
namespace {

constexpr std::size_t kMaxEnvironment = 256U << 10U;

std::string read_proc(pid_t pid, std::string_view file, std::size_t at_most) {
  const auto path = fmt::format("/proc/{}/{}", pid, file);
  const UniqueFd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  std::string out;
  std::array<char, 4096> chunk;
  while (fd.valid() && out.size() < at_most) {
    const auto got = ::read(fd.get(), chunk.data(), chunk.size());
    if (got <= 0) break;
    out.append(chunk.data(), static_cast<std::size_t>(got));
  }
  return out;
}

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  std::uint64_t start = 0;  ///< ticks since boot
  bool zombie = false;
};

// "7 (a name) S 1 ...": the name may hold anything, so that fields are counted from its last bracket.
std::optional<Process> process_of(pid_t pid) {
  const auto stat = read_proc(pid, "stat", 4096);
  const auto name_end = stat.rfind(") ");
  if (name_end == std::string::npos) return std::nullopt;
  Process out{pid, 0, 0, stat.compare(name_end + 2, 1, "Z") == 0};
  std::string_view rest = std::string_view{stat}.substr(name_end + 2);
  constexpr int kParent = 1;
  constexpr int kStart = 19;
  for (int field = 0; field <= kStart; ++field) {
    const auto end = rest.find(' ');
    const auto number = parse_uint64(rest.substr(0, end)).value_or(0);
    if (field == kParent) out.parent = static_cast<pid_t>(number);
    if (field == kStart) out.start = number;
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return out;
}

bool has_variable(pid_t pid, const std::function<bool(std::string_view)>& is_ours) {
  const auto environment = read_proc(pid, "environ", kMaxEnvironment);
  std::string_view rest = environment;
  while (!rest.empty()) {
    const auto end = rest.find('\0');
    if (is_ours(rest.substr(0, end))) return true;
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return false;
}

std::vector<Process> all_processes() {
  std::vector<Process> all;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder{::opendir("/proc"), ::closedir};
  while (const auto* entry = folder ? ::readdir(folder.get()) : nullptr)
    if (const auto pid = parse_int64(static_cast<const char*>(entry->d_name)); pid && *pid > 1)
      if (const auto process = process_of(static_cast<pid_t>(*pid)); process && process->pid != ::getpid())
        all.push_back(*process);
  return all;
}

}  // namespace

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> out;
  for (const auto& process : all_processes())
    if (process.parent == parent) out.push_back(process.pid);
  return out;
}

std::vector<pid_t> descendants(pid_t root, const std::function<bool(std::string_view)>& is_ours,
                               pid_t since) {
  const auto first = since > 0 ? process_of(since) : std::nullopt;
  const auto all = all_processes();
  std::set<pid_t> family;
  if (root > 0) family.insert(root);
  for (const auto& process : all)
    if (!process.zombie && (!first || process.start >= first->start) && has_variable(process.pid, is_ours))
      family.insert(process.pid);
  for (bool grown = true; grown;) {
    grown = false;
    for (const auto& process : all)
      if (family.contains(process.parent)) grown = family.insert(process.pid).second || grown;
  }
  std::vector<pid_t> out;
  for (const auto& process : all)
    if (!process.zombie && process.pid != root && family.contains(process.pid)) out.push_back(process.pid);
  return out;
}

}  // namespace tidewatt::os
