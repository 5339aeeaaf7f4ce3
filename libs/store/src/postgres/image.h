// The journal as this server last saw it, added up: reads answer from the tables and from this, as of one
// snapshot. Between two folds rows only come, so that each read fetches the new ones alone.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../journal/unfolded.h"
#include "connection.h"
#include "nodes.h"
#include "numbers.h"

namespace tidewatt::store::pg {

/// A lock that isn't waited for longer than a time limit.
class Turn {
 public:
  /// Holds it; false in `if` where the time was up.
  class Hold {
   public:
    Hold(Turn& turn, Milliseconds limit);
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold() { unlock(); }
    void unlock();
    explicit operator bool() const { return held_; }

   private:
    Turn& turn_;
    bool held_ = false;
  };

 private:
  std::mutex mutex_;
  std::condition_variable free_;
  bool taken_ = false;
};

class Image {
 public:
  Image(Nodes& nodes, Accounts& accounts) : nodes_(nodes), accounts_(accounts) {}

  /// Held while one snapshot's journal is taken in and read out.
  Turn turn;

  // All need the turn.

  /// Brings it to what the snapshot of db's transaction holds; also moves the cursors of known nodes on.
  Status sync(Connection& db);
  /// Starts over: the next sync() reads the whole journal.
  void clear();
  [[nodiscard]] const Unfolded& unfolded() const { return unfolded_; }
  /// The node's steps in the journal, in order; nullptr = none.
  [[nodiscard]] const std::vector<CursorStep>* steps(std::int64_t node) const;

 private:
  Status take(const Rows& rows, int row);
  Status name_accounts(Connection& db);

  Nodes& nodes_;
  Accounts& accounts_;
  Unfolded unfolded_;
  std::unordered_map<std::int64_t, std::vector<CursorStep>> steps_;
  std::unordered_map<std::int64_t, AccountRef> keys_;
  std::int64_t generation_ = -1;  ///< how many folds there were
  std::int64_t low_ = 0;          ///< every transaction before this one had ended when we last looked
  std::vector<std::pair<std::int64_t, std::int64_t>> recent_;  ///< (transaction, row) taken in, from low_ on
};

/// The cursor that `steps` lead to. @error corrupt  they don't fit it
Status walk(std::uint64_t& revision, std::string& encoded, const std::vector<CursorStep>& steps);

/// Adds one journal row: cursor steps to `step`, all else to `unfolded`.
/// @param applied  the nodes for which the commit took effect; nullptr = all
Status add_row(std::string_view bytes, const std::vector<std::int64_t>* applied, Unfolded& unfolded,
               const std::function<void(std::int64_t node, CursorStep&&)>& step);

}  // namespace tidewatt::store::pg
