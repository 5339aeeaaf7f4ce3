#include "tidewatt/net/file_watch.h"

#include <functional>
#include <utility>

namespace tidewatt::net {
namespace {

constexpr std::size_t kLargestFile = 1U << 20U;

}  // namespace

FileWatch::FileWatch(const FileSystem& files, std::vector<std::string> paths)
    : files_(files), paths_(std::move(paths)), used_(fingerprint()), last_seen_(used_) {}

std::size_t FileWatch::fingerprint() const {
  std::string all;
  for (const auto& path : paths_) {
    const auto text = files_.read_text(path, kLargestFile);
    all += text ? "\1" + *text : std::string{"\2"};
    all += '\0';
  }
  return std::hash<std::string>{}(all);
}

bool FileWatch::settled_change() {
  const std::size_t now = fingerprint();
  const bool at_rest = now == last_seen_;
  last_seen_ = now;
  if (!at_rest || now == used_) return false;
  used_ = now;
  return true;
}

void FileWatch::accept() { used_ = last_seen_ = fingerprint(); }

}  // namespace tidewatt::net
