#include "writer.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <utility>

#include "checkpoint.h"
#include "tidewatt/base/log.h"

namespace tidewatt::store {
namespace {

constexpr std::size_t kCachedAccounts = 200'000;
constexpr std::size_t kCachedNames = 100'000;
/// A disk that stays full must not grow the journal's image in memory without end.
constexpr std::size_t kJournalLimitFactor = 4;
constexpr Milliseconds kRetryAfter{2'000};
/// What a node says of itself is in the tables so soon: it isn't in the journal.
constexpr Milliseconds kNewsAfter{1'000};

}  // namespace

Writer::Writer(Database db, State& state, const SqliteOptions& options)
    : db_(std::move(db)),
      state_(state),
      options_(options),
      fold_(state, accounts_, names_, db_),
      last_checkpoint_(std::chrono::steady_clock::now()) {}

Status Writer::load() {
  TW_TRY_STATUS(load_frozen(db_, state_));
  TW_TRY_STATUS(load_nodes(db_, state_));
  TW_TRY_STATUS(accounts_.load(db_));
  TW_TRY_STATUS(names_.load(db_));
  {
    TW_TRY(auto select, db_.prepare("SELECT bytes FROM journal ORDER BY seq"));
    while (true) {
      TW_TRY(const bool row, select.step());
      if (!row) break;
      TW_TRY(auto changes, decode_changes(select.blob(0)));
      for (const auto& account : changes.accounts) accounts_.remember(account);
      for (const auto& name : changes.names) names_.remember(name);
      const std::lock_guard lock(state_.mutex);
      TW_TRY_STATUS(state_.apply(std::move(changes), select.blob(0).size()));
    }
  }
  return checkpoint(db_, state_, now());
}

void Writer::start() {
  thread_ = std::thread([this] { loop(); });
}

Writer::~Writer() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

Result<Writer::Outcomes> Writer::accrue(std::span<const ledger::Accrual> accruals) {
  if (accruals.empty()) return Outcomes{};
  Job job{accruals, {}, false, {}, {}};
  return wait_for(job);
}

Status Writer::run(Direct direct) {
  Job job{{}, std::move(direct), false, {}, {}};
  if (auto answer = wait_for(job); !answer) return tl::unexpected(std::move(answer).error());
  return {};
}

Status Writer::run_settled(Direct direct) {
  Job job{{}, std::move(direct), true, {}, {}};
  if (auto answer = wait_for(job); !answer) return tl::unexpected(std::move(answer).error());
  return {};
}

void Writer::run_alone(Job& job) {
  auto status = checkpoint(db_, state_, now());
  if (status) status = job.direct(db_);
  if (!status) job.answer = tl::unexpected(std::move(status).error());
  auto done = std::move(job.done);
  done.set_value();
}

UtcTime Writer::now() const {
  return options_.now ? options_.now() : std::chrono::floor<Milliseconds>(std::chrono::system_clock::now());
}

Result<Writer::Outcomes> Writer::wait_for(Job& job) {
  auto done = job.done.get_future();
  {
    const std::lock_guard lock(mutex_);
    // One call larger than the whole queue must still get through when nothing else waits.
    if (stop_ || (queued_ > 0 && queued_ + job.size() > options_.queue_limit))
      return fail(ErrorCode::unavailable,
                  fmt::format("store: {} writes wait already (limit {})", queued_, options_.queue_limit),
                  "send again in a moment");
    queue_.push_back(&job);
    queued_ += job.size();
  }
  wake_.notify_one();
  done.wait();
  return std::move(job.answer);
}

void Writer::fold_soon() {
  fold_soon_.store(true);
  {
    const std::lock_guard lock(mutex_);
  }  // else it could be between looking and waiting
  wake_.notify_one();
}

void Writer::loop() {
  ::pthread_setname_np(::pthread_self(), "store-writer");
  while (true) {
    const auto jobs = take();
    if (!jobs.empty() && jobs.front()->settled)
      run_alone(*jobs.front());
    else if (!jobs.empty())
      commit(jobs);
    if (checkpoint_due()) fold_journal();
    const std::lock_guard lock(mutex_);
    if (stop_ && queue_.empty()) break;
  }
  fold_journal();
  (void)db_.exec("PRAGMA wal_checkpoint(TRUNCATE)");
}

std::vector<Writer::Job*> Writer::take() {
  std::unique_lock lock(mutex_);
  // Asked to fold soon it wakes up and has less time to wait.
  while (!stop_ && queue_.empty())
    if (wake_.wait_until(lock, next_checkpoint()) == std::cv_status::timeout) break;
  std::vector<Job*> jobs;
  std::size_t size = 0;
  while (!queue_.empty() && (jobs.empty() || (!jobs.front()->settled && !queue_.front()->settled &&
                                              size + queue_.front()->size() <= options_.commit_limit))) {
    size += queue_.front()->size();
    jobs.push_back(queue_.front());
    queue_.pop_front();
  }
  queued_ -= size;
  return jobs;
}

void Writer::commit(const std::vector<Job*>& jobs) {
  const auto status = write(jobs);
  if (!status) {
    fold_.abandon();
    log::error("store: a commit failed, nothing of it was booked", {{"error", status.error().message}});
  }
  for (auto* job : jobs) {
    if (!status) job->answer = tl::unexpected(status.error());
    // Taken out first: once the caller wakes, its job is gone.
    auto done = std::move(job->done);
    done.set_value();
  }
}

Status Writer::write(const std::vector<Job*>& jobs) {
  fold_.begin();
  if (state_.unfolded.journal_bytes > kJournalLimitFactor * options_.checkpoint_bytes)
    return fail(ErrorCode::unavailable,
                fmt::format("{}: {} bytes of journal can't be folded into the tables", options_.path,
                            state_.unfolded.journal_bytes),
                "look at the errors before: the disk is probably full");
  for (auto* job : jobs)
    if (!job->accruals.empty()) job->answer = fold_.decide(job->accruals);
  TW_TRY_STATUS(fold_.finish());
  TW_TRY(auto transaction, Transaction::begin(db_, Transaction::Kind::write));
  for (auto* job : jobs)
    if (job->direct) TW_TRY_STATUS(run_direct(*job));
  TW_TRY_STATUS(append_journal());
  TW_TRY_STATUS(transaction.commit());
  if (fold_.changes().empty()) return {};
  const std::lock_guard lock(state_.mutex);
  return state_.apply(fold_.take_changes(), journal_row_.size());
}

Status Writer::run_direct(Job& job) {
  TW_TRY_STATUS(db_.exec("SAVEPOINT direct"));
  if (auto status = job.direct(db_); !status) {
    job.answer = tl::unexpected(std::move(status).error());
    if (!db_.in_transaction()) return tl::unexpected(job.answer.error());  // a full disk: SQLite undid it all
    TW_TRY_STATUS(db_.exec("ROLLBACK TO direct"));
  }
  return db_.exec("RELEASE direct");
}

Status Writer::append_journal() {
  if (fold_.changes().empty()) return {};
  journal_row_.clear();
  encode(fold_.changes(), journal_row_);
  TW_TRY(auto insert, db_.prepare("INSERT INTO journal(bytes) VALUES(?)"));
  insert.bind_blob(1, journal_row_);
  return insert.run();
}

std::chrono::steady_clock::time_point Writer::next_checkpoint() const {
  auto after = options_.checkpoint_after;
  if (fold_soon_.load()) after = std::min(after, kNewsAfter);
  if (checkpoint_failed_) after = std::min(options_.checkpoint_after, kRetryAfter);
  return last_checkpoint_ + after;
}

bool Writer::checkpoint_due() const {
  if (!checkpoint_failed_ && state_.unfolded.journal_bytes >= options_.checkpoint_bytes) return true;
  return std::chrono::steady_clock::now() >= next_checkpoint();
}

void Writer::fold_journal() {
  const bool quiet = state_.unfolded.journal_bytes < options_.checkpoint_bytes;
  fold_soon_.store(false);
  const auto status = checkpoint(db_, state_, now());
  last_checkpoint_ = std::chrono::steady_clock::now();
  if (!status && !checkpoint_failed_)
    log::error("store: the journal can't be folded into the tables; it is kept and tried again",
               {{"error", status.error().message}});
  if (status && checkpoint_failed_) log::info("store: the journal is folded into the tables again");
  checkpoint_failed_ = !status;
  if (!status) return;
  accounts_.shrink(kCachedAccounts);
  names_.shrink(kCachedNames);
  // Not by SQLite itself at some commit: a caller would wait for it.
  (void)db_.exec("PRAGMA wal_checkpoint(PASSIVE)");
  if (!quiet) return;
  // Pages are cached for folds that follow each other; after one that only time made due they would lie idle.
  (void)db_.exec("PRAGMA shrink_memory");
  journal_row_ = {};
}

}  // namespace tidewatt::store
