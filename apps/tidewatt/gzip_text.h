// Files that may be gzipped.
#pragma once

#include <string>

#include "tidewatt/base/result.h"

namespace tidewatt::cli {

/// The text of a file, or of standard input for "-"; unpacked if it is gzip (by its first bytes, not its
/// name). At most 64 MiB as it lies there and 256 MiB unpacked.
/// @error not_found / permission_denied / io / invalid_input  with the path
Result<std::string> read_text_or_gzip(const std::string& path);

}  // namespace tidewatt::cli
