#include "writer.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <utility>

#include "../curve_codec.h"
#include "../journal/cursor_patch.h"
#include "piece.h"
#include "tidewatt/base/log.h"

namespace tidewatt::store::pg {
namespace {

using ledger::AccrueOutcome;

constexpr std::size_t kCachedNames = 100'000;
/// A journal that can't be folded must not grow without end.
constexpr std::size_t kJournalLimitFactor = 4;
constexpr std::size_t kJournalLimitAtLeast = std::size_t{256} << 20U;

}  // namespace

Writers::Writers(const Target& target, Nodes& nodes, Accounts& accounts, Names& names,
                 std::function<void(std::size_t)> committed)
    : target_(target), nodes_(nodes), accounts_(accounts), names_(names), committed_(std::move(committed)) {}

void Writers::start() {
  for (std::size_t i = 0; i < std::max<std::size_t>(1, target_.options().writers); ++i)
    threads_.emplace_back([this] { loop(); });
}

Writers::~Writers() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

Result<Writers::Outcomes> Writers::accrue(std::span<const ledger::Accrual> accruals) {
  if (accruals.empty()) return Outcomes{};
  const auto& options = target_.options();
  if (journal_bytes_ > std::max(kJournalLimitAtLeast, kJournalLimitFactor * options.fold_bytes))
    return fail(ErrorCode::unavailable,
                fmt::format("{}: {} bytes of journal can't be folded into the tables", target_.name(),
                            journal_bytes_.load()),
                "look at the errors before: PostgreSQL's disk is probably full");
  Job job{accruals, {}, {}, {}};
  job.nodes.reserve(accruals.size());
  {
    const std::lock_guard lock(nodes_.mutex);
    for (const auto& accrual : accruals) job.nodes.push_back(&nodes_.get(accrual.node));
  }
  auto done = job.done.get_future();
  {
    const std::lock_guard lock(mutex_);
    // One call larger than the whole queue must still get through when nothing else waits.
    if (stop_ || (queued_ > 0 && queued_ + accruals.size() > options.queue_limit))
      return fail(ErrorCode::unavailable,
                  fmt::format("store: {} writes wait already (limit {})", queued_, options.queue_limit),
                  "send again in a moment");
    queue_.push_back(&job);
    queued_ += accruals.size();
  }
  wake_.notify_one();
  done.wait();
  return std::move(job.answer);
}

void Writers::loop() {
  ::pthread_setname_np(::pthread_self(), "store-writer");
  Bench bench(target_);
  while (true) {
    const auto jobs = take();
    if (jobs.empty()) return;
    commit(bench, jobs);
  }
}

/// The next commit's calls, their nodes held; empty when the writers shall stop.
std::vector<Writers::Job*> Writers::take() {
  std::unique_lock lock(mutex_);
  std::vector<Job*> jobs;
  while (true) {
    std::size_t size = 0;
    {
      const std::lock_guard nodes(nodes_.mutex);
      std::erase_if(queue_, [&](Job* job) {
        const bool fits = jobs.empty() || size + job->accruals.size() <= target_.options().commit_limit;
        // Held by this very commit is no hindrance: the accruals follow one another.
        const auto held = [&](const Node* node) {
          return node->busy && std::none_of(jobs.begin(), jobs.end(), [node](const Job* mine) {
                   return std::find(mine->nodes.begin(), mine->nodes.end(), node) != mine->nodes.end();
                 });
        };
        if (!fits || std::any_of(job->nodes.begin(), job->nodes.end(), held)) return false;
        for (auto* node : job->nodes) node->busy = true;
        size += job->accruals.size();
        jobs.push_back(job);
        return true;
      });
    }
    queued_ -= size;
    if (!jobs.empty() || (stop_ && queue_.empty())) return jobs;
    wake_.wait(lock);
  }
}

void Writers::release(const std::vector<Job*>& jobs) {
  {
    const std::lock_guard lock(mutex_);
    const std::lock_guard nodes(nodes_.mutex);
    for (const auto* job : jobs)
      for (auto* node : job->nodes) node->busy = false;
  }
  wake_.notify_all();
}

void Writers::commit(Bench& bench, const std::vector<Job*>& jobs) {
  auto status = write(bench, jobs);
  if (!status && status.error().code != ErrorCode::unavailable && jobs.size() > 1) {
    // Something in one call that the database refuses: it alone shall fail.
    for (auto* job : jobs)
      if (auto alone = write(bench, {job}); !alone) job->answer = tl::unexpected(std::move(alone).error());
    status = {};
  }
  // Once, not for every call while PostgreSQL is away.
  if (!status && !failing_.exchange(true))
    log::error("store: commits fail", {{"error", status.error().to_string()}});
  if (status && failing_.exchange(false)) log::info("store: commits work again");
  release(jobs);
  for (auto* job : jobs) {
    if (!status) job->answer = tl::unexpected(status.error());
    // Taken out first: once the caller wakes, its job is gone.
    auto done = std::move(job->done);
    done.set_value();
  }
}

Status Writers::write(Bench& bench, const std::vector<Job*>& jobs) {
  auto chains = decide(jobs);
  if (chains.empty()) return {};
  // Cursors are read anew after a failure: what was sent may have been booked all the same.
  const auto give_up = [&](Error error) -> Status {
    const std::lock_guard lock(nodes_.mutex);
    for (auto& chain : chains) nodes_.forget(*chain.node);
    return tl::unexpected(std::move(error));
  };
  for (int attempt = 0;; ++attempt) {
    auto db = bench.line.connection();
    auto numbered = db ? number_all(**db, bench, chains) : Status(tl::unexpected(std::move(db).error()));
    if (numbered) break;
    if (attempt >= 2 || (db && (*db)->failure() == Failure::rolled_back))
      return give_up(std::move(numbered).error());
  }
  std::sort(chains.begin(), chains.end(),
            [](const auto& a, const auto& b) { return a.node->pk < b.node->pk; });
  TW_TRY_STATUS(encode_all(bench, chains));
  auto moved = bench.line.commit(bench.batch);
  if (!moved) return give_up(std::move(moved).error());
  settle(chains, *moved);
  committed_(bench.batch.row.size());
  return {};
}

/// What may be applied, as far as it can be said here; the database says the rest.
std::vector<Writers::Chain> Writers::decide(const std::vector<Job*>& jobs) {
  std::vector<Chain> chains;
  std::unordered_map<const Node*, std::size_t> places;
  const std::lock_guard lock(nodes_.mutex);
  for (auto* job : jobs) {
    job->answer = Outcomes(job->accruals.size(), AccrueOutcome::conflict);
    for (std::size_t i = 0; i < job->accruals.size(); ++i) {
      const auto& accrual = job->accruals[i];
      auto* node = job->nodes[i];
      const auto [place, is_new] = places.try_emplace(node, chains.size());
      if (is_new) {
        // A revision that was passed already is never the current one again.
        if (node->known && accrual.expected_revision < node->revision) {
          places.erase(place);
          continue;
        }
        chains.push_back({node, accrual.expected_revision, accrual.expected_revision, {}, {}, {}});
      }
      auto& chain = chains[place->second];
      if (accrual.expected_revision != chain.to) continue;
      ++chain.to;
      chain.accruals.push_back(&accrual);
      chain.outcomes.push_back(&(*job->answer)[i]);
    }
  }
  return chains;
}

Status Writers::number_all(Connection& db, Bench& bench, std::vector<Chain>& chains) {
  std::vector<Node*> nodes;
  for (const auto& chain : chains)
    if (chain.node->pk == 0) nodes.push_back(chain.node);
  if (!nodes.empty()) TW_TRY_STATUS(number(db, nodes_, nodes));

  accounts_.shrink();
  names_.shrink();
  if (bench.names.size() > kCachedNames) bench.names.clear();
  for (int round = 0; round < 4; ++round) {
    std::vector<const ledger::AccountKey*> keys;
    std::vector<std::string_view> names;
    const auto want = [&](const std::string& name) {
      if (bench.names.contains(name)) return;
      if (const auto known = names_.find(std::string_view(name)))
        bench.names.emplace(name, *known);
      else
        names.push_back(name);
    };
    for (auto& chain : chains) {
      // Beat after beat names the same accounts in the same order.
      auto& hints = chain.node->hints;
      std::size_t at = 0;
      for (const auto* accrual : chain.accruals) {
        for (const auto& delta : accrual->deltas) {
          if (at == hints.size()) hints.emplace_back();
          auto& hint = hints[at++];
          if (hint && hint->key == delta.key) continue;
          hint = accounts_.find(delta.key);
          if (!hint) keys.push_back(&delta.key);
        }
        for (const auto& point : accrual->curve)
          for (const auto& device : point.devices) {
            want(device.domain);
            for (const auto& holder : device.holders) want(holder);
          }
      }
      hints.resize(at);
    }
    if (keys.empty() && names.empty()) return {};
    if (!keys.empty()) TW_TRY_STATUS(accounts_.number(db, std::move(keys)));
    if (!names.empty()) TW_TRY_STATUS(names_.number(db, std::move(names)));
  }
  return fail(ErrorCode::unavailable, "store: numbers are forgotten as fast as they are given", "send again");
}

Status Writers::encode_all(Bench& bench, std::vector<Chain>& chains) {
  auto& batch = bench.batch;
  batch.nodes.clear();
  batch.from.clear();
  batch.to.clear();
  begin_row(batch.row);
  const NameToId id_of = [&](std::string_view name) -> std::int64_t {
    return bench.names.find(name)->second;
  };
  for (auto& chain : chains) {
    const auto& node = *chain.node;
    batch.nodes.push_back(node.pk);
    batch.from.push_back(chain.from);
    batch.to.push_back(chain.to);
    auto& changes = bench.changes;
    changes.clear();
    std::size_t at = 0;
    for (const auto* accrual : chain.accruals) {
      for (const auto& delta : accrual->deltas) {
        for (const auto& row : delta.hours)
          changes.rows.push_back({changes.touched.size(), row.hour, row.measures});
        changes.touched.push_back(
            {node.hints[at++]->pk, nullptr, delta.first_sample_at, delta.last_sample_at});
      }
      for (const auto& point : accrual->curve)
        encode_point(point, id_of, changes.points.emplace_back(PointChange{node.pk, point.at, {}}).bytes);
    }
    chain.encoded = ledger::encode(*chain.accruals.back()->next);
    auto& cursor = changes.cursors.emplace_back(CursorChange{node.pk, chain.to, {}, false});
    cursor.is_patch =
        node.known && node.revision == chain.from && make_patch(node.encoded, chain.encoded, cursor.bytes);
    if (!cursor.is_patch) cursor.bytes = chain.encoded;
    append_piece(batch.row, chain.from, changes, bench.scratch);
  }
  return {};
}

void Writers::settle(std::vector<Chain>& chains, const std::optional<std::vector<std::int64_t>>& moved) {
  const std::lock_guard lock(nodes_.mutex);
  for (auto& chain : chains) {
    auto& node = *chain.node;
    if (moved && !std::binary_search(moved->begin(), moved->end(), node.pk.load())) {
      nodes_.forget(node);
      continue;
    }
    node.known = true;
    node.revision = chain.to;
    node.encoded.swap(chain.encoded);
    node.cursor = chain.accruals.back()->next;
    for (auto* outcome : chain.outcomes) *outcome = AccrueOutcome::applied;
  }
}

}  // namespace tidewatt::store::pg
