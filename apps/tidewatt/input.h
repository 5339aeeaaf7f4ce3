// Files and standard output as the commands use them.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "tidewatt/base/result.h"

namespace tidewatt::cli {

/// Calls `each` with every line (without its end) and its number from 1; "-" is standard input.
/// @error not_found / permission_denied / io with the path; each's own error ends the reading
Status for_each_line(const std::string& path,
                     const std::function<Status(std::string_view line, std::size_t number)>& each);
inline constexpr std::size_t kMostInputBytes = std::size_t{64} << 20U;
/// The whole file, or standard input for "-".
/// @error invalid_input  it is larger than `most` bytes
Result<std::string> read_all(const std::string& path, std::size_t most = kMostInputBytes);
/// "tidewatt COMMAND: what (what to do)" on one line of standard error. @return kFailed
int report(std::string_view command, const Error& error);

}  // namespace tidewatt::cli
