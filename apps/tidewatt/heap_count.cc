#include "heap_count.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define TIDEWATT_COUNTS_ALLOCATIONS
#endif

#ifdef TIDEWATT_COUNTS_ALLOCATIONS
#include <cstdlib>
#include <new>

namespace {
thread_local bool counting = false;
thread_local std::size_t counted = 0;
}  // namespace

// The array forms call these.
void* operator new(std::size_t size) {
  if (counting) ++counted;
  if (void* const block = std::malloc(size == 0 ? 1 : size)) return block;
  throw std::bad_alloc{};
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

namespace tidewatt::cli {
void start_counting_allocations() {
  counted = 0;
  counting = true;
}
std::optional<std::size_t> stop_counting_allocations() {
  counting = false;
  return counted;
}
}  // namespace tidewatt::cli
#else
namespace tidewatt::cli {
void start_counting_allocations() {}
std::optional<std::size_t> stop_counting_allocations() { return std::nullopt; }
}  // namespace tidewatt::cli
#endif
