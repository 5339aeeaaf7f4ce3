// Vendors' management libraries as sources. They run foreign code: in the agent each lives in a process of
// its own (isolated.h, docs/adr/0007).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/clock.h"
#include "tidewatt/base/file_system.h"
#include "tidewatt/sensors/source.h"

namespace tidewatt::sensors {

struct LibraryOptions {
  std::string library;                           ///< name or path for dlopen; empty = the usual ones
  std::optional<Milliseconds> process_period{};  ///< how often a card's processes are listed; nullopt = never
};

/// "nvml", ... in the order in which they are preferred.
const std::vector<std::string>& library_names();

/// Cards of one vendor by its library, opened at the first look in the calling process. Suspended cards are
/// neither touched nor woken.
/// read() @error not_found the library isn't there; invalid_input it is another library of that name;
///               unavailable the driver isn't loaded or doesn't start
/// @return nullptr for a name that isn't one of library_names()
std::unique_ptr<Source> make_library(std::string_view name, std::shared_ptr<const FileSystem> files,
                                     std::shared_ptr<const Clock> clock, LibraryOptions options = {});

/// The library's usual names, for the loader, and places, in the order in which they are tried; empty for a
/// name that isn't one of library_names().
std::vector<std::string> library_files(std::string_view library);

/// Whether the machine has such cards, by the PCI bus and the driver's files. Opens nothing, wakes nothing.
bool has_cards_for(std::string_view library, const FileSystem& files);

}  // namespace tidewatt::sensors
