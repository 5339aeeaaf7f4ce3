// Beats for tests, short to write.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tidewatt/ledger/integrate.h"

namespace tidewatt::ledger::testing {

inline const UtcTime kStart = *parse_rfc3339("2026-11-29T08:00:00Z");

struct BeatBuilder {
  Beat beat;
  explicit BeatBuilder(std::string node, std::uint64_t seq, int at_seconds) {
    beat.node_id = std::move(node);
    beat.boot_id = "b1";
    beat.agent_id = "a-" + beat.node_id;
    beat.seq = seq;
    beat.sampled_at = kStart + std::chrono::seconds{at_seconds};
    beat.monotonic = Milliseconds{1'000'000} + std::chrono::seconds{at_seconds};
  }
  BeatBuilder& gpu(int index, std::optional<double> watts, std::optional<double> counter = {},
                   std::vector<Holder> holders = {}) {
    DeviceSample d;
    d.domain = "gpu";
    d.index = index;
    d.uuid = "GPU-" + std::to_string(index);
    if (watts) d.power = Watts{*watts};
    if (counter) d.energy_total = Joules{*counter};
    d.holders = std::move(holders);
    beat.devices.push_back(std::move(d));
    return *this;
  }
  DeviceSample& last() { return beat.devices.back(); }
};

/// A ledger in memory: cursor per node, sum per account.
struct Books {
  Rules rules;
  TaskWindows windows;
  std::map<NodeKey, NodeCursor> cursors;
  std::map<AccountKey, AccountDelta> accounts;
  std::vector<Note> notes;

  Verdict take(const Beat& beat, const std::optional<Receipt>& receipt = {}) {
    auto& cursor = cursors[{beat.cluster, beat.node_id}];
    auto booking = book(cursor, beat, receipt, windows, rules);
    notes.insert(notes.end(), booking.notes.begin(), booking.notes.end());
    if (booking.verdict != Verdict::accepted) return booking.verdict;
    cursor = std::move(booking.next);
    for (const auto& delta : booking.deltas) {
      auto [place, made] = accounts.try_emplace(delta.key, delta);
      if (!made) place->second.add(delta);
    }
    return booking.verdict;
  }
  Verdict take(const BeatBuilder& builder) { return take(builder.beat); }

  [[nodiscard]] Measures of(Scope scope, const std::string& id, const std::string& domain = "gpu",
                            const std::string& part = "") const {
    const auto found = accounts.find({"default", scope, id, part, domain});
    return found == accounts.end() ? Measures{} : found->second.total();
  }
  [[nodiscard]] Measures node(const std::string& id, const std::string& domain = "gpu") const {
    return of(Scope::node, id, domain);
  }
  [[nodiscard]] Measures task(const std::string& id) const { return of(Scope::task, id); }
  [[nodiscard]] bool has(Scope scope, const std::string& id) const {
    for (const auto& [key, account] : accounts)
      if (key.scope == scope && key.id == id) return true;
    return false;
  }

  /// Sum over accounts of a scope, per hour too when asked.
  [[nodiscard]] std::int64_t sum(Scope scope, Microjoules Measures::* what) const {
    std::int64_t n = 0;
    for (const auto& [key, account] : accounts)
      if (key.scope == scope) n += (account.total().*what).n;
    return n;
  }
  [[nodiscard]] std::map<UtcHour, std::int64_t> by_hour(Scope scope, Microjoules Measures::* what) const {
    std::map<UtcHour, std::int64_t> hours;
    for (const auto& [key, account] : accounts)
      if (key.scope == scope)
        for (const auto& row : account.hours) hours[row.hour] += (row.measures.*what).n;
    return hours;
  }
};

inline Holder holder(std::string task, std::optional<double> compute = {},
                     HolderState state = HolderState::running) {
  return {std::move(task), compute, std::nullopt, state};
}

}  // namespace tidewatt::ledger::testing
