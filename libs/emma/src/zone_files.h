// The folder in which zones' points are kept over restarts.
#pragma once

#include <string>

#include "tidewatt/base/file_system.h"
#include "zone.h"

namespace tidewatt::emma {

/// Thread-safe as far as its file system is.
class ZoneFiles {
 public:
  /// @param folder  empty = nothing is kept
  ZoneFiles(std::string folder, FileSystem& files) : folder_{std::move(folder)}, files_{files} {}

  [[nodiscard]] bool kept() const { return !folder_.empty(); }
  /// What the zone's file holds; a damaged one is told in the log and begun anew.
  void load(Zone& zone) const;
  /// What can't be written is told in the log.
  void store(const std::string& zone, const std::string& text);

 private:
  [[nodiscard]] std::string path_of(const std::string& zone) const;

  std::string folder_;
  FileSystem& files_;
};

}  // namespace tidewatt::emma
