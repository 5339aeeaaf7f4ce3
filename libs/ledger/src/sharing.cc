#include "sharing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace tidewatt::ledger {
namespace {

constexpr double kShareUnit = 1e9;  ///< a declared share of 1 as an integer weight

std::optional<double> add_shares(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return std::nullopt;
  return *a + *b;
}

bool valid_share(std::optional<double> share) {
  return share && std::isfinite(*share) && *share >= 0 && *share <= 1e3;
}

/// When a task was active inside the interval; nullopt: not at all, as far as is known.
std::optional<UtcRange> activity(const std::string& task, UtcRange interval, bool before, bool now,
                                 const TaskWindows& windows) {
  const auto known = windows.find(task);
  const auto inside = [&](std::optional<UtcTime> t) { return t && *t > interval.begin && *t < interval.end; };
  const bool started = known != windows.end() && inside(known->second.started_at);
  const bool finished = known != windows.end() && inside(known->second.finished_at);
  if (!(before || started) || !(now || finished)) return std::nullopt;
  UtcRange active = interval;
  if (started) active.begin = *known->second.started_at;
  if (finished) active.end = *known->second.finished_at;
  if (active.begin >= active.end) return std::nullopt;
  return active;
}

/// How many tasks held at one end, those left out that the registry knows to be elsewhere in this segment.
std::size_t holders_at(const TaskSet& tasks, UtcRange segment, const TaskWindows& windows) {
  return static_cast<std::size_t>(std::count_if(tasks.begin(), tasks.end(), [&](const std::string& task) {
    const auto known = windows.find(task);
    if (known == windows.end()) return true;
    const bool over = known->second.finished_at && *known->second.finished_at <= segment.begin;
    const bool to_come = known->second.started_at && *known->second.started_at >= segment.end;
    return !over && !to_come;
  }));
}

}  // namespace

std::vector<Holder> merge_holders(const std::vector<Holder>& holders) {
  std::vector<Holder> merged;
  for (const auto& holder : holders) {
    if (!holds(holder.state) || holder.task_id.empty()) continue;
    const auto same = std::find_if(merged.begin(), merged.end(),
                                   [&](const Holder& h) { return h.task_id == holder.task_id; });
    if (same == merged.end()) {
      merged.push_back(holder);
      continue;
    }
    same->compute_share = add_shares(same->compute_share, holder.compute_share);
    same->memory_share = add_shares(same->memory_share, holder.memory_share);
    if (same->state == HolderState::sleeping) same->state = holder.state;
  }
  std::sort(merged.begin(), merged.end(),
            [](const Holder& a, const Holder& b) { return a.task_id < b.task_id; });
  return merged;
}

TaskSet tasks_of(const std::vector<Holder>& holders, const TaskSet& before) {
  const auto& known = before.ids();
  const bool same =
      holders.size() == known.size() &&
      std::equal(holders.begin(), holders.end(), known.begin(), [](const auto& holder, const auto& id) {
        return holds(holder.state) && holder.task_id == id;
      });
  if (same) return before;
  std::vector<std::string> ids;
  for (const auto& holder : holders)
    if (holds(holder.state) && !holder.task_id.empty()) ids.push_back(holder.task_id);
  return TaskSet{std::move(ids)};
}

std::vector<Segment> segments_of(UtcRange interval, const TaskSet& before, const TaskSet& now,
                                 const TaskWindows& windows) {
  // Nearly always: the same holders at both ends, and nothing known of when they started or finished.
  if (before == now &&
      std::none_of(now.begin(), now.end(), [&](const std::string& task) { return windows.contains(task); })) {
    std::vector<Segment> whole;
    if (interval.begin < interval.end) whole.push_back({interval, now, now.size() > 1});
    return whole;
  }
  std::vector<std::pair<std::string, UtcRange>> active;
  std::vector<UtcTime> cuts{interval.begin, interval.end};
  for (const auto& task : united(before, now)) {
    const auto range = activity(task, interval, before.contains(task), now.contains(task), windows);
    if (!range) continue;
    cuts.push_back(range->begin);
    cuts.push_back(range->end);
    active.emplace_back(task, *range);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());

  std::vector<Segment> segments;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    Segment segment{{cuts[i], cuts[i + 1]}, {}, false};
    std::vector<std::string> receivers;
    for (const auto& [task, range] : active)
      if (range.begin <= segment.range.begin && range.end >= segment.range.end) receivers.push_back(task);
    segment.receivers = TaskSet{std::move(receivers)};
    segment.shared = segment.receivers.size() > 1 || holders_at(before, segment.range, windows) > 1 ||
                     holders_at(now, segment.range, windows) > 1;
    segments.push_back(std::move(segment));
  }
  return segments;
}

std::vector<std::int64_t> weights_of(const TaskSet& receivers, const std::vector<Holder>& declared,
                                     const std::optional<Unheld>& unheld) {
  std::vector<const Holder*> holders;
  for (const auto& task : receivers) {
    const auto found =
        std::find_if(declared.begin(), declared.end(), [&](const Holder& h) { return h.task_id == task; });
    holders.push_back(found == declared.end() ? nullptr : &*found);
  }
  Holder nobody;
  if (unheld) {
    nobody.compute_share = unheld->compute_share;
    nobody.memory_share = unheld->memory_share;
    holders.push_back(&nobody);
  }
  const auto asleep = [](const Holder* h) { return h != nullptr && h->state == HolderState::sleeping; };
  const bool all_asleep = std::all_of(holders.begin(), holders.end(), asleep);

  // Falls through to the next dimension when all that is declared adds up to nothing.
  const auto by = [&](std::optional<double> Holder::* share) -> std::vector<std::int64_t> {
    std::vector<std::int64_t> weights;
    std::int64_t sum = 0;
    for (const auto* holder : holders) {
      if (holder == nullptr && unheld) {  // what it did before it left is in what is nobody's
        weights.push_back(0);
        continue;
      }
      if (holder == nullptr || !valid_share(holder->*share)) return {};
      const bool silent = asleep(holder) && !all_asleep;
      weights.push_back(silent ? 0 : static_cast<std::int64_t>(std::llround(*(holder->*share) * kShareUnit)));
      sum += weights.back();
    }
    if (sum == 0 && unheld) weights.back() = sum = 1;  // nothing is theirs, so all of it is nobody's
    return sum > 0 ? weights : std::vector<std::int64_t>{};
  };
  if (auto weights = by(&Holder::compute_share); !weights.empty()) return weights;
  if (auto weights = by(&Holder::memory_share); !weights.empty()) return weights;
  std::vector<std::int64_t> equal;
  equal.reserve(holders.size());
  for (const auto* holder : holders) equal.push_back(asleep(holder) && !all_asleep ? 0 : 1);
  return equal;
}

}  // namespace tidewatt::ledger
