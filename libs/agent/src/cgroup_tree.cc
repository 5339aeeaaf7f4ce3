#include "tidewatt/agent/cgroup_tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "tidewatt/units/text.h"

namespace tidewatt::agent {
namespace {

using attribution::Microseconds;
using attribution::WorkloadKind;

constexpr std::size_t kSmallFile = 16'384;

struct Hierarchy {
  std::string root;
  std::string_view counter;  ///< file in each folder
};

bool counts_cpu_time(std::string_view folder) {
  // "cpu,cpuacct" and "cpuacct,cpu" are both found in the wild.
  while (!folder.empty()) {
    const auto end = std::min(folder.find(','), folder.size());
    if (folder.substr(0, end) == "cpuacct") return true;
    folder.remove_prefix(std::min(end + 1, folder.size()));
  }
  return false;
}

Result<Hierarchy> hierarchy_at(const FileSystem& files, const std::string& root) {
  constexpr std::string_view kVersion2 = "cpu.stat";
  if (files.exists(root + "/cgroup.controllers")) return Hierarchy{root, kVersion2};
  TW_TRY(const auto folders, files.list_folders(root));
  for (const auto& folder : folders)
    if (counts_cpu_time(folder)) return Hierarchy{root + "/" + folder, "cpuacct.usage"};
  if (files.exists(root + "/unified/cgroup.controllers")) return Hierarchy{root + "/unified", kVersion2};
  return fail(ErrorCode::not_found, fmt::format("{}: no hierarchy that counts CPU time", root),
              "mount the host's /sys/fs/cgroup there, or set attribution.cgroup_root");
}

class Walk {
 public:
  Walk(const FileSystem& files, const Clock& clock, Hierarchy hierarchy, const CgroupLimits& limits)
      : files_(files),
        clock_(clock),
        hierarchy_(std::move(hierarchy)),
        limits_(limits),
        until_(clock.mono_now() + limits.time) {}

  CgroupLook run() {
    look_.root = hierarchy_.root;
    look_.used = counter("");
    below("", 0);
    return std::move(look_);
  }

 private:
  [[nodiscard]] std::optional<Microseconds> counter(const std::string& path) const {
    const auto text =
        files_.read_text(fmt::format("{}{}/{}", hierarchy_.root, path, hierarchy_.counter), kSmallFile);
    if (!text) return std::nullopt;
    return hierarchy_.counter == "cpu.stat" ? attribution::parse_cpu_stat(*text)
                                            : attribution::parse_cpuacct_usage(*text);
  }

  /// @return whether a known shape was found
  bool below(const std::string& path, int depth) {
    const auto names = files_.list_folders(path.empty() ? hierarchy_.root : hierarchy_.root + path);
    if (!names) return false;  // it ended meanwhile
    bool known = false;
    for (const auto& name : *names) {
      if (look_.folders >= limits_.folders || depth >= limits_.depth || clock_.mono_now() > until_) {
        look_.cut_short = true;
        return known;
      }
      known = visit(path + "/" + name, depth + 1) || known;
    }
    return known;
  }

  bool visit(const std::string& path, int depth) {
    ++look_.folders;
    auto workload = attribution::workload_of_path(path);
    // Beneath a workload's own cgroup its counter says it all; only another workload there is news.
    const bool own = workload && workload->account_path == path;
    const bool unknown = workload && workload->kind == WorkloadKind::unknown;
    if (own) {
      if (const auto used = counter(path)) {
        look_.found.push_back({std::move(*workload), *used});
      } else {
        ++look_.unreadable;
      }
    }
    const bool known_below = below(path, depth);
    if (own && unknown && !known_below) look_.unknown.push_back(path);
    return known_below || (own && !unknown);
  }

  const FileSystem& files_;
  const Clock& clock_;
  Hierarchy hierarchy_;
  CgroupLimits limits_;
  SteadyTime until_;
  CgroupLook look_;
};

constexpr int kSearchDepth = 5;
constexpr int kMostSearched = 32;

std::optional<std::int64_t> search(const FileSystem& files, const std::string& folder, int depth, int& left) {
  if (left-- <= 0) return std::nullopt;
  if (const auto text = files.read_text(folder + "/cgroup.procs", kSmallFile)) {
    const auto pid = parse_int64(std::string_view(*text).substr(0, text->find('\n')));
    if (pid && *pid > 0) return pid;
  }
  if (depth == 0) return std::nullopt;
  const auto names = files.list_folders(folder);
  if (!names) return std::nullopt;
  for (const auto& name : *names)
    if (const auto pid = search(files, folder + "/" + name, depth - 1, left)) return pid;
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> any_process_in(const FileSystem& files, const std::string& folder) {
  int left = kMostSearched;
  return search(files, folder, kSearchDepth, left);
}

Result<CgroupLook> look_at_cgroups(const FileSystem& files, const Clock& clock, const std::string& root,
                                   const CgroupLimits& limits) {
  TW_TRY(auto hierarchy, hierarchy_at(files, root));
  return Walk{files, clock, std::move(hierarchy), limits}.run();
}

}  // namespace tidewatt::agent
