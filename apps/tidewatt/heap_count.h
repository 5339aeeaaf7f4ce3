// Counts this thread's heap allocations while asked to, for `aif bench`.
#pragma once

#include <cstddef>
#include <optional>

namespace tidewatt::cli {

void start_counting_allocations();
/// nullopt in builds whose allocator can't be watched (sanitizers).
std::optional<std::size_t> stop_counting_allocations();

}  // namespace tidewatt::cli
