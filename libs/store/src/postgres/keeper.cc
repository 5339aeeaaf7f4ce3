#include "keeper.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "schema.h"
#include "team_hours.h"
#include "tidewatt/base/log.h"

namespace tidewatt::store::pg {
namespace {

constexpr Milliseconds kLookEvery{1'000};
constexpr Milliseconds kFlushEvery{3'000};
/// A fold's statements are long, and nobody waits for them.
constexpr Milliseconds kPatience{60'000};

}  // namespace

Keeper::Keeper(const Target& target, Infos& infos, std::function<void(std::size_t)> journal_bytes)
    : target_(target.patient(std::max(kPatience, target.options().timeout), stop_)),
      infos_(infos),
      journal_bytes_(std::move(journal_bytes)) {}

void Keeper::start() {
  thread_ = std::thread([this] { loop(); });
}

void Keeper::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Keeper::committed(std::size_t bytes) {
  if ((committed_ += bytes) >= target_.options().fold_bytes) wake_.notify_all();
}

void Keeper::loop() {
  ::pthread_setname_np(::pthread_self(), "store-keeper");
  while (true) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, kLookEvery,
                     [this] { return stop_ || committed_ >= target_.options().fold_bytes; });
      if (stop_) return;
    }
    committed_ = 0;
    say(look());
  }
}

void Keeper::say(const Status& status) {
  if (stop_) return;
  if (!status && !failing_)
    log::error("store: housekeeping fails; the journal keeps everything and it is tried again",
               {{"error", status.error().to_string()}});
  if (status && failing_) log::info("store: housekeeping works again");
  failing_ = !status;
}

Status Keeper::look() {
  if (const auto now = std::chrono::steady_clock::now(); now - flushed_at_ >= kFlushEvery) {
    flushed_at_ = now;
    TW_TRY_STATUS(infos_.flush());
  }
  if (!db_ || db_->lost()) {
    db_.reset();
    TW_TRY(auto opened, Connection::open(target_));
    TW_TRY_STATUS(check_version(opened));
    db_.emplace(std::move(opened));
  }
  return fold_if_due();
}

Status Keeper::fold_if_due() {
  const auto& options = target_.options();
  while (!stop_) {
    TW_TRY(const auto size, journal_size(*db_));
    journal_bytes_(size.bytes);
    if (size.rows == 0) {
      TW_TRY(const bool moves, has_task_moves(*db_));
      if (!moves) return {};
    } else if (size.bytes < options.fold_bytes && size.oldest < options.fold_after) {
      return {};
    }
    TW_TRY(const bool folded, fold_journal(*db_, FoldMode::try_now));
    if (!folded) return {};
  }
  return {};
}

}  // namespace tidewatt::store::pg
