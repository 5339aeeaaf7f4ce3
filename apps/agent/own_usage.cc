#include "own_usage.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tidewatt/units/text.h"

namespace tidewatt::app {
namespace {

constexpr int kMmapFrom = 64 << 10;
constexpr int kTrimFrom = 128 << 10;
constexpr double kNanosecondsPerSecond = 1e9;

constexpr double kMicrosecondsPerSecond = 1e6;

/// Words between blanks.
std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const auto end = text.find_first_of(" \n");
    if (end != 0) out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return out;
}

/// The probe processes and tools that run now. Empty where the kernel doesn't list them.
std::vector<std::string> children(const FileSystem& files) {
  std::vector<std::string> pids;
  const auto threads = files.list("/proc/self/task");
  if (!threads) return pids;
  for (const auto& thread : *threads) {
    const auto text = files.read_text(fmt::format("/proc/self/task/{}/children", thread), 4096);
    if (!text) continue;
    for (const auto pid : words(*text)) pids.emplace_back(pid);
  }
  return pids;
}

double ended_children_cpu_seconds() {
  rusage used{};
  if (::getrusage(RUSAGE_CHILDREN, &used) != 0) return 0;
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / kMicrosecondsPerSecond;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double cpu_seconds_of(const std::string& pid, const FileSystem& files) {
  const auto text = files.read_text(fmt::format("/proc/{}/stat", pid), 4096);
  const long ticks = ::sysconf(_SC_CLK_TCK);
  const auto name_end = text ? text->rfind(')') : std::string::npos;
  if (name_end == std::string::npos || ticks <= 0) return 0;
  const auto fields = words(std::string_view{*text}.substr(name_end + 1));  // from the state on
  constexpr std::size_t kUserTime = 11;
  if (fields.size() <= kUserTime + 1) return 0;
  const auto user = parse_uint64(fields[kUserTime]).value_or(0);
  const auto system = parse_uint64(fields[kUserTime + 1]).value_or(0);
  return static_cast<double>(user + system) / static_cast<double>(ticks);
}

/// Pages of /proc/PID/statm: "size resident shared ...".
struct Pages {
  std::uint64_t resident = 0;
  std::uint64_t shared = 0;
};
std::optional<Pages> pages_of(const std::string& pid, const FileSystem& files) {
  const auto text = files.read_text(fmt::format("/proc/{}/statm", pid), 4096);
  const auto fields = text ? words(*text) : std::vector<std::string_view>{};
  if (fields.size() < 3) return std::nullopt;
  const auto resident = parse_uint64(fields[1]);
  const auto shared = parse_uint64(fields[2]);
  if (!resident || !shared || *shared > *resident) return std::nullopt;
  return Pages{*resident, *shared};
}

}  // namespace

std::optional<double> own_cpu_seconds(const FileSystem& files) {
  timespec used{};
  if (::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0) return std::nullopt;
  double seconds =
      static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / kNanosecondsPerSecond;
  seconds += ended_children_cpu_seconds();
  for (const auto& pid : children(files)) seconds += cpu_seconds_of(pid, files);
  return seconds;
}

std::optional<std::uint64_t> own_resident_bytes(const FileSystem& files) {
  const long page = ::sysconf(_SC_PAGESIZE);
  const auto own = pages_of("self", files);
  if (!own || page <= 0) return std::nullopt;
  std::uint64_t pages = own->resident;
  for (const auto& pid : children(files))
    if (const auto child = pages_of(pid, files)) pages += child->resident - child->shared;
  return pages * static_cast<std::uint64_t>(page);
}

void bound_memory() {
  ::mallopt(M_ARENA_MAX, 1);  // a few threads that rarely allocate need no heap each
  ::mallopt(M_MMAP_THRESHOLD, kMmapFrom);
  ::mallopt(M_TRIM_THRESHOLD, kTrimFrom);
}

void release_unused_memory() { ::malloc_trim(0); }

}  // namespace tidewatt::app
