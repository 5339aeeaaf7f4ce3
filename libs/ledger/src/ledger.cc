#include "tidewatt/ledger/ledger.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "node_view.h"

namespace tidewatt::ledger {
namespace {

constexpr int kTries = 8;

/// The last known sample of any device.
UtcTime newest_sample(const NodeCursor& cursor) {
  UtcTime newest{};
  for (const auto& device : cursor.devices) newest = std::max(newest, device.at);
  return newest;
}

}  // namespace

std::string_view to_string(BeatOutcome outcome) {
  switch (outcome) {
    case BeatOutcome::accepted:
      return "accepted";
    case BeatOutcome::duplicate:
      return "duplicate";
    case BeatOutcome::retry:
      return "retry";
    case BeatOutcome::rejected:
      return "rejected";
  }
  return "retry";
}

/// One node's beats of a batch, in order, and what became of them.
struct Ledger::NodeWork {
  NodeKey node;
  std::vector<std::size_t> places;  ///< in the batch
  std::vector<const ReceivedBeat*> beats;
  std::vector<BeatResult> results;
  std::vector<Note> notes;
  Accrual accrual;
  std::map<std::string, ShownBeat> newest;  ///< by agent: of the accepted ones, by sample time
  std::vector<CheckedCounter> checks;
  std::vector<TaskInterval> intervals;
  bool booked = false;                       ///< some beat brought energy or a first sample
  std::optional<Milliseconds> behind;        ///< of the last beat that was too old to: how much
  std::optional<Milliseconds> clock_offset;  ///< that its clock had
  bool settled = false;                      ///< results are final
};

void Ledger::prepare(NodeWork& work, const ClusterWindows& windows_of) {
  static const TaskWindows none;
  const auto found = windows_of.find(work.node.cluster);
  const auto& windows = found != windows_of.end() ? found->second : none;
  work.results.assign(work.beats.size(), {});
  work.notes.clear();
  work.newest.clear();
  work.checks.clear();
  work.intervals.clear();
  work.booked = false;
  work.behind.reset();
  work.clock_offset.reset();
  work.accrual = {};
  work.accrual.node = work.node;
  auto read = store_.cursor(work.node);
  if (!read) {
    for (auto& result : work.results) result = {BeatOutcome::retry, read.error().to_string()};
    work.settled = true;
    return;
  }
  work.accrual.expected_revision = read->revision;
  NodeCursor cursor = *read->cursor;
  bool changed = false;
  for (std::size_t i = 0; i < work.beats.size(); ++i) {
    const auto& received = *work.beats[i];
    auto booking = ledger::book(std::move(cursor), *received.beat, received.receipt, windows, rules_, watch_);
    cursor = std::move(booking.next);
    switch (booking.verdict) {
      case Verdict::duplicate:
        work.results[i].outcome = BeatOutcome::duplicate;
        continue;
      case Verdict::rejected:
        work.results[i] = {BeatOutcome::rejected, std::move(booking.reason)};
        continue;
      case Verdict::accepted:
        break;
    }
    changed = true;
    if (std::find(booking.notes.begin(), booking.notes.end(), Note::stale) == booking.notes.end()) {
      work.booked = work.booked || !booking.deltas.empty();
    } else if (booking.curve) {
      work.behind = newest_sample(cursor) - booking.curve->at;
      work.clock_offset = booking.clock_offset;
    }
    if (booking.curve) {
      auto& newest = work.newest[received.beat->agent_id];
      if (newest.beat == nullptr || booking.curve->at > newest.at)
        newest = {received.beat, received.receipt.at, booking.curve->at, booking.clock_offset};
    }
    if (work.accrual.deltas.empty()) {
      work.accrual.deltas = std::move(booking.deltas);
    } else {
      std::move(booking.deltas.begin(), booking.deltas.end(), std::back_inserter(work.accrual.deltas));
    }
    if (booking.curve) work.accrual.curve.push_back(std::move(*booking.curve));
    std::move(booking.intervals.begin(), booking.intervals.end(), std::back_inserter(work.intervals));
    work.checks.insert(work.checks.end(), booking.checks.begin(), booking.checks.end());
    work.notes.insert(work.notes.end(), booking.notes.begin(), booking.notes.end());
  }
  work.accrual.next = std::make_shared<const NodeCursor>(std::move(cursor));
  if (!changed) work.settled = true;  // nothing to write
}

/// Liveness and booking are apart: whoever sends is alive. What is *shown* of a node comes from its agents'
/// newest accepted beats alone: a beat that was refused, sent again or late says nothing of now.
SharedNode Ledger::seen(const NodeWork& work) {
  const auto& last = *work.beats.back();
  const auto has = [&work](BeatOutcome outcome) {
    return std::any_of(work.results.begin(), work.results.end(),
                       [outcome](const auto& r) { return r.outcome == outcome; });
  };
  const auto stored = store_.node(work.node);
  const NodeInfo* const known = stored ? stored->get() : nullptr;
  std::optional<NodeInfo> info;
  if (has(BeatOutcome::accepted)) {
    for (const auto& [agent, beat] : work.newest)
      if (auto shown = shown_with(info ? &*info : known, beat)) info = std::move(shown);
    if (!work.checks.empty() && (info || known != nullptr)) {
      if (!info) info = *known;
      add_checks(*info, work.checks);
    }
  } else if (known == nullptr && has(BeatOutcome::retry)) {
    // Nothing is kept of a node that was only ever refused.
    info = shown_with(nullptr, {last.beat, last.receipt.at, {}, {}});
    info->last_sample_at.reset();
    info->agents.clear();
    info->sources.clear();
    for (auto& device : info->devices) device.power.reset();
  }
  if (!info) {
    if (known == nullptr) return nullptr;
    if (known->last_seen_at >= last.receipt.at) return *stored;
    info = *known;
  }
  info->stale = known != nullptr ? known->stale : std::nullopt;
  if (work.booked) {
    info->stale.reset();
  } else if (work.behind && has(BeatOutcome::accepted)) {
    info->stale = StaleBeats{info->stale ? info->stale->since : last.receipt.at, *work.behind};
    if (work.clock_offset) info->clock_offset = work.clock_offset;
  }
  info->last_seen_at = std::max(info->last_seen_at, last.receipt.at);
  if (!info->first_seen_at) info->first_seen_at = info->last_seen_at;
  return std::make_shared<const NodeInfo>(*std::move(info));
}

std::vector<BeatResult> Ledger::book(std::span<const ReceivedBeat> beats, const ClusterWindows& windows) {
  std::map<NodeKey, NodeWork> by_node;
  for (std::size_t i = 0; i < beats.size(); ++i) {
    NodeKey key{beats[i].beat->cluster, beats[i].beat->node_id};
    auto& work = by_node[key];
    work.node = std::move(key);
    work.places.push_back(i);
    work.beats.push_back(&beats[i]);
  }

  std::vector<NodeWork*> open;
  open.reserve(by_node.size());
  for (auto& [key, work] : by_node) open.push_back(&work);
  for (int attempt = 0; attempt < kTries && !open.empty(); ++attempt) {
    for (auto* work : open) prepare(*work, windows);
    std::erase_if(open, [](const NodeWork* work) { return work->settled; });
    if (open.empty()) break;
    std::vector<Accrual> accruals;
    accruals.reserve(open.size());
    for (auto* work : open) accruals.push_back(std::move(work->accrual));
    const auto outcomes = store_.accrue(accruals);
    if (!outcomes) {
      for (auto* work : open)
        work->results.assign(work->beats.size(), {BeatOutcome::retry, outcomes.error().to_string()});
      open.clear();
      break;
    }
    std::vector<NodeWork*> conflicted;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (outcomes->at(i) == AccrueOutcome::applied) {
        open[i]->settled = true;
        auto* const watch = watch_.load();
        if (watch != nullptr && !open[i]->intervals.empty()) watch->take(std::move(open[i]->intervals));
      } else {
        ++counters_.conflicts;
        conflicted.push_back(open[i]);
      }
    }
    open = std::move(conflicted);
  }
  for (auto* work : open)
    work->results.assign(work->beats.size(),
                         {BeatOutcome::retry, "another server keeps booking this node; send again"});

  std::vector<SharedNode> alive;
  alive.reserve(by_node.size());
  for (const auto& [key, work] : by_node)
    if (auto info = seen(work)) alive.push_back(std::move(info));
  (void)store_.note_seen(alive);

  std::vector<BeatResult> results(beats.size());
  for (auto& [key, work] : by_node) {
    for (const auto n : work.notes) ++counters_.notes.at(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < work.places.size(); ++i) {
      switch (work.results[i].outcome) {
        case BeatOutcome::accepted:
          ++counters_.accepted;
          break;
        case BeatOutcome::duplicate:
          ++counters_.duplicate;
          break;
        case BeatOutcome::retry:
          ++counters_.retry;
          break;
        case BeatOutcome::rejected:
          ++counters_.rejected;
          break;
      }
      results[work.places[i]] = std::move(work.results[i]);
    }
  }
  return results;
}

Result<AuditDifference> audit(Store& store) {
  TW_TRY(const auto accounts, store.accounts({}));
  AuditDifference difference;
  for (const auto& account : accounts) {
    switch (account.key.scope) {
      case Scope::device:
        difference.devices_minus_nodes += account.totals.energy;
        break;
      case Scope::task:
        difference.tasks_and_unattributed_minus_nodes += account.totals.energy;
        break;
      case Scope::node:
        difference.devices_minus_nodes = difference.devices_minus_nodes - account.totals.energy;
        difference.tasks_and_unattributed_minus_nodes = difference.tasks_and_unattributed_minus_nodes +
                                                        account.totals.unattributed - account.totals.energy;
        break;
      case Scope::task_device:
        break;
    }
  }
  return difference;
}

Result<WideMicrojoules> audit_team_hours(ImageSource& source) {
  struct Differences final : ImageSink {
    using ImageSink::add;
    using Key = std::tuple<std::string, Scope, std::string>;  // cluster, scope, domain
    Status add(const Account& account) override {
      const auto& key = account.key;
      if (has_team_hours(key.scope)) of[{key.cluster, key.scope, key.domain}] += account.totals.energy;
      return {};
    }
    Status add(const TeamHour& hour) override {
      auto& difference = of[{hour.cluster, hour.scope, hour.domain}];
      difference = difference - hour.measures.energy;
      return {};
    }
    std::map<Key, WideMicrojoules> of;
  };
  WideMicrojoules sum;
  if (!source.keeps_team_hours()) return sum;
  Differences differences;
  ImageParts parts;
  parts.accounts = parts.team_hours = true;
  TW_TRY_STATUS(source.read_image(parts, differences));
  const WideMicrojoules nothing{};
  for (const auto& [key, difference] : differences.of)
    sum += difference < nothing ? nothing - difference : difference;
  return sum;
}

}  // namespace tidewatt::ledger
