// Properties of the ledger over random histories: what must hold whatever happens to the beats.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "beats.h"

namespace tidewatt::ledger {
namespace {

using namespace testing;

/// A history of one node: irregular times, unknown powers, holders that come and go, some with counters.
std::vector<Beat> random_history(const std::string& node, bool counters, bool constant_power) {
  const auto count = *rc::gen::inRange(2, 25);
  const auto devices = *rc::gen::inRange(1, 4);
  std::vector<Beat> beats;
  std::vector<std::int64_t> joules(static_cast<std::size_t>(devices), 1'000);
  const double steady = *rc::gen::inRange(0, 700'000) / 1000.0;
  std::int64_t at_ms = 0;
  for (int i = 0; i < count; ++i) {
    BeatBuilder builder(node, static_cast<std::uint64_t>(i + 1), 0);
    builder.beat.sampled_at = kStart + Milliseconds{at_ms};
    builder.beat.monotonic = Milliseconds{5'000'000 + at_ms};
    for (int d = 0; d < devices; ++d) {
      const bool known = constant_power || *rc::gen::inRange(0, 6) != 0;
      const double watts = constant_power ? steady : *rc::gen::inRange(0, 700'000) / 1000.0;
      std::vector<Holder> holders;
      for (const char* task : {"a", "b", "c"}) {
        if (*rc::gen::inRange(0, 3) != 0) continue;
        Holder h{task, std::nullopt, std::nullopt, HolderState::running};
        if (*rc::gen::inRange(0, 2) == 0) h.compute_share = *rc::gen::inRange(0, 100) / 100.0;
        if (*rc::gen::inRange(0, 4) == 0) h.state = HolderState::sleeping;
        holders.push_back(h);
      }
      auto& total = joules[static_cast<std::size_t>(d)];
      total += *rc::gen::inRange(1, 20'000);
      builder.gpu(d, known ? std::optional{watts} : std::nullopt,
                  counters && known ? std::optional{static_cast<double>(total)} : std::nullopt, holders);
      if (*rc::gen::inRange(0, 3) == 0) {
        auto& unheld = builder.last().unheld.emplace();
        if (*rc::gen::inRange(0, 2) == 0) unheld.compute_share = *rc::gen::inRange(0, 100) / 100.0;
      }
    }
    beats.push_back(builder.beat);
    at_ms += *rc::gen::element<std::int64_t>(1, 777, 20'000, 20'003, 59'999, 60'000, 61'000, 4'000'000);
  }
  return beats;
}

void check_conservation(const Books& books) {
  RC_ASSERT(books.sum(Scope::device, &Measures::energy) == books.sum(Scope::node, &Measures::energy));
  RC_ASSERT(books.sum(Scope::task, &Measures::energy) + books.sum(Scope::node, &Measures::unattributed) ==
            books.sum(Scope::node, &Measures::energy));
  RC_ASSERT(books.sum(Scope::task_device, &Measures::energy) == books.sum(Scope::task, &Measures::energy));
  RC_ASSERT(books.sum(Scope::device, &Measures::counter) == books.sum(Scope::node, &Measures::counter));
  // In every single hour too.
  const auto nodes = books.by_hour(Scope::node, &Measures::energy);
  auto parts = books.by_hour(Scope::task, &Measures::energy);
  for (const auto& [hour, energy] : books.by_hour(Scope::node, &Measures::unattributed))
    parts[hour] += energy;
  auto devices = books.by_hour(Scope::device, &Measures::energy);
  for (const auto& [hour, energy] : nodes) {
    RC_ASSERT(parts[hour] == energy);
    RC_ASSERT(devices[hour] == energy);
  }
  for (const auto& [key, account] : books.accounts) {
    for (const auto& row : account.hours) {
      RC_ASSERT(row.measures.energy.n >= 0);
      RC_ASSERT(row.measures.unattributed.n >= 0);
      RC_ASSERT(row.measures.covered.count() >= 0);
      RC_ASSERT(row.measures.gap.count() >= 0);
      RC_ASSERT(row.measures.partial.count() >= 0);
      if (key.scope != Scope::task) RC_ASSERT((row.measures.covered + row.measures.gap).count() <= 3'600'000);
    }
    const auto total = account.total();
    RC_ASSERT(total.counter.n <= total.energy.n);
    RC_ASSERT(total.shared.n <= total.energy.n);
    RC_ASSERT(total.shared_time <= total.covered);
    RC_ASSERT(total.partial <= total.covered);
  }
}

bool same_accounts(const Books& a, const Books& b) {
  return std::equal(a.accounts.begin(), a.accounts.end(), b.accounts.begin(), b.accounts.end(),
                    [](const auto& x, const auto& y) {
                      return x.first == y.first && x.second.total() == y.second.total() &&
                             x.second.hours.size() == y.second.hours.size();
                    });
}

RC_GTEST_PROP(BookProperty, EveryJouleIsConserved, ()) {
  Books books;
  const bool counters = *rc::gen::arbitrary<bool>();
  for (const auto& beat : random_history("n1", counters, false)) books.take(beat);
  for (const auto& beat : random_history("n2", counters, false)) books.take(beat);
  check_conservation(books);
}

RC_GTEST_PROP(BookProperty, DuplicatesAnywhereChangeNothing, ()) {
  const auto beats = random_history("n1", *rc::gen::arbitrary<bool>(), false);
  Books once;
  for (const auto& beat : beats) once.take(beat);
  Books often;
  for (std::size_t i = 0; i < beats.size(); ++i) {
    often.take(beats[i]);
    for (int n = *rc::gen::inRange(0, 3); n > 0; --n)
      often.take(beats[*rc::gen::inRange<std::size_t>(0, i + 1)]);
  }
  RC_ASSERT(same_accounts(once, often));
}

RC_GTEST_PROP(BookProperty, InterleavingOfNodesDoesNotMatter, ()) {
  const auto first = random_history("n1", false, false);
  const auto second = random_history("n2", false, false);
  Books in_turn;
  for (const auto& beat : first) in_turn.take(beat);
  for (const auto& beat : second) in_turn.take(beat);
  Books mixed;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < first.size() || j < second.size()) {
    const bool take_first = j >= second.size() || (i < first.size() && *rc::gen::arbitrary<bool>());
    mixed.take(take_first ? first[i++] : second[j++]);
  }
  RC_ASSERT(same_accounts(in_turn, mixed));
}

RC_GTEST_PROP(BookProperty, ShufflesInsideABootKeepTheTotalAtConstantPower, ()) {
  // The newest beat is last: what comes later than it is stale by rule. Gaps are left out, they depend on who
  // was first.
  auto beats = random_history("n1", false, true);
  std::int64_t at_ms = 0;
  for (auto& beat : beats) {
    beat.sampled_at = kStart + Milliseconds{at_ms};
    beat.monotonic = Milliseconds{5'000'000 + at_ms};
    for (auto& device : beat.devices) device.holders.clear();
    at_ms += 2'000;
  }
  Books ordered;
  ordered.rules.max_gap = Milliseconds{3'600'000};
  for (const auto& beat : beats) ordered.take(beat);
  Books shuffled;
  shuffled.rules = ordered.rules;
  shuffled.take(beats.front());
  for (std::size_t i = beats.size() - 1; i > 1; --i)
    std::swap(beats[i], beats[*rc::gen::inRange<std::size_t>(1, i + 1)]);
  for (std::size_t i = 1; i < beats.size(); ++i) shuffled.take(beats[i]);
  RC_ASSERT(shuffled.sum(Scope::node, &Measures::energy) == ordered.sum(Scope::node, &Measures::energy));
  RC_ASSERT(shuffled.node("n1").covered == ordered.node("n1").covered);
}

RC_GTEST_PROP(BookProperty, SplittingAnIntervalNeverChangesATotal, ()) {
  const auto whole_ms = *rc::gen::inRange<std::int64_t>(2, 60'001);
  const auto cut_ms = *rc::gen::inRange<std::int64_t>(1, whole_ms);
  const double watts = *rc::gen::inRange(0, 2'000'000) / 1000.0;
  const auto beat_at = [&](std::uint64_t seq, std::int64_t ms) {
    BeatBuilder builder("n1", seq, 0);
    builder.beat.sampled_at = kStart + Milliseconds{ms};
    builder.beat.monotonic = Milliseconds{1'000'000 + ms};
    return builder.gpu(0, watts, {}, {holder("t")}).beat;
  };
  Books one;
  one.take(beat_at(1, 0));
  one.take(beat_at(3, whole_ms));
  Books two;
  two.take(beat_at(1, 0));
  two.take(beat_at(2, cut_ms));
  two.take(beat_at(3, whole_ms));
  RC_ASSERT(one.node("n1").energy == two.node("n1").energy);
  RC_ASSERT(one.task("t").energy == two.task("t").energy);
  RC_ASSERT(one.node("n1").covered == two.node("n1").covered);
}

RC_GTEST_PROP(BookProperty, CursorSurvivesTheStoreBetweenAnyTwoBeats, ()) {
  const auto beats = random_history("n1", true, false);
  Books kept;
  Books stored;
  for (const auto& beat : beats) {
    kept.take(beat);
    stored.take(beat);
    for (auto& [node, cursor] : stored.cursors) cursor = *decode_cursor(encode(cursor));
  }
  RC_ASSERT(same_accounts(kept, stored));
}

}  // namespace
}  // namespace tidewatt::ledger
