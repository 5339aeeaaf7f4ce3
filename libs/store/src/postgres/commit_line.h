// One writer's line of commits: each has a number, and what became of it can be found out after the
// connection was lost in the middle.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "connection.h"

namespace tidewatt::store::pg {

/// A commit: nodes, by number and ascending, that shall move from one revision to another, and the journal's
/// row.
struct CommitBatch {
  std::vector<std::int64_t> nodes;
  std::vector<std::uint64_t> from;
  std::vector<std::uint64_t> to;
  std::string row;
};

class CommitLine {
 public:
  explicit CommitLine(const Target& target) : target_(target) {}
  CommitLine(const CommitLine&) = delete;
  CommitLine& operator=(const CommitLine&) = delete;
  /// Takes the line's row out again, if the database answers.
  ~CommitLine();

  /// An open connection of this line. @error unavailable
  Result<Connection*> connection();

  /// Tries until it is known what happened, or for about three time limits.
  /// @return the nodes that moved; nullopt = all
  /// @error nothing was applied. Only where the message says so isn't that known: then it will be found out
  /// before
  ///        the next commit, and whoever reads the cursors again sees what holds.
  Result<std::optional<std::vector<std::int64_t>>> commit(const CommitBatch& batch);

 private:
  struct Settled {
    bool applied = false;
    std::optional<std::vector<std::int64_t>> nodes{};
  };
  Status enlist();
  /// What became of commit number `commits_ + 1`, whose answer was lost. From then on it can't happen any
  /// more.
  Result<Settled> settle();

  const Target& target_;
  std::optional<Connection> db_;
  std::int64_t id_ = 0;  ///< this line's row in `writers`; 0 = none
  std::int64_t commits_ = 0;
  bool unsettled_ = false;
};

}  // namespace tidewatt::store::pg
