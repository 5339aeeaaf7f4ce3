#include "tidewatt/ledger/ledger.h"

#include <gtest/gtest.h>

#include "beats.h"
#include "tidewatt/store/memory.h"
#include "tidewatt/testing/faulty_store.h"

namespace tidewatt::ledger {
namespace {

using namespace testing;

class LedgerTest : public ::testing::Test {
 protected:
  std::unique_ptr<Store> store = store::make_memory_store();
  tidewatt::testing::FaultyStore faulty{*store};
  Ledger ledger{faulty, Rules{}};

  std::vector<std::string> book(std::vector<Beat> beats, Ledger& with) {
    std::vector<ReceivedBeat> received;
    for (auto& beat : beats) received.push_back({&beat, {*beat.sampled_at, beat.monotonic, "r"}});
    std::vector<std::string> outcomes;
    for (const auto& result : with.book(received)) outcomes.emplace_back(to_string(result.outcome));
    return outcomes;
  }
  std::vector<std::string> book(const std::vector<Beat>& beats) { return book(beats, ledger); }

  std::string energy(const std::string& node) {
    const auto accounts = store->accounts({Scope::node, "", {node}, ""});
    return accounts->empty() ? "no row" : accounts->front().totals.energy.to_string();
  }
};

std::vector<Beat> minute(const std::string& node) {
  std::vector<Beat> beats;
  for (int i = 0; i <= 3; ++i)
    beats.push_back(BeatBuilder(node, static_cast<std::uint64_t>(i + 1), i * 20).gpu(0, 300).beat);
  return beats;
}

TEST_F(LedgerTest, BatchOfOneNodeIsBookedInOrder) {
  EXPECT_EQ(book(minute("n1")), std::vector<std::string>(4, "accepted"));
  EXPECT_EQ(energy("n1"), "18000000000");
}

/// Keeps what it is told of the tasks whose id begins with "w".
struct Watcher final : IntervalWatch {
  bool wants(std::string_view, std::string_view task_id) const override { return task_id.starts_with("w"); }
  void take(std::vector<TaskInterval> intervals) override {
    told.insert(told.end(), intervals.begin(), intervals.end());
  }
  std::vector<TaskInterval> told;
};

TEST_F(LedgerTest, WhoWatchesATaskIsToldItsIntervalsOnceAndToTheMicrojoule) {
  Watcher watcher;
  ledger.watch(&watcher);
  std::vector<Beat> beats;
  for (int i = 0; i <= 3; ++i)  // over the hour's end, shared with a task that nobody watches
    beats.push_back(BeatBuilder("n1", static_cast<std::uint64_t>(i + 1), 3'570 + i * 20)
                        .gpu(0, 300.001, {}, {holder("w1"), holder("other")})
                        .gpu(1, 77.7, {}, {holder("w1")})
                        .beat);
  faulty.accrue_fails = Error{ErrorCode::io, "disk full", "free some space"};
  book(beats);
  EXPECT_TRUE(watcher.told.empty());
  faulty.accrue_fails.reset();
  book(beats);
  book(beats);
  WideMicrojoules sum;
  for (const auto& interval : watcher.told) {
    EXPECT_EQ(interval.task_id, "w1");
    EXPECT_EQ(interval.range.begin >= interval.since, true);
    EXPECT_EQ(hour_of(interval.range.begin), hour_of(interval.range.end - Milliseconds{1}));
    sum += interval.energy;
  }
  EXPECT_EQ(watcher.told.size(), 8U);
  EXPECT_EQ(sum, store->accounts({Scope::task, "", {"w1"}, ""})->front().totals.energy);
  ledger.watch(nullptr);
  book({BeatBuilder("n1", 9, 3'650).gpu(1, 1, {}, {holder("w1")}).beat});
  EXPECT_EQ(watcher.told.size(), 8U);
}

TEST_F(LedgerTest, DuplicateInsideABatchIsSeen) {
  auto beats = minute("n1");
  beats.push_back(beats[1]);
  EXPECT_EQ(book(beats).back(), "duplicate");
  EXPECT_EQ(energy("n1"), "18000000000");
}

TEST_F(LedgerTest, FailedBookingIsAnsweredRetryAndTheNodeIsAliveAllTheSame) {
  faulty.accrue_fails = Error{ErrorCode::io, "disk full", "free some space"};
  EXPECT_EQ(book(minute("n1")), std::vector<std::string>(4, "retry"));
  EXPECT_EQ(energy("n1"), "no row");
  EXPECT_NE(*store->node({"default", "n1"}), nullptr);
  faulty.accrue_fails.reset();
  EXPECT_EQ(book(minute("n1")), std::vector<std::string>(4, "accepted"));
  EXPECT_EQ(energy("n1"), "18000000000");
}

TEST_F(LedgerTest, NodeIsShownByItsNewestAcceptedBeatAlone) {
  const auto beats = minute("n1");
  book({beats[0]});
  book({BeatBuilder("n1", 9, 60).gpu(0, 200).beat});
  book({beats[0]});                                   // sent again
  book({BeatBuilder("n1", 5, 40).gpu(0, 900).beat});  // late
  auto future = BeatBuilder("n1", 10, 4000).gpu(0, 7777).beat;
  const ReceivedBeat received{&future, {kStart + std::chrono::seconds{80}, Milliseconds{1'080'000}, "r"}};
  EXPECT_EQ(ledger.book({&received, 1}).at(0).outcome, BeatOutcome::rejected);
  const auto node = *store->node({"default", "n1"});
  ASSERT_TRUE(node);
  EXPECT_EQ(node->devices.at(0).power, Watts{200});
  EXPECT_EQ(node->last_sample_at, kStart + std::chrono::seconds{60});
}

TEST_F(LedgerTest, ImplausiblePowerIsShownAsUnknownWithItsRawValue) {
  book({BeatBuilder("n1", 1, 0).gpu(0, 65'535).beat});
  const auto node = *store->node({"default", "n1"});
  ASSERT_TRUE(node);
  EXPECT_EQ(node->devices.at(0).power, std::nullopt);
  EXPECT_EQ(node->devices.at(0).reason, "sentinel: 65535 W");
}

TEST_F(LedgerTest, NodeOfTwoAgentsShowsTheDevicesOfBoth) {
  const auto meter = [](std::uint64_t seq, int at, double watts) {
    auto builder = BeatBuilder("n1", seq, at).gpu(0, watts);
    builder.beat.agent_id = "meter";
    builder.last().domain = "platform";
    builder.last().uuid.clear();
    return builder.beat;
  };
  const auto shown = [&] {
    std::vector<std::string> devices;
    const auto node = *store->node({"default", "n1"});
    for (const auto& d : node->devices)
      devices.push_back(d.domain + " " + std::to_string(int(d.power->value())));
    return devices;
  };
  using List = std::vector<std::string>;
  book({BeatBuilder("n1", 1, 0).gpu(0, 300).beat, meter(1, 5, 900)});
  EXPECT_EQ(shown(), (List{"gpu 300", "platform 900"}));
  book({BeatBuilder("n1", 2, 20).gpu(0, 310).beat});
  EXPECT_EQ(shown(), (List{"platform 900", "gpu 310"}));
  book({meter(2, 15, 910)});  // newer than its agent's last, older than the node's
  EXPECT_EQ(shown(), (List{"gpu 310", "platform 910"}));
  auto heir = BeatBuilder("n1", 1, 40).gpu(0, 320);
  heir.beat.agent_id = "heir";  // the same card, reported by another agent now
  book({heir.beat});
  EXPECT_EQ(shown(), (List{"platform 910", "gpu 320"}));
  auto later = BeatBuilder("n1", 2, 200).gpu(0, 330);
  later.beat.agent_id = "heir";
  book({later.beat});
  EXPECT_EQ(shown(), (List{"gpu 330"})) << "the meter was silent for more than two minutes";
}

TEST_F(LedgerTest, NodeSaysWhatEachOfItsAgentsSourcesGives) {
  const auto shown = [&] {
    std::vector<std::string> sources;
    const auto node = *store->node({"default", "n1"});
    for (const auto& s : node->sources) sources.push_back(s.source + " " + std::string{to_string(s.state)});
    return sources;
  };
  using List = std::vector<std::string>;
  auto none = BeatBuilder("n1", 1, 0).beat;  // found no device at all
  none.sources = {{"nvidia", SourceState::failed, "no driver"}, {"rapl", SourceState::failed, "no RAPL"}};
  book({none});
  EXPECT_EQ(shown(), (List{"nvidia failed", "rapl failed"}));
  auto meter = BeatBuilder("n1", 1, 5).gpu(7, 900);
  meter.beat.agent_id = "meter";
  meter.beat.sources = {{"redfish", SourceState::ok, ""}};
  book({meter.beat});
  EXPECT_EQ(shown(), (List{"nvidia failed", "rapl failed", "redfish ok"})) << "that of no device stays";
  auto some = BeatBuilder("n1", 2, 20).gpu(0, 300);
  some.beat.sources = {{"nvidia", SourceState::ok, ""}};
  book({some.beat});
  EXPECT_EQ(shown(), (List{"redfish ok", "nvidia ok"}));
  book({BeatBuilder("n1", 3, 40).gpu(0, 300).beat});
  EXPECT_EQ(shown(), (List{"redfish ok"})) << "an older agent says nothing";
}

TEST_F(LedgerTest, LateBeatDoesNotChangeTheOffsetOfTheClock) {
  const auto take = [&](Beat beat, int received) {
    const std::chrono::seconds at{received};
    const ReceivedBeat one{&beat, {kStart + at, Milliseconds{1'000'000} + at, "r"}};
    EXPECT_EQ(ledger.book({&one, 1}).at(0).outcome, BeatOutcome::accepted);
    return (*store->node({"default", "n1"}))->clock_offset;
  };
  using Offset = std::optional<Milliseconds>;
  EXPECT_EQ(take(BeatBuilder("n1", 1, 0).gpu(0, 1).beat, 0), Offset{std::chrono::seconds{0}});
  EXPECT_EQ(take(BeatBuilder("n1", 2, 20).gpu(0, 1).beat, 20), Offset{std::chrono::seconds{0}});
  auto other_boot = BeatBuilder("n1", 1, 30).gpu(0, 1).beat;
  other_boot.boot_id = "b2";
  EXPECT_EQ(take(other_boot, 400), Offset{}) << "another boot, and late: nothing is known of its clock";
}

TEST_F(LedgerTest, ABootWhoseClockIsBehindIsToldUntilItsBeatsAreBooked) {
  const auto take = [&](Beat beat, int received) {
    const std::chrono::seconds at{received};
    const ReceivedBeat one{&beat, {kStart + at, Milliseconds{1'000'000} + at, "r"}};
    EXPECT_EQ(ledger.book({&one, 1}).at(0).outcome, BeatOutcome::accepted);
    return *store->node({"default", "n1"});
  };
  take(BeatBuilder("n1", 1, 3'600).gpu(0, 100).beat, 3'600);
  EXPECT_FALSE(take(BeatBuilder("n1", 2, 3'620).gpu(0, 100).beat, 3'620)->stale);
  // After a restart its clock is an hour behind.
  const auto behind = [](std::uint64_t seq, int seconds) {
    auto beat = BeatBuilder("n1", seq, seconds).gpu(0, 100).beat;
    beat.boot_id = "b2";
    return beat;
  };
  auto node = take(behind(1, 40), 3'640);
  ASSERT_TRUE(node->stale);
  EXPECT_EQ(node->stale->since, kStart + std::chrono::seconds{3'640});
  EXPECT_EQ(node->stale->behind, Milliseconds{3'580'000});
  node = take(behind(2, 60), 3'660);
  ASSERT_TRUE(node->stale);
  EXPECT_EQ(node->stale->since, kStart + std::chrono::seconds{3'640}) << "the first of them counts";
  EXPECT_EQ(node->stale->behind, Milliseconds{3'560'000});
  EXPECT_EQ(node->clock_offset, std::optional{Milliseconds{-3'600'000}});
  EXPECT_FALSE(take(behind(3, 3'700), 7'300)->stale) << "booked again";
}

TEST_F(LedgerTest, AnotherClustersTaskOfTheSameIdHasWindowsOfItsOwn) {
  const ClusterWindows windows{
      {"other", {{"train", {kStart + std::chrono::seconds{5}, kStart + std::chrono::seconds{10}}}}}};
  std::vector<Beat> beats;
  for (int i = 0; i <= 2; ++i)
    beats.push_back(
        BeatBuilder("n1", static_cast<std::uint64_t>(i + 1), i * 20).gpu(0, 100, {}, {holder("train")}).beat);
  std::vector<ReceivedBeat> received;
  for (auto& beat : beats) received.push_back({&beat, {*beat.sampled_at, beat.monotonic, "r"}});
  ledger.book(received, windows);
  const auto tasks = store->accounts({Scope::task, "", {"train"}, ""});
  ASSERT_EQ(tasks->size(), 1U);
  EXPECT_EQ(tasks->front().totals.energy.to_string(), "4000000000");
}

TEST_F(LedgerTest, NodeThatWasOnlyEverRefusedDoesNotExist) {
  auto future = BeatBuilder("ghost", 1, 4000).gpu(0, 200).beat;
  const ReceivedBeat received{&future, {kStart, Milliseconds{0}, "r"}};
  ledger.book({&received, 1});
  EXPECT_EQ(*store->node({"default", "ghost"}), nullptr);
}

TEST_F(LedgerTest, UnreadableCursorIsRetryForThatNodesBeats) {
  faulty.cursor_fails = Error{ErrorCode::unavailable, "busy", ""};
  EXPECT_EQ(book(minute("n1")), std::vector<std::string>(4, "retry"));
}

TEST_F(LedgerTest, WhoComesSecondReadsAgainAndDropsWhatIsCovered) {
  // Another server books the same beats between our read and our write.
  Ledger other(*store, Rules{});
  faulty.before_accrue = [&] {
    faulty.before_accrue = nullptr;
    book(minute("n1"), other);
  };
  EXPECT_EQ(book(minute("n1")), std::vector<std::string>(4, "duplicate"));
  EXPECT_EQ(energy("n1"), "18000000000");
  EXPECT_EQ(ledger.counters().conflicts.load(), 1U);
}

TEST_F(LedgerTest, OneNodesConflictDoesNotTouchItsNeighbours) {
  Ledger other(*store, Rules{});
  faulty.before_accrue = [&] {
    faulty.before_accrue = nullptr;
    book({minute("n1")[0]}, other);
  };
  auto beats = minute("n1");
  for (const auto& beat : minute("n2")) beats.push_back(beat);
  book(beats);
  EXPECT_EQ(energy("n1"), "18000000000");
  EXPECT_EQ(energy("n2"), "18000000000");
}

TEST_F(LedgerTest, AuditReadsZeroOverTasksDevicesAndNodes) {
  for (const auto* node : {"n1", "n2"})
    for (int i = 0; i < 4; ++i)
      book({BeatBuilder(node, static_cast<std::uint64_t>(i + 1), i * 20)
                .gpu(0, 333.333, {}, {holder("a", 0.3), holder("b", 0.3), holder("c", 0.3)})
                .gpu(1, 100)
                .beat});
  const auto difference = audit(*store);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->devices_minus_nodes.to_string(), "0");
  EXPECT_EQ(difference->tasks_and_unattributed_minus_nodes.to_string(), "0");
  EXPECT_NE(energy("n1"), "0");
}

}  // namespace
}  // namespace tidewatt::ledger
