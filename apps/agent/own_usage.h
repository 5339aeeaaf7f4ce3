#pragma once

#include <cstdint>
#include <optional>

#include "tidewatt/base/file_system.h"

namespace tidewatt::app {

/// CPU time of this process and of all that it started, so far.
std::optional<double> own_cpu_seconds(const FileSystem& files);
/// Resident memory of this process now, and what its probe processes don't share with it.
std::optional<std::uint64_t> own_resident_bytes(const FileSystem& files);
/// Keeps the C library from holding memory back per thread. Call first.
void bound_memory();
/// Gives back what only the start needed.
void release_unused_memory();

}  // namespace tidewatt::app
