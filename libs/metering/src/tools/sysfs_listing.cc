#include "tools/sysfs_listing.h"

#include <algorithm>
#include <array>

#include "tidewatt/units/text.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::array<std::string_view, 6> kErrors{"Permission denied",         "Operation not permitted",
                                                  "No such file or directory", "No data available",
                                                  "Input/output error",        "Device or resource busy"};

// Files of sysfs begin with a small letter; zones ("intel-rapl:0") and bus addresses ("pci0000:00") have a
// colon of their own.
bool is_file_name(std::string_view part) {
  return !part.empty() && part[0] >= 'a' && part[0] <= 'z' && !contains(part, "rapl") &&
         !part.starts_with("pci");
}

// Where the path's last slash is: the one before the first file name that a separator follows.
std::optional<std::size_t> slash_before_file(std::string_view line) {
  for (auto slash = line.find('/'); slash != std::string_view::npos; slash = line.find('/', slash + 1)) {
    const auto end = line.find_first_of("/:= \t", slash + 1);
    if (end == std::string_view::npos) return std::nullopt;
    if (line[end] != '/' && is_file_name(line.substr(slash + 1, end - slash - 1))) return slash;
  }
  return std::nullopt;
}

std::optional<ListedFile> file_of(std::string_view line, std::size_t number) {
  line = trim(line);
  bool unreadable = false;
  for (const std::string_view tool : {"grep: ", "cat: ", "head: ", "tail: "})
    if (line.starts_with(tool)) {
      line.remove_prefix(tool.size());
      unreadable = true;
    }
  // A bare word before a path is a message, not a listing.
  if (line.substr(0, line.find('/')).find_first_of(" \t") != std::string_view::npos) return std::nullopt;
  const auto slash_at = slash_before_file(line);
  if (!slash_at) return std::nullopt;
  const auto slash = *slash_at;
  const auto separator = line.find_first_of(":= \t", slash + 1);
  ListedFile out;
  out.line = number;
  out.file = line.substr(slash + 1, separator - slash - 1);
  const auto folder = line.substr(0, slash);
  out.folder = folder.substr(folder.rfind('/') + 1);
  auto rest = trim(line.substr(separator));
  if (rest.starts_with('(')) {  // "(mode 444)"
    const auto close = rest.find(')');
    if (close == std::string_view::npos) return std::nullopt;
    rest = trim(rest.substr(close + 1));
  }
  if (!rest.starts_with(':') && !rest.starts_with('=')) return std::nullopt;
  out.value = trim(rest.substr(1));
  out.unreadable = unreadable || std::any_of(kErrors.begin(), kErrors.end(), [&](std::string_view error) {
                     return out.value.ends_with(error);
                   });
  if (out.unreadable && out.value.empty()) out.value = "can't be read, and the tool doesn't say why";
  return out;
}

}  // namespace

Listing parse_listing(std::string_view text) {
  Listing listing;
  const auto lines = lines_of(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (trim(lines[i]).empty()) continue;
    if (auto file = file_of(lines[i], i + 1)) {
      listing.files.push_back(*file);
      continue;
    }
    if (listing.other_lines++ == 0) {
      listing.first_other = lines[i];
      listing.first_other_line = i + 1;
    }
  }
  // Nothing tells whether "2401" at the very end is a piece of "240142".
  if (!listing.files.empty() && !text.ends_with('\n') && !lines.empty() &&
      listing.files.back().line == lines.size() && !listing.files.back().unreadable &&
      listing.files.back().file.find("name") == std::string_view::npos &&
      listing.files.back().file.find("label") == std::string_view::npos && lines.size() > 1) {
    listing.files.back().unreadable = true;
    listing.files.back().value = "truncated: the text ends within this value";
  }
  return listing;
}

void note_file(FilesOf& files, const ListedFile& file) {
  const auto [known, is_new] = files.try_emplace(file.file, &file);
  if (!is_new && (known->second->unreadable || !file.unreadable)) known->second = &file;
}

std::optional<std::string_view> value_of(const FilesOf& files, std::string_view name) {
  const auto found = files.find(name);
  if (found == files.end() || found->second->unreadable) return std::nullopt;
  return found->second->value;
}

}  // namespace tidewatt::metering::tools
