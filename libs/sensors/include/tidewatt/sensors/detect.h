// Which sources a machine really has, in words for a person.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tidewatt/base/clock.h"
#include "tidewatt/base/file_system.h"
#include "tidewatt/base/process.h"
#include "tidewatt/sensors/source.h"

namespace tidewatt::sensors {

/// One look through a vendor's library, by its name (library_names()). It runs foreign code, so the caller
/// says where: in a process of its own.
using LibraryLook = std::function<Result<std::vector<Reading>>(const std::string& library)>;

/// Waits. A counter tells watts from its second reading on.
using Pause = std::function<void(Milliseconds)>;

/// Tries every source once: nvml, nvidia-smi, other vendors' libraries and tools where their cards or tools
/// are, rapl, hwmon, ipmi. Each is there, usable or not, with what it sees or why not; of a library also
/// which files were looked for and which is there. Wakes no sleeping card.
/// @param open  empty: libraries aren't opened, only looked for
/// @param pause  empty: counters are read once and tell no watts
std::vector<Detection> detect(const FileSystem& files, ProcessRunner& processes, const Clock& clock,
                              const LibraryLook& open = {}, const Pause& pause = {});

/// The hypervisor that this machine runs on, as far as its firmware or CPU says ("QEMU", "a hypervisor");
/// empty on bare metal.
std::string hypervisor(const FileSystem& files);

/// One sentence: which of these sources make the node's total and which are shown beside it.
std::string total_in_words(const std::vector<Detection>& detections);

}  // namespace tidewatt::sensors
