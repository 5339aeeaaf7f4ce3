// The thread that keeps house: notes of nodes in and out, the journal folded when it is due.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "fold.h"
#include "infos.h"

namespace tidewatt::store::pg {

class Keeper {
 public:
  /// @param journal_bytes  told the journal's size whenever it was looked at
  Keeper(const Target& target, Infos& infos, std::function<void(std::size_t)> journal_bytes);
  void start();
  /// Gives up what it is at and ends the thread.
  void stop();
  ~Keeper() { stop(); }
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  /// So much came to the journal from here: looks at once when that makes a fold due.
  void committed(std::size_t bytes);

 private:
  void loop();
  Status look();
  Status fold_if_due();
  void say(const Status& status);

  std::atomic<bool> stop_{false};
  Target target_;
  Infos& infos_;
  std::function<void(std::size_t)> journal_bytes_;
  std::optional<Connection> db_;
  bool failing_ = false;
  std::chrono::steady_clock::time_point flushed_at_{};
  std::atomic<std::size_t> committed_{0};  ///< bytes since the last look

  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace tidewatt::store::pg
