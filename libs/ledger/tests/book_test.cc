#include <gtest/gtest.h>

#include "beats.h"

namespace tidewatt::ledger {
namespace {

using namespace testing;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::int64_t kJoule = 1'000'000;

TEST(Book, ThreeHundredWattsForAMinuteAreEighteenKilojoules) {
  Books books;
  for (int i = 0; i <= 3; ++i)
    books.take(BeatBuilder("n1", static_cast<std::uint64_t>(i + 1), i * 20).gpu(0, 300));
  EXPECT_EQ(books.node("n1").energy.n, 18'000 * kJoule);
  EXPECT_EQ(books.node("n1").covered, seconds{60});
  EXPECT_EQ(books.node("n1").samples, 4);
  EXPECT_EQ(books.node("n1").unattributed.n, 18'000 * kJoule);
  EXPECT_EQ(books.of(Scope::device, "n1/0").energy.n, 18'000 * kJoule);
}

TEST(Book, FirstSampleIsABaselineWithoutEnergy) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 300, 5e6));
  EXPECT_EQ(books.node("n1").energy.n, 0);
  EXPECT_EQ(books.node("n1").covered, seconds{0});
  EXPECT_EQ(books.node("n1").samples, 1);
}

TEST(Book, NodeThatNeverTellsItsPowerHasNoRow) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, {}));
  books.take(BeatBuilder("n1", 2, 20).gpu(0, {}));
  EXPECT_TRUE(books.accounts.empty());
}

TEST(Book, AReSentBeatIsADuplicateAndChangesNothing) {
  Books books;
  const auto first = BeatBuilder("n1", 1, 0).gpu(0, 200);
  const auto second = BeatBuilder("n1", 2, 20).gpu(0, 200);
  EXPECT_EQ(books.take(first), Verdict::accepted);
  EXPECT_EQ(books.take(second), Verdict::accepted);
  EXPECT_EQ(books.take(second), Verdict::duplicate);
  EXPECT_EQ(books.take(first), Verdict::duplicate);
  EXPECT_EQ(books.node("n1").energy.n, 4'000 * kJoule);
}

TEST(Book, LateBeatOlderThanTheCursorAddsNoEnergy) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 200));
  books.take(BeatBuilder("n1", 3, 40).gpu(0, 200));
  EXPECT_EQ(books.take(BeatBuilder("n1", 2, 20).gpu(0, 900)), Verdict::accepted);
  EXPECT_EQ(books.node("n1").energy.n, 8'000 * kJoule);
  EXPECT_EQ(books.notes.back(), Note::stale);
}

TEST(Book, UnknownBetweenIsNeitherEnergyNorGap) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100));
  books.take(BeatBuilder("n1", 2, 20).gpu(0, {}));
  books.take(BeatBuilder("n1", 3, 40).gpu(0, 100));
  EXPECT_EQ(books.node("n1").energy.n, 4'000 * kJoule);
  EXPECT_EQ(books.node("n1").gap, seconds{0});
  EXPECT_EQ(books.node("n1").samples, 2);
}

TEST(Book, SecondsWithOneDeviceUnknownAreThePartialSecondsOfTheNode) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100).gpu(1, 200));
  books.take(BeatBuilder("n1", 2, 20).gpu(0, 100).gpu(1, {}));
  books.take(BeatBuilder("n1", 3, 40).gpu(0, 100).gpu(1, 200));
  EXPECT_EQ(books.of(Scope::device, "n1/1").energy.n, 8'000 * kJoule);
  EXPECT_EQ(books.node("n1").energy.n, 12'000 * kJoule);
  EXPECT_EQ(books.node("n1").covered, seconds{40});
  EXPECT_EQ(books.node("n1").partial, seconds{20});
}

TEST(Book, DeviceThatFellOffTheBusIsUnknownNotGone) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100).gpu(1, 200));
  books.take(BeatBuilder("n1", 2, 20).gpu(0, 100));
  EXPECT_EQ(books.node("n1").partial, seconds{20});
}

TEST(Book, AnotherAgentOfTheNodeDoesNotMakeThisOnesDevicesUnknown) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100));
  auto other = BeatBuilder("n1", 1, 10).gpu(1, 50);
  other.beat.agent_id = "other";
  books.take(other);
  books.take(BeatBuilder("n1", 2, 20).gpu(0, 100));
  EXPECT_EQ(books.node("n1").partial, seconds{0});
  EXPECT_EQ(books.node("n1").covered, seconds{20});
}

/// A beat of agent `agent` that names one card by its uuid, 100 W.
Beat of_card(const std::string& agent, const std::string& uuid, std::optional<std::uint64_t> seq, int at) {
  auto builder = BeatBuilder("n1", 0, at).gpu(0, 100);
  builder.last().uuid = uuid;
  builder.beat.agent_id = agent;
  builder.beat.seq = seq;
  return builder.beat;
}

TEST(Book, CardReplacedInItsSlotStartsAnewAndTheSecondsBetweenArePartial) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100, 50));
  auto fresh = BeatBuilder("n1", 2, 20).gpu(0, 100, 70);
  fresh.last().uuid = "GPU-new";
  books.take(fresh);
  EXPECT_EQ(books.node("n1").energy.n, 0);
  EXPECT_EQ(books.node("n1").partial, seconds{20}) << "nobody knows what the slot drew";
  fresh = BeatBuilder("n1", 3, 40).gpu(0, 100, 2'070);
  fresh.last().uuid = "GPU-new";
  books.take(fresh);
  EXPECT_EQ(books.node("n1").energy.n, 2'000 * kJoule);
  EXPECT_EQ(books.node("n1").partial, seconds{20}) << "the card that is gone is not an unknown one";
}

TEST(Book, ReplacedCardIsForgottenOnceNoSpoolHoldsItsBeats) {
  Books books;
  books.take(of_card("a", "GPU-old", 1, 0));
  books.take(of_card("a", "GPU-new", 2, 20));
  EXPECT_EQ(books.cursors.begin()->second.devices.size(), 2U);
  books.take(of_card("a", "GPU-new", 3, 9 * 86'400));
  EXPECT_EQ(books.cursors.begin()->second.devices.size(), 1U);
}

TEST(Book, BeatsOfAReplacedCardThatComeAgainAddNothing) {
  for (const bool with_seq : {true, false}) {
    Books books;
    for (int i = 0; i < 3; ++i)
      books.take(of_card("a", "GPU-old", static_cast<std::uint64_t>(i) + 1, i * 20));
    books.take(of_card("a", "GPU-new", 4, 60));
    EXPECT_EQ(books.node("n1").energy.n, 4'000 * kJoule);
    for (int i = 0; i < 3; ++i)
      books.take(of_card(with_seq ? "b" : "a", "GPU-old",
                         with_seq ? std::optional{static_cast<std::uint64_t>(i) + 1} : std::nullopt, i * 20));
    books.take(of_card("a", "GPU-new", 5, 80));
    EXPECT_EQ(books.node("n1").energy.n, 6'000 * kJoule);
  }
}

TEST(Book, AStaleBeatOfTheCardBeforeDoesNotEndTheNewOnesInterval) {
  Books books;
  books.take(of_card("a", "GPU-new", 4, 60));
  books.take(of_card("a", "GPU-old", 1, 0));
  books.take(of_card("a", "GPU-old", 2, 20));
  books.take(of_card("a", "GPU-new", 5, 80));
  EXPECT_EQ(books.node("n1").energy.n, 4'000 * kJoule);
}

TEST(Book, CardThatComesBackToItsSlotStartsAnew) {
  Books books;
  books.take(of_card("a", "GPU-one", 1, 0));
  books.take(of_card("a", "GPU-two", 2, 20));
  books.take(of_card("a", "GPU-one", 3, 40));
  EXPECT_EQ(books.node("n1").energy.n, 0);
  books.take(of_card("a", "GPU-one", 4, 60));
  EXPECT_EQ(books.node("n1").energy.n, 2'000 * kJoule);
}

TEST(Book, CardsOfTwoAgentsWithOneIndexAreTwo) {
  Books books;
  for (int i = 0; i <= 10; ++i) {
    books.take(of_card("a", "GPU-a", static_cast<std::uint64_t>(i) + 1, i * 20));
    books.take(of_card("b", "GPU-b", static_cast<std::uint64_t>(i) + 1, i * 20 + 10));
  }
  EXPECT_EQ(books.node("n1").energy.n, 2 * 20'000 * kJoule);
  EXPECT_EQ(books.node("n1").gap, seconds{0});
}

TEST(Book, SpellingsOfAVendorOrUuidAreOneCard) {
  Books books;
  books.take(of_card("a", "GPU-abcd", 1, 0));
  books.take(of_card("b", "GPU-ABCD", 1, 0));
  books.take(of_card("a", "GPU-abcd", 2, 20));
  books.take(of_card("b", "GPU-ABCD", 2, 20));
  EXPECT_EQ(books.node("n1").energy.n, 2'000 * kJoule);
  Books named;
  for (const auto* vendor : {"nvidia", "NVIDIA", "Nvidia"}) {
    auto beat = of_card(vendor, "", 1, named.notes.empty() && named.accounts.empty() ? 0 : 20);
    beat.devices[0].vendor = vendor;
    named.take(beat);
  }
  EXPECT_EQ(named.node("n1").energy.n, 2'000 * kJoule);
}

TEST(Book, CountersWithoutEpochBelongToTheirAgent) {
  Books books;
  const auto beat = [](const std::string& agent, std::uint64_t seq, int at, double counter) {
    auto made = of_card(agent, "GPU-0", seq, at);
    made.devices[0].energy_total = Joules{counter};
    return made;
  };
  // Each counts from a zero of its own: 50,000 and 40,000 J at the start.
  books.take(beat("a", 1, 0, 50'000));
  books.take(beat("b", 1, 10, 41'000));
  books.take(beat("a", 2, 20, 52'000));
  books.take(beat("b", 2, 30, 43'000));
  EXPECT_EQ(books.node("n1").energy.n, 3'000 * kJoule);
  EXPECT_EQ(books.node("n1").counter.n, 0);
}

TEST(Book, AGapOfMonthsIsToldByTheHourForItsLastMonthOnly) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100));
  books.take(BeatBuilder("n1", 2, 200 * 86'400).gpu(0, 100));
  EXPECT_LE(books.accounts.begin()->second.hours.size(), 31U * 24 + 4);
  EXPECT_EQ(books.node("n1").gap, hours{200 * 24} - minutes{1});
}

TEST(Book, UuidThatIsMissingOnceDoesNotCountTheCardTwice) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100));
  auto nameless = BeatBuilder("n1", 2, 20).gpu(0, 100);
  nameless.last().uuid.clear();
  books.take(nameless);
  books.take(BeatBuilder("n1", 3, 40).gpu(0, 100));
  EXPECT_EQ(books.node("n1").energy.n, 4'000 * kJoule);
}

TEST(Book, DevicesAreJoinedByUuidWhenTheirIndexChanges) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100, 1000).gpu(1, 100, 9000));
  auto swapped = BeatBuilder("n1", 2, 20).gpu(0, 100, 11'000).gpu(1, 100, 3'000);
  swapped.beat.devices[0].uuid = "GPU-1";
  swapped.beat.devices[1].uuid = "GPU-0";
  books.take(swapped);
  EXPECT_EQ(books.node("n1").counter.n, 4'000 * kJoule);
}

TEST(Book, CounterNeedsSameBootAndEpoch) {
  for (const bool change_boot : {true, false}) {
    Books books;
    books.take(BeatBuilder("n1", 1, 0).gpu(0, 300, 1000));
    auto next = BeatBuilder("n1", 2, 20).gpu(0, 300, 8000);
    if (change_boot)
      next.beat.boot_id = "b2";
    else
      next.last().counter_epoch = "d2";
    books.take(next);
    EXPECT_EQ(books.node("n1").counter.n, 0);
    EXPECT_EQ(books.node("n1").energy.n, 6'000 * kJoule);
  }
}

TEST(Book, JoulesIntegratedWhileTheCounterStoodStillAreNotCountedAgainWhenItJumps) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100, 1000));
  books.take(BeatBuilder("n1", 2, 20).gpu(0, 100, 1000));  // frozen: 2000 J by power
  books.take(BeatBuilder("n1", 3, 40).gpu(0, 100, 1000));  // still: 2000 J by power
  books.take(BeatBuilder("n1", 4, 60).gpu(0, 100, 7000));  // jumps by all of it: 2000 J by power
  EXPECT_EQ(books.node("n1").energy.n, 6'000 * kJoule);
  books.take(BeatBuilder("n1", 5, 80).gpu(0, 100, 9100));  // believed again
  EXPECT_EQ(books.node("n1").energy.n, 8'100 * kJoule);
  EXPECT_EQ(books.node("n1").counter.n, 2'100 * kJoule);
}

TEST(Book, CardsOfTwoVendorsWithOneIndexAreTwo) {
  for (const bool amd_first : {false, true}) {
    Books books;
    for (int i = 0; i < 3; ++i) {
      auto builder = BeatBuilder("n1", static_cast<std::uint64_t>(i + 1), i * 20);
      const auto amd = [&] {
        builder.gpu(0, 200);
        builder.last().uuid.clear();
        builder.last().vendor = "amd";
      };
      if (amd_first) amd();
      builder.gpu(0, 100);
      builder.last().vendor = "nvidia";
      if (!amd_first) amd();
      books.take(builder);
    }
    EXPECT_EQ(books.node("n1").energy.n, 12'000'000'000) << "(100 + 200) W x 40 s";
  }
}

TEST(Book, CardWithoutVendorOrUuidBesideOneThatIsNamedIsAnother) {
  Books books;
  for (int i = 0; i < 2; ++i) {
    auto builder = BeatBuilder("n1", static_cast<std::uint64_t>(i + 1), i * 20).gpu(0, 100).gpu(0, 200);
    builder.last().uuid.clear();
    books.take(builder);
  }
  EXPECT_EQ(books.node("n1").energy.n, 6'000'000'000);
}

TEST(Book, CounterAndIntegralApartAreFlagged) {
  const auto run = [](double power) {
    Books books;
    std::vector<CheckedCounter> checks;
    for (int i = 0; i <= 31; ++i) {
      auto builder = BeatBuilder("n1", static_cast<std::uint64_t>(i + 1), i * 20)
                         .gpu(0, power, 5'000.0 + i * 20 * 300.0);
      const auto booking = book(books.cursors[{"default", "n1"}], builder.beat, {}, {}, books.rules);
      checks.insert(checks.end(), booking.checks.begin(), booking.checks.end());
      books.take(builder);
    }
    EXPECT_EQ(checks.size(), 1U) << "ten minutes are one check";
    EXPECT_EQ(checks.front().check.counter.n, 180'000'000'000);
    EXPECT_EQ(books.node("n1").energy.n, 186'000'000'000)
        << "booked is the counter's, whatever the power says";
    const bool noted =
        std::find(books.notes.begin(), books.notes.end(), Note::counter_apart) != books.notes.end();
    EXPECT_EQ(checks.front().check.apart(), noted);
    return noted;
  };
  EXPECT_FALSE(run(300));
  EXPECT_FALSE(run(292));
  EXPECT_TRUE(run(290));
  EXPECT_TRUE(run(310));
}

TEST(Book, EstimatedPowerIsDrawnButNotBooked) {
  Books books;
  for (int i = 0; i < 2; ++i) {
    auto beat = BeatBuilder("n1", static_cast<std::uint64_t>(i + 1), i * 20).gpu(0, 100);
    beat.last().quality = Quality::estimated;
    books.take(beat);
  }
  EXPECT_TRUE(books.accounts.empty());
}

TEST(Book, SimulatedEnergyIsKeptApart) {
  Books books;
  for (int i = 0; i < 2; ++i) {
    auto beat = BeatBuilder("n1", static_cast<std::uint64_t>(i + 1), i * 20).gpu(0, 100).gpu(1, 50);
    beat.last().quality = Quality::simulated;
    books.take(beat);
  }
  EXPECT_EQ(books.node("n1").energy.n, 3'000 * kJoule);
  EXPECT_EQ(books.node("n1").simulated.n, 1'000 * kJoule);
}

TEST(Book, SecondsThatTheAgentDidNotSampleArePartialAndEnergyIsNotScaled) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100));
  auto thin = BeatBuilder("n1", 2, 20).gpu(0, 100);
  thin.last().power_covered = Seconds{17};
  books.take(thin);
  EXPECT_EQ(books.node("n1").partial, seconds{3});
  EXPECT_EQ(books.node("n1").energy.n, 2'000 * kJoule);
  auto enough = BeatBuilder("n1", 3, 40).gpu(0, 100);
  enough.last().power_covered = Seconds{18};
  books.take(enough);
  EXPECT_EQ(books.node("n1").partial, seconds{3});
}

TEST(Book, PowerThatNoDeviceDrawsIsUnknownWhoeverSentIt) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 300));
  auto wild = BeatBuilder("n1", 2, 20).gpu(0, 9'000);
  wild.last().power_limit = Watts{700};
  books.take(wild);
  books.take(BeatBuilder("n1", 3, 40).gpu(0, 65'535));  // all ones, and no limit
  EXPECT_EQ(books.node("n1").energy.n, 0);
  auto high = BeatBuilder("n1", 4, 60).gpu(0, 1'400);  // above its limit for a moment
  high.last().power_limit = Watts{700};
  books.take(high);
  EXPECT_EQ(books.node("n1").energy.n, 60 * 1'400 * kJoule) << "the next known sample closes the interval";
}

TEST(Book, DomainsOfANodeAreAccountsOfTheirOwn) {
  Books books;
  for (int i = 0; i < 2; ++i) {
    auto beat = BeatBuilder("n1", static_cast<std::uint64_t>(i + 1), i * 20).gpu(0, 100);
    beat.gpu(0, 500);
    beat.last().domain = "platform";
    beat.last().uuid.clear();
    books.take(beat);
  }
  EXPECT_EQ(books.of(Scope::node, "n1", "gpu").energy.n, 2'000 * kJoule);
  EXPECT_EQ(books.of(Scope::node, "n1", "platform").energy.n, 10'000 * kJoule);
}

TEST(Book, IntervalIsSplitOverUtcHoursProRata) {
  Books books;
  books.take(BeatBuilder("n1", 1, 3585).gpu(0, 100));
  books.take(BeatBuilder("n1", 2, 3605).gpu(0, 100));
  const auto hours_of_node = books.by_hour(Scope::node, &Measures::energy);
  EXPECT_EQ(hours_of_node.at(hour_of(kStart)), 1'500 * kJoule);
  EXPECT_EQ(hours_of_node.at(hour_of(kStart) + hours{1}), 500 * kJoule);
}

TEST(Book, BridgeOverAnHourIsMarkedAsSpread) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 300, 1000));
  books.take(BeatBuilder("n1", 2, 10'800).gpu(0, 300, 1'081'000));
  EXPECT_EQ(books.node("n1").spread.n, 1'080'000 * kJoule);
  EXPECT_EQ(books.by_hour(Scope::node, &Measures::energy).size(),
            4U);  // three full hours and the last sample's
}

TEST(Book, TwentyYearsBetweenTwoBeatsDoNotMakeRowsForEveryHourSince) {
  Books books;
  auto first = BeatBuilder("n1", 1, 0).gpu(0, 300, 1000);
  first.beat.sampled_at = *parse_rfc3339("2001-01-01T00:00:00Z");
  books.take(first);
  auto second = BeatBuilder("n1", 2, 20).gpu(0, 300, 2000);
  second.beat.monotonic = *first.beat.monotonic + hours{24 * 365 * 20};
  books.take(second);
  EXPECT_LE(books.accounts.begin()->second.hours.size(), 9'000U);
  EXPECT_EQ(books.node("n1").gap, hours{24 * 365 * 20} - minutes{1});
  EXPECT_EQ(books.node("n1").counter.n, 0);
}

TEST(Book, CounterBridgesFortyDaysToo) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100, 1000));
  books.take(BeatBuilder("n1", 2, 40 * 86'400).gpu(0, 100, 345'601'000));
  EXPECT_EQ(books.node("n1").counter.n, 345'600'000 * kJoule);
  EXPECT_EQ(books.node("n1").gap, seconds{0});
}

TEST(Book, DeviceAwayForAMonthWhileItsNodeReportsIsBridgedWhenItReturns) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100).gpu(1, 100, 1000));
  for (int day = 1; day <= 30; ++day)
    books.take(BeatBuilder("n1", static_cast<std::uint64_t>(day + 1), day * 86'400).gpu(0, 100));
  books.take(BeatBuilder("n1", 40, 30 * 86'400 + 20).gpu(0, 100).gpu(1, 100, 1'000'000));
  EXPECT_EQ(books.of(Scope::device, "n1/1").counter.n, 999'000 * kJoule);
}

TEST(Book, ACounterThatStandsStillBesideUnknownPowerIsNoReadingAndTheNextChangeSpansIt) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, {}, 1e3));
  books.take(BeatBuilder("n1", 2, 20).gpu(0, {}, 1e3));
  books.take(BeatBuilder("n1", 3, 40).gpu(0, {}, 1e3));
  EXPECT_EQ(books.node("n1").covered, seconds{0}) << "unknown is never 0 J";
  books.take(BeatBuilder("n1", 4, 60).gpu(0, {}, 7e3));
  EXPECT_EQ(books.node("n1").energy.n, 6'000 * kJoule);
  EXPECT_EQ(books.node("n1").covered, seconds{60});
  EXPECT_EQ(books.node("n1").gap, seconds{0});
}

TEST(Book, CounterAloneInANewEpochIsNoReadingAndTheNextPowerSpansIt) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100, 1000));
  auto restarted = BeatBuilder("n1", 2, 20).gpu(0, {}, 5);
  restarted.last().counter_epoch = "second";
  books.take(restarted);
  auto next = BeatBuilder("n1", 3, 40).gpu(0, 100, 2005);
  next.last().counter_epoch = "second";
  books.take(next);
  EXPECT_EQ(books.node("n1").energy.n, 4'000 * kJoule);
  EXPECT_EQ(books.node("n1").gap, seconds{0});
}

TEST(Book, SentinelInACounterWithoutLimitIsNotBelieved) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100, 100));
  books.take(BeatBuilder("n1", 2, 20).gpu(0, 100, 4'294'967'295));
  EXPECT_EQ(books.node("n1").energy.n, 2'000 * kJoule);
  EXPECT_EQ(books.notes.back(), Note::counter_implausible);
}

TEST(Book, SumsOfABeatNeverOverflow) {
  Books books;
  auto first = BeatBuilder("n1", 1, 0);
  auto second = BeatBuilder("n1", 2, 200 * 86'400);
  for (int i = 0; i < 4; ++i) {
    first.gpu(i, 100, 0);
    second.gpu(i, 100, 4e12);
  }
  books.take(first);
  books.take(second);
  std::int64_t devices = 0;
  for (int i = 0; i < 4; ++i) devices += books.of(Scope::device, "n1/" + std::to_string(i)).energy.n;
  EXPECT_EQ(books.node("n1").energy.n, devices);
  EXPECT_EQ(books.node("n1").counter.n, 2 * 4'000'000'000'000 * kJoule);
}

}  // namespace
}  // namespace tidewatt::ledger
