// The node's cgroups, walked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidewatt/attribution/cgroup_path.h"
#include "tidewatt/attribution/cpu_time.h"
#include "tidewatt/base/clock.h"
#include "tidewatt/base/file_system.h"

namespace tidewatt::agent {

/// One look at the tree.
struct CgroupLook {
  struct Found {
    attribution::Workload workload;
    attribution::Microseconds used = 0;  ///< cumulative, of the workload's cgroup and all below it
  };
  std::string root;  ///< of the hierarchy: paths are below it
  std::vector<Found> found;
  std::optional<attribution::Microseconds> used;  ///< of the whole tree, where its root tells it
  std::uint64_t folders = 0;                      ///< walked
  std::uint64_t unreadable = 0;                   ///< workloads whose counter gave no number
  std::vector<std::string> unknown;               ///< paths of no known shape, with no known one below them
  bool cut_short = false;                         ///< there was more than the limits allow
};

struct CgroupLimits {
  int depth = 12;
  std::uint64_t folders = 8'192;
  Milliseconds time{2'000};
};

/// cgroup v2, or the v1 hierarchy that counts CPU time, whatever its folder's name; of a hybrid machine the
/// latter.
/// @param root  "/sys/fs/cgroup"
/// @error not_found  no hierarchy there that counts CPU time
Result<CgroupLook> look_at_cgroups(const FileSystem& files, const Clock& clock, const std::string& root,
                                   const CgroupLimits& limits);

/// A process in a cgroup or in one below it, and nothing more about it. nullopt: none was found soon.
std::optional<std::int64_t> any_process_in(const FileSystem& files, const std::string& folder);

}  // namespace tidewatt::agent
