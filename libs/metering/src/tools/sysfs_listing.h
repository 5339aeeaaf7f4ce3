// Listings of sysfs files: `grep -r .`, `grep -H . *`, or "path (mode 444): value".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidewatt::metering::tools {

struct ListedFile {
  std::string_view folder;  ///< last component of the file's folder: "intel-rapl:0", "hwmon3"
  std::string_view file;    ///< "energy_uj"
  std::string_view value;   ///< trimmed, may be empty
  bool unreadable = false;  ///< `value` is then the error, such as "Permission denied"
  std::size_t line = 0;     ///< 1-based
};

/// Lines that are no path are left out and counted.
struct Listing {
  std::vector<ListedFile> files;
  std::size_t other_lines = 0;
  std::string_view first_other;
  std::size_t first_other_line = 0;
};
Listing parse_listing(std::string_view text);

/// The values of one folder by file name.
using FilesOf = std::map<std::string_view, const ListedFile*, std::less<>>;
/// Of a file listed again and again, as in a loop, the last value that could be read counts.
void note_file(FilesOf& files, const ListedFile& file);
/// Value of a file; nullopt when it isn't there or couldn't be read.
std::optional<std::string_view> value_of(const FilesOf& files, std::string_view name);

}  // namespace tidewatt::metering::tools
