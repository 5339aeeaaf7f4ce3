#include "children.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "descendants.h"
#include "tidewatt/units/text.h"

namespace tidewatt::os {
namespace {

struct OwnChildren {
  std::mutex mutex;
  std::set<pid_t> pids;
};

// One for the process, as its children are.
OwnChildren& own() {
  static OwnChildren children;
  return children;
}

bool is_subreaper() {
  int subreaper = 0;
  return ::prctl(PR_GET_CHILD_SUBREAPER, &subreaper) == 0 && subreaper != 0;
}

/// By /proc/self/task/*/children; where the kernel has no such file, by looking at all processes.
std::vector<pid_t> all_children() {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder{::opendir("/proc/self/task"), ::closedir};
  std::vector<pid_t> out;
  bool listed = false;
  while (const auto* entry = folder ? ::readdir(folder.get()) : nullptr) {
    const std::string thread = static_cast<const char*>(entry->d_name);
    if (!parse_uint64(thread)) continue;
    std::ifstream children{fmt::format("/proc/self/task/{}/children", thread)};
    listed = listed || children.is_open();
    for (pid_t pid = 0; children >> pid;) out.push_back(pid);
  }
  return listed ? out : children_of(::getpid());
}

}  // namespace

pid_t start_own_child(const std::function<pid_t()>& start) {
  auto& children = own();
  const std::lock_guard lock{children.mutex};  // nobody may take it for an orphan meanwhile
  const pid_t pid = start();
  if (pid > 0) children.pids.insert(pid);
  return pid;
}

void forget_own_child(pid_t pid) {
  auto& children = own();
  const std::lock_guard lock{children.mutex};
  children.pids.erase(pid);
}

std::vector<pid_t> adopted_children() {
  if (!is_subreaper()) return {};
  auto& children = own();
  const std::lock_guard lock{children.mutex};
  auto all = all_children();
  std::erase_if(all, [&](pid_t pid) { return children.pids.contains(pid); });
  return all;
}

}  // namespace tidewatt::os
