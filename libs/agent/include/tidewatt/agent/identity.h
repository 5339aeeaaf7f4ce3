// The agent's own id and where its sequence numbers begin, kept beside the spool.
#pragma once

#include <cstdint>
#include <string>

#include "tidewatt/agent/spool.h"
#include "tidewatt/base/file_system.h"
#include "tidewatt/base/rng.h"

namespace tidewatt::agent {

/// seq = spool id - base: per boot and agent, +1 each beat, going on after a restart without reuse.
///
/// Reuse would make the server take a new beat for one it has. So whenever it isn't certain which ids were
/// used (a damaged spool, beats sent while the disk took nothing), the agent goes on under a new id, whose
/// numbers begin anew.
class Identity {
 public:
  /// Reads the file, or makes a new identity: at the first start, and when the spool says that ids may be
  /// lost.
  /// @param spool opened before
  Identity(FileSystem& files, Rng& rng, std::string folder, std::string boot_id, const Spool& spool);

  [[nodiscard]] const std::string& agent_id() const { return agent_id_; }
  [[nodiscard]] std::uint64_t seq_of(std::uint64_t spool_id) const { return spool_id - base_; }
  /// Call with whether the last beat is on disk. While none is, the file is taken away (that works on a full
  /// disk), so that a restart doesn't go on from numbers it can't know.
  void beats_are_on_disk(bool on_disk);

 private:
  bool read(const std::string& text);
  void save();

  FileSystem& files_;
  std::string folder_;
  std::string path_;
  std::string boot_id_;
  std::string agent_id_;
  std::uint64_t base_ = 0;
  bool saved_ = false;
};

}  // namespace tidewatt::agent
