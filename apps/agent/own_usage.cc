#include "own_usage.h"

#include <malloc.h>
#include <time.h>
#include <unistd.h>

#include "tidewatt/units/text.h"

namespace tidewatt::app {
namespace {

constexpr int kMmapFrom = 64 << 10;
constexpr int kTrimFrom = 128 << 10;
constexpr double kNanosecondsPerSecond = 1e9;

}  // namespace

std::optional<double> own_cpu_seconds() {
  timespec used{};
  if (::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0) return std::nullopt;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / kNanosecondsPerSecond;
}

std::optional<std::uint64_t> own_resident_bytes(const FileSystem& files) {
  const auto text = files.read_text("/proc/self/statm", 4096);  // "size resident shared ..." in pages
  if (!text) return std::nullopt;
  const auto first = text->find(' ');
  if (first == std::string::npos) return std::nullopt;
  const auto pages =
      parse_uint64(std::string_view(*text).substr(first + 1, text->find(' ', first + 1) - first - 1));
  const long page = ::sysconf(_SC_PAGESIZE);
  if (!pages || page <= 0) return std::nullopt;
  return *pages * static_cast<std::uint64_t>(page);
}

void bound_memory() {
  ::mallopt(M_ARENA_MAX, 1);  // a few threads that rarely allocate need no heap each
  ::mallopt(M_MMAP_THRESHOLD, kMmapFrom);
  ::mallopt(M_TRIM_THRESHOLD, kTrimFrom);
}

void release_unused_memory() { ::malloc_trim(0); }

}  // namespace tidewatt::app
