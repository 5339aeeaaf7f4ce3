// Reads: the tables, and what the journal holds beyond them, as of one instant.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "db.h"
#include "state.h"
#include "tidewatt/ledger/store.h"

namespace tidewatt::store {

/// A few read-only connections, lent one at a time.
class ReaderPool {
 public:
  ReaderPool(std::string path, std::size_t most) : path_(std::move(path)), most_(most) {}

  class Lease {
   public:
    Lease(ReaderPool& pool, std::unique_ptr<Database> db) : pool_(&pool), db_(std::move(db)) {}
    Lease(Lease&& other) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease();
    Database& operator*() const { return *db_; }

   private:
    ReaderPool* pool_;
    std::unique_ptr<Database> db_;
  };
  /// Waits while all are lent.
  Result<Lease> lease();

 private:
  std::string path_;
  std::size_t most_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Database>> idle_;
  std::size_t open_ = 0;
};

/// The read side of the store. Thread-safe.
class Reader {
 public:
  Reader(State& state, ReaderPool& pool) : state_(state), pool_(pool) {}

  Result<std::vector<ledger::Account>> accounts(const ledger::AccountFilter& filter);
  Result<std::vector<ledger::Account>> sums(const ledger::AccountFilter& filter, UtcHour from, UtcHour to);
  Result<std::vector<ledger::HourlyRow>> hourly(const ledger::AccountFilter& filter, UtcHour from,
                                                UtcHour to);
  Status team_hours(const ledger::ImageParts& parts, ledger::ImageSink& sink);
  Result<std::vector<ledger::Seal>> seals();
  Result<std::unique_ptr<ledger::CurveReader>> curve(const ledger::NodeKey& node, UtcRange range,
                                                     std::size_t limit);
  Result<std::vector<ledger::TaskInfo>> tasks();
  Result<std::vector<ledger::TaskInfo>> moved_tasks();
  Result<std::vector<ledger::TokenRecord>> tokens();
  Result<std::vector<ledger::AuditEntry>> audit(std::size_t limit);
  Status ping();

 private:
  Result<std::vector<ledger::TaskInfo>> tasks_where(std::string_view which);
  /// Runs `from_tables` in one snapshot, then `from_memory` under the state's lock, both of the same instant;
  /// both anew when a checkpoint moved amounts from memory to the tables in between.
  Status consistently(Database& db, const std::function<Status()>& from_tables,
                      const std::function<Status()>& from_memory);

  State& state_;
  ReaderPool& pool_;
};

}  // namespace tidewatt::store
