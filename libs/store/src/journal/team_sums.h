// Team hours in the making: what a fold adds to them, and what an answer has beyond the table.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "tidewatt/ledger/image.h"
#include "unfolded.h"

namespace tidewatt::store {

/// A row of the table: its key, in the order of the image.
struct TeamKey {
  ledger::Scope scope = ledger::Scope::task_device;
  UtcHour hour{};
  bool late = false;
  std::string cluster;
  std::string team;
  std::string domain;
  friend auto operator<=>(const TeamKey&, const TeamKey&) = default;
};

struct TeamSum {
  ledger::WideMeasures measures;
  /// How many hourly rows or adjustments it is the sum of: a row of none is no row, though its amounts are
  /// there as 0.
  std::int64_t rows = 0;
  void add(const TeamSum& more) {
    measures += more.measures;
    rows += more.rows;
  }
};

inline ledger::WideMeasures negative(const ledger::WideMeasures& m) {
  const WideMicrojoules nothing{};
  return {nothing - m.energy,
          nothing - m.counter,
          nothing - m.shared,
          nothing - m.unattributed,
          nothing - m.simulated,
          nothing - m.spread,
          -m.covered,
          -m.gap,
          -m.partial,
          -m.shared_time,
          -m.samples};
}

class TeamSums {
 public:
  void add(const TeamKey& key, const ledger::WideMeasures& measures, std::int64_t rows) {
    sums_[key].add({measures, rows});
  }
  /// A row that stood under key.team is `team`'s.
  void move(TeamKey key, const std::string& team, const ledger::WideMeasures& measures) {
    if (key.team == team) return;
    add(key, negative(measures), -1);
    key.team = team;
    add(key, measures, 1);
  }
  [[nodiscard]] const std::map<TeamKey, TeamSum>& all() const { return sums_; }
  void clear() { sums_.clear(); }

 private:
  std::map<TeamKey, TeamSum> sums_;
};

/// Rows of the table in their order, with sums in between and added; those of nothing are left out.
class TeamMerge {
 public:
  TeamMerge(const TeamSums& more, ledger::ImageSink& sink)
      : next_(more.all().begin()), end_(more.all().end()), sink_(sink) {}
  Status take(const TeamKey& key, TeamSum sum) {
    while (next_ != end_ && next_->first < key) {
      TW_TRY_STATUS(give(next_->first, next_->second));
      ++next_;
    }
    if (next_ != end_ && next_->first == key) sum.add((next_++)->second);
    return give(key, sum);
  }
  Status end() {
    for (; next_ != end_; ++next_) TW_TRY_STATUS(give(next_->first, next_->second));
    return {};
  }

 private:
  Status give(const TeamKey& key, const TeamSum& sum) {
    if (sum.rows <= 0) return {};
    return sink_.add(
        ledger::TeamHour{key.cluster, key.scope, key.team, key.domain, key.hour, key.late, sum.measures});
  }
  std::map<TeamKey, TeamSum>::const_iterator next_;
  std::map<TeamKey, TeamSum>::const_iterator end_;
  ledger::ImageSink& sink_;
};

inline bool wants_team_hours_of(const ledger::ImageParts& parts, const ledger::AccountKey& key) {
  return ledger::has_team_hours(key.scope) && (!parts.filter.scope || *parts.filter.scope == key.scope) &&
         (parts.filter.cluster.empty() || parts.filter.cluster == key.cluster);
}

/// A sum's key by views: of thousands of accounts only few keys differ.
struct TeamRef {
  ledger::Scope scope = ledger::Scope::task_device;
  UtcHour hour{};
  std::string_view cluster;
  std::string_view team;
  std::string_view domain;
  friend bool operator==(const TeamRef&, const TeamRef&) = default;
};
struct TeamRefHash {
  std::size_t operator()(const TeamRef& ref) const {
    return std::hash<std::string_view>{}(ref.team) * 31 +
           static_cast<std::size_t>(ref.hour.time_since_epoch().count());
  }
};
struct TaskRefHash {
  std::size_t operator()(const std::pair<std::string_view, std::string_view>& task) const {
    return std::hash<std::string_view>{}(task.second);
  }
};

/// What the journal has of the range, on the side that a fold would put it.
/// @param unfolded  with every account's key
/// @param team_of   (cluster, task id) -> Result<std::string>, asked once a task
template <class TeamOf>
Status add_unfolded(TeamSums& sums, const Unfolded& unfolded, UtcHour frozen, const ledger::ImageParts& parts,
                    const TeamOf& team_of) {
  std::unordered_map<std::pair<std::string_view, std::string_view>, std::string, TaskRefHash> teams;
  std::unordered_map<TeamRef, TeamSum, TeamRefHash> found;
  for (const auto& [pk, account] : unfolded.accounts) {
    if (account.key == nullptr || !wants_team_hours_of(parts, *account.key)) continue;
    const auto& key = *account.key;
    TeamRef ref{key.scope, {}, key.cluster, {}, key.domain};
    bool named = key.scope == ledger::Scope::node;
    for (const auto& [hour, measures] : account.hours) {
      if (hour < parts.from || hour >= parts.to) continue;
      if (!named) {
        const auto [place, fresh] = teams.try_emplace({key.cluster, key.id});
        if (fresh) {
          TW_TRY(place->second, team_of(key.cluster, key.id));
        }
        ref.team = place->second;
        named = true;
      }
      ref.hour = hour;
      auto& sum = found[ref];
      sum.measures += measures;
      ++sum.rows;
    }
  }
  for (const auto& [ref, sum] : found)
    sums.add({ref.scope, ref.hour, ref.hour < frozen, std::string(ref.cluster), std::string(ref.team),
              std::string(ref.domain)},
             sum.measures, sum.rows);
  return {};
}

}  // namespace tidewatt::store
