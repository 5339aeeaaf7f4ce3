// A few connections, lent one at a time, replaced when they break.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "connection.h"
#include "retry.h"

namespace tidewatt::store::pg {

class Pool {
 public:
  Pool(const Target& target, std::size_t most) : target_(target), most_(most) {}

  class Lease {
   public:
    Lease(Pool& pool, std::unique_ptr<Connection> db) : pool_(&pool), db_(std::move(db)) {}
    Lease(Lease&& other) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease();
    Connection& operator*() const { return *db_; }

   private:
    Pool* pool_;
    std::unique_ptr<Connection> db_;
  };
  /// Waits while all are lent. @error unavailable  nobody gave one back in time, or no connection
  Result<Lease> lease();

  /// Runs `work`, again on a new connection where the first was lost or two transactions collided. So `work`
  /// must bear being done twice.
  Status run(const std::function<Status(Connection&)>& work);

 private:
  void give_back(std::unique_ptr<Connection> db);

  const Target& target_;
  std::size_t most_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Connection>> idle_;
  std::size_t open_ = 0;
};

}  // namespace tidewatt::store::pg
