#pragma once

#include <memory>
#include <string>

#include "tidewatt/base/file_system.h"

namespace tidewatt::agent {

/// Files where /proc, /sys and /etc/machine-id are the host's, found below `root`: for an agent in a
/// container that has them mounted there. All other paths stay as they are. An empty root gives `files` back.
std::shared_ptr<FileSystem> host_files(std::shared_ptr<FileSystem> files, std::string root);

}  // namespace tidewatt::agent
