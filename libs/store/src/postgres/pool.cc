#include "pool.h"

#include <fmt/format.h>

#include <utility>

#include "schema.h"

namespace tidewatt::store::pg {
namespace {

constexpr int kPoolTries = 4;

}  // namespace

Pool::Lease::~Lease() {
  if (db_) pool_->give_back(std::move(db_));
}

void Pool::give_back(std::unique_ptr<Connection> db) {
  {
    const std::lock_guard lock(mutex_);
    if (!db->lost()) {
      idle_.push_back(std::move(db));
    } else {
      // The others have probably lost theirs too: each would cost its user a try.
      open_ -= 1 + idle_.size();
      idle_.clear();
    }
  }
  returned_.notify_all();
}

Result<Pool::Lease> Pool::lease() {
  {
    std::unique_lock lock(mutex_);
    if (!returned_.wait_for(lock, target_.options().timeout,
                            [this] { return !idle_.empty() || open_ < most_; }))
      return fail(ErrorCode::unavailable,
                  fmt::format("{}: all {} connections for reads are busy", target_.name(), most_),
                  "try again in a moment");
    if (!idle_.empty()) {
      auto db = std::move(idle_.back());
      idle_.pop_back();
      return Lease(*this, std::move(db));
    }
    ++open_;
  }
  auto db = Connection::open(target_);
  auto status = db ? check_version(*db) : Status(tl::unexpected(std::move(db).error()));
  if (!status) {
    {
      const std::lock_guard lock(mutex_);
      --open_;
    }
    returned_.notify_one();
    return tl::unexpected(std::move(status).error());
  }
  return Lease(*this, std::make_unique<Connection>(std::move(*db)));
}

Status Pool::run(const std::function<Status(Connection&)>& work) {
  Retry retry(target_.options().timeout, kPoolTries);
  while (true) {
    bool again = true;
    auto status = [&]() -> Status {
      TW_TRY(const auto lease, this->lease());
      auto done = work(*lease);
      again = (*lease).failure() == Failure::lost || (*lease).failure() == Failure::collision;
      return done;
    }();
    if (status || !again || !retry.again()) return status;
  }
}

}  // namespace tidewatt::store::pg
