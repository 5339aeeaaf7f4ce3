// Which sources a machine really has, in words for a person.
#pragma once

#include <string>
#include <vector>

#include "tidewatt/base/clock.h"
#include "tidewatt/base/file_system.h"
#include "tidewatt/base/process.h"
#include "tidewatt/sensors/source.h"

namespace tidewatt::sensors {

/// Tries every source once: nvml (by its library's file and the driver's /proc entry; it isn't opened),
/// nvidia-smi, other vendors' libraries (not opened) and tools where their cards or tools are, rapl, hwmon,
/// ipmi. Each is there, usable or not, with what it sees or why not. Wakes no
/// sleeping card.
std::vector<Detection> detect(const FileSystem& files, ProcessRunner& processes, const Clock& clock);

/// One sentence: which of these sources make the node's total and which are shown beside it.
std::string total_in_words(const std::vector<Detection>& detections);

}  // namespace tidewatt::sensors
