#include <gtest/gtest.h>

#include "beats.h"

namespace tidewatt::ledger {
namespace {

using namespace testing;
using std::chrono::seconds;

constexpr std::int64_t kJoule = 1'000'000;

TEST(Tasks, NewHolderOwnsNothingBeforeItWasSeen) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100));
  books.take(BeatBuilder("n1", 2, 20).gpu(0, 100, {}, {holder("t")}));
  books.take(BeatBuilder("n1", 3, 40).gpu(0, 100, {}, {holder("t")}));
  EXPECT_EQ(books.task("t").energy.n, 2'000 * kJoule);
  EXPECT_EQ(books.task("t").covered, seconds{20});
  EXPECT_EQ(books.node("n1").unattributed.n, 2'000 * kJoule);
}

TEST(Tasks, ReturningHolderGetsNeitherEnergyNorGapForItsAbsence) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100, {}, {holder("t")}));
  books.take(BeatBuilder("n1", 2, 20).gpu(0, 100, {}, {holder("t")}));
  for (int i = 2; i < 362; ++i)
    books.take(BeatBuilder("n1", static_cast<std::uint64_t>(i + 1), i * 20).gpu(0, 100));
  books.take(BeatBuilder("n1", 400, 7240).gpu(0, 100, {}, {holder("t")}));
  books.take(BeatBuilder("n1", 401, 7260).gpu(0, 100, {}, {holder("t")}));
  EXPECT_EQ(books.task("t").energy.n, 4'000 * kJoule);
  EXPECT_EQ(books.task("t").covered, seconds{40});
  EXPECT_EQ(books.task("t").gap, seconds{0});
}

TEST(Tasks, TwoDevicesOfOneNodeCountItsSecondsOnce) {
  Books books;
  for (int i = 0; i < 3; ++i)
    books.take(BeatBuilder("n1", static_cast<std::uint64_t>(i + 1), i * 20)
                   .gpu(0, 100, {}, {holder("t")})
                   .gpu(1, 50, {}, {holder("t")}));
  EXPECT_EQ(books.task("t").covered, seconds{40});
  EXPECT_EQ(books.task("t").samples, 3);
  EXPECT_EQ(books.task("t").energy.n, 6'000 * kJoule);
  EXPECT_EQ(books.of(Scope::task_device, "t", "gpu", "n1/1").energy.n, 2'000 * kJoule);
}

TEST(Tasks, DeviceThatWasUnknownForABeatDoesNotDoubleTheTasksSeconds) {
  Books books;
  const std::vector<Holder> t{holder("t")};
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100, {}, t).gpu(1, 50, {}, t));
  books.take(BeatBuilder("n1", 2, 20).gpu(0, 100, {}, t).gpu(1, {}, {}, t));
  books.take(BeatBuilder("n1", 3, 40).gpu(0, 100, {}, t).gpu(1, 50, {}, t));
  EXPECT_EQ(books.task("t").covered, seconds{40});
  EXPECT_EQ(books.task("t").partial, seconds{20});
  EXPECT_EQ(books.task("t").energy.n, 6'000 * kJoule);
}

TEST(Tasks, InterleavedBeatsOfTwoNodesDoNotCutEachOthersInterval) {
  Books books;
  for (int i = 0; i < 5; ++i) {
    books.take(BeatBuilder("n1", static_cast<std::uint64_t>(i + 1), i * 20).gpu(0, 100, {}, {holder("t")}));
    books.take(
        BeatBuilder("n2", static_cast<std::uint64_t>(i + 1), i * 20 + 10).gpu(0, 200, {}, {holder("t")}));
  }
  EXPECT_EQ(books.task("t").energy.n, 24'000 * kJoule);
  EXPECT_EQ(books.task("t").covered, seconds{160});
}

TEST(Tasks, QueuedAndFinishedHoldersGetNothing) {
  Books books;
  for (int i = 0; i < 2; ++i)
    books.take(
        BeatBuilder("n1", static_cast<std::uint64_t>(i + 1), i * 20)
            .gpu(0, 100, {}, {holder("q", {}, HolderState::queued), holder("f", {}, HolderState::finished)}));
  EXPECT_FALSE(books.has(Scope::task, "q"));
  EXPECT_EQ(books.node("n1").unattributed.n, 2'000 * kJoule);
}

TEST(Tasks, RegistryCutsTheIntervalWhereTheTaskFinished) {
  Books books;
  books.windows["pod"] = {std::nullopt, kStart + seconds{30}};
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100, {}, {holder("pod")}));
  books.take(BeatBuilder("n1", 2, 60).gpu(0, 100));
  EXPECT_EQ(books.task("pod").energy.n, 3'000 * kJoule);
  EXPECT_EQ(books.task("pod").covered, seconds{30});
  EXPECT_EQ(books.node("n1").unattributed.n, 3'000 * kJoule);
}

TEST(Tasks, RegistryCutsTheIntervalWhereTheTaskStarted) {
  Books books;
  books.windows["pod"] = {kStart + seconds{45}, std::nullopt};
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100));
  books.take(BeatBuilder("n1", 2, 60).gpu(0, 100, {}, {holder("pod")}));
  EXPECT_EQ(books.task("pod").energy.n, 1'500 * kJoule);
}

TEST(Sharing, DeclaredSharesAreNormalised) {
  Books books;
  for (int i = 0; i < 2; ++i)
    books.take(BeatBuilder("n1", static_cast<std::uint64_t>(i + 1), i * 20)
                   .gpu(0, 300, {}, {holder("a", 0.3), holder("b", 0.6)}));
  EXPECT_EQ(books.task("a").energy.n, 2'000 * kJoule);
  EXPECT_EQ(books.task("a").shared.n, 2'000 * kJoule);
  EXPECT_EQ(books.task("a").shared_time, seconds{20});
  EXPECT_EQ(books.task("b").energy.n, 4'000 * kJoule);
}

TEST(Sharing, TaskLeftAloneAtTheEndHasSharedTheInterval) {
  Books books;
  books.take(BeatBuilder("n1", 1, 0).gpu(0, 100, {}, {holder("a", 0.5), holder("b", 0.5)}));
  books.take(BeatBuilder("n1", 2, 20).gpu(0, 100, {}, {holder("a", 0.5)}));
  EXPECT_EQ(books.task("a").energy.n, 2'000 * kJoule);
  EXPECT_EQ(books.task("a").shared_time, seconds{20});
}

TEST(Sharing, SeveralProcessesOfOneTaskAreOneHolder) {
  Books books;
  for (int i = 0; i < 2; ++i)
    books.take(BeatBuilder("n1", static_cast<std::uint64_t>(i + 1), i * 20)
                   .gpu(0, 100, {}, {holder("a"), holder("a")}));
  EXPECT_EQ(books.task("a").shared_time, seconds{0});
  EXPECT_EQ(books.task("a").energy.n, 2'000 * kJoule);
}

TEST(Sharing, WhatIsNobodysIsUnattributedAndNeverSpread) {
  Books books;
  const std::vector<Holder> tasks{holder("a", 0.3), holder("b", 0.1)};
  for (int i = 0; i < 2; ++i) {
    BeatBuilder beat("n", static_cast<std::uint64_t>(i + 1), i * 20);
    beat.gpu(0, 100, {}, tasks).last().unheld = Unheld{0.6, std::nullopt, 0.5};
    books.take(beat);
  }
  EXPECT_EQ(books.task("a").energy.n, 600'000'000);
  EXPECT_EQ(books.task("b").energy.n, 200'000'000);
  EXPECT_EQ(books.node("n").unattributed.n, 1'200'000'000);
  EXPECT_EQ(books.node("n").energy.n, 2'000'000'000);
}

TEST(Sharing, TheOnlyTaskBesideNobodysPartIsAnEstimate) {
  Books books;
  for (int i = 0; i < 2; ++i) {
    BeatBuilder beat("n", static_cast<std::uint64_t>(i + 1), i * 20);
    beat.gpu(0, 100, {}, {holder("a", 0.25)}).last().unheld = Unheld{0.75, std::nullopt, std::nullopt};
    books.take(beat);
  }
  EXPECT_EQ(books.task("a").energy.n, 500'000'000);
  EXPECT_EQ(books.task("a").shared.n, 500'000'000);
  EXPECT_EQ(books.task("a").shared_time, Milliseconds{20'000});
}

TEST(Sharing, TaskThatUsedNothingGetsNothingBesideNobody) {
  Books books;
  for (int i = 0; i < 2; ++i) {
    BeatBuilder beat("n", static_cast<std::uint64_t>(i + 1), i * 20);
    beat.gpu(0, 100, {}, {holder("a", 0)}).last().unheld = Unheld{0, std::nullopt, std::nullopt};
    books.take(beat);
  }
  EXPECT_EQ(books.task("a").energy.n, 0);
  EXPECT_EQ(books.node("n").unattributed.n, 2'000'000'000);
}

TEST(Sharing, PartOfANewHolderIsNotSpreadBesideNobody) {
  Books books;
  books.take(BeatBuilder("n", 1, 0).gpu(0, 100, {}, {holder("a", 0.3)}));
  BeatBuilder beat("n", 2, 20);
  beat.gpu(0, 100, {}, {holder("a", 0.3), holder("b", 0.5)}).last().unheld = Unheld{0.2, {}, {}};
  books.take(beat);
  EXPECT_EQ(books.task("a").energy.n, 600'000'000);
  EXPECT_EQ(books.task("b").energy.n, 0);
  EXPECT_EQ(books.node("n").unattributed.n, 1'400'000'000);
}

TEST(Sharing, TaskThatFinishedInsideIsNotGivenWhatOthersDeclare) {
  Books books;
  books.windows["gone"].finished_at = kStart + std::chrono::seconds{10};
  books.take(BeatBuilder("n", 1, 0).gpu(0, 100, {}, {holder("a", 0.5), holder("gone", 0.4)}));
  BeatBuilder beat("n", 2, 20);
  beat.gpu(0, 100, {}, {holder("a", 0.5)}).last().unheld = Unheld{0.5, {}, {}};
  books.take(beat);
  EXPECT_EQ(books.task("a").energy.n, 1'000'000'000);
  EXPECT_EQ(books.task("gone").energy.n, 0);
}

TEST(Sharing, NobodyIsOnePartyWhereNothingIsDeclared) {
  Books books;
  for (int i = 0; i < 2; ++i) {
    BeatBuilder beat("n", static_cast<std::uint64_t>(i + 1), i * 20);
    beat.gpu(0, 100, {}, {holder("a")}).last().unheld = Unheld{};
    books.take(beat);
  }
  EXPECT_EQ(books.task("a").energy.n, 1'000'000'000);
  EXPECT_EQ(books.node("n").unattributed.n, 1'000'000'000);
}

TEST(Sharing, SleepingHolderWeighsNothingWhileAnotherIsAwake) {
  Books books;
  for (int i = 0; i < 2; ++i)
    books.take(BeatBuilder("n1", static_cast<std::uint64_t>(i + 1), i * 20)
                   .gpu(0, 100, {}, {holder("a", 0.5), holder("b", 0.5, HolderState::sleeping)}));
  EXPECT_EQ(books.task("a").energy.n, 2'000 * kJoule);
  EXPECT_EQ(books.task("b").energy.n, 0);
  EXPECT_EQ(books.task("b").shared_time, seconds{20});
}

}  // namespace
}  // namespace tidewatt::ledger
