#include "tidewatt/agent/spool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tidewatt/base/log.h"
#include "tidewatt/testing/fake_file_system.h"
#include "tidewatt/testing/manual_clock.h"

namespace tidewatt::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr UtcTime kStart{std::chrono::milliseconds{1'800'000'000'000}};

class SpoolTest : public ::testing::Test {
 protected:
  tidewatt::testing::FakeFileSystem files;
  tidewatt::testing::ManualClock clock{kStart};
  SpoolOptions options{.folder = "/s", .boot_id = "boot-1"};

  void SetUp() override { log::set_level(log::Level::critical); }

  std::unique_ptr<Spool> open() {
    auto spool = Spool::open(files, clock, options);
    EXPECT_TRUE(spool) << spool.error().to_string();
    return std::move(*spool);
  }
  static std::vector<std::string> payloads(Spool& spool, std::size_t most = 1000) {
    std::vector<std::string> out;
    for (auto& record : spool.peek(most, 1U << 20U)) out.push_back(record.payload);
    return out;
  }
  // As the spool writes one.
  std::string format_of_position(std::uint64_t id) {
    auto spool = Spool::open(files, clock, {.folder = "/position", .boot_id = "boot-1"});
    for (std::uint64_t i = 0; i < id; ++i) (*spool)->append("x");
    (*spool)->acknowledge(id);
    auto text = files.files["/position/acknowledged"];
    std::erase_if(files.files, [](const auto& file) { return file.first.starts_with("/position"); });
    return text;
  }
  std::string segment_path(std::size_t index = 0) {
    std::vector<std::string> found;
    for (const auto& [path, bytes] : files.files) {
      if (path.ends_with(".spool")) found.push_back(path);
    }
    return found.at(index);
  }
};

TEST_F(SpoolTest, GivesBeatsBackInOrderUntilTheyAreAcknowledged) {
  auto spool = open();
  EXPECT_EQ(spool->next_id(), 1U);
  EXPECT_TRUE(spool->append("a"));
  EXPECT_TRUE(spool->append("b"));
  EXPECT_TRUE(spool->append("c"));
  EXPECT_THAT(payloads(*spool), ElementsAre("a", "b", "c"));
  EXPECT_THAT(payloads(*spool, 2), ElementsAre("a", "b"));
  spool->acknowledge(2);
  EXPECT_THAT(payloads(*spool), ElementsAre("c"));
  EXPECT_EQ(spool->stats().waiting, 1U);
}

TEST_F(SpoolTest, PeekIsBoundedByBytesButGivesAtLeastOne) {
  auto spool = open();
  spool->append(std::string(100, 'a'));
  spool->append(std::string(100, 'b'));
  EXPECT_EQ(spool->peek(10, 150).size(), 1U);
  EXPECT_EQ(spool->peek(10, 10).size(), 1U);
  EXPECT_EQ(spool->peek(10, 200).size(), 2U);
}

TEST_F(SpoolTest, ABeatIsSyncedBeforeAppendReturns) {
  {
    auto spool = open();
    spool->append("a");
    spool->append("b");
    files.power_cut();
  }
  EXPECT_THAT(payloads(*open()), ElementsAre("a", "b"));
}

TEST_F(SpoolTest, ARestartResendsOnlyWhatWasNotAcknowledgedAndReusesNoId) {
  {
    auto spool = open();
    for (const char* beat : {"a", "b", "c"}) spool->append(beat);
    spool->acknowledge(2);
  }
  auto spool = open();
  EXPECT_THAT(payloads(*spool), ElementsAre("c"));
  EXPECT_EQ(spool->next_id(), 4U);
  spool->append("d");
  EXPECT_THAT(payloads(*spool), ElementsAre("c", "d"));
}

TEST_F(SpoolTest, IdsGoOnAfterEverythingWasAcknowledged) {
  {
    auto spool = open();
    spool->append("a");
    spool->acknowledge(1);
  }
  auto spool = open();
  EXPECT_THAT(payloads(*spool), IsEmpty());
  EXPECT_EQ(spool->next_id(), 2U);
}

TEST_F(SpoolTest, EveryTornTailCostsOnlyTheLastRecord) {
  {
    auto spool = open();
    spool->append("first");
    spool->append("second");
  }
  const std::string path = segment_path();
  const std::string whole = files.files[path];
  const std::size_t second_at = whole.size() - 32 - 6;
  for (std::size_t size = second_at + 1; size < whole.size(); ++size) {
    files.files[path] = whole.substr(0, size);
    auto spool = open();
    ASSERT_THAT(payloads(*spool), ElementsAre("first")) << "cut at " << size;
    ASSERT_EQ(spool->stats().bad_records, 1U);
    ASSERT_FALSE(spool->stats().damaged);
    ASSERT_EQ(files.files[path].size(), second_at) << "the file is cut, so that it is sound from now on";
    ASSERT_EQ(spool->next_id(), 2U);
  }
}

TEST_F(SpoolTest, ATailOfBlanksIsTorn) {
  {
    open()->append("first");
  }
  files.files[segment_path()] += std::string(4096, '\0');
  auto spool = open();
  EXPECT_THAT(payloads(*spool), ElementsAre("first"));
  EXPECT_EQ(spool->stats().bad_records, 1U);
  EXPECT_FALSE(spool->stats().damaged);
}

TEST_F(SpoolTest, EveryFlippedByteIsFound) {
  {
    auto spool = open();
    spool->append("first");
    spool->append("second");
  }
  const std::string path = segment_path();
  const std::string whole = files.files[path];
  for (std::size_t at = 0; at < whole.size(); ++at) {
    files.files = {{path, whole}};
    files.files[path][at] = static_cast<char>(whole[at] ^ 0x40);
    auto spool = open();
    ASSERT_EQ(spool->stats().bad_records, 1U) << "byte " << at;
    const auto left = payloads(*spool);
    // The record that was hit is gone, its neighbour isn't; a hit in the header costs no record.
    if (at < 20)
      ASSERT_THAT(left, ElementsAre("first", "second")) << "byte " << at;
    else
      ASSERT_THAT(left, ElementsAre(at < 20 + 32 + 5 ? "second" : "first")) << "byte " << at;
    ASSERT_EQ(open()->stats().bad_records, 0U) << "mended at byte " << at;
  }
}

TEST_F(SpoolTest, DamageAmidRecordsIsToldFromATornTail) {
  {
    auto spool = open();
    spool->append("first");
    spool->append("second");
  }
  const std::string path = segment_path();
  files.files[path][20 + 32] ^= 1;  // in the first payload
  auto spool = open();
  EXPECT_TRUE(spool->stats().damaged);
  EXPECT_THAT(payloads(*spool), ElementsAre("second"));
}

TEST_F(SpoolTest, SoundRecordsAroundADamagedOneAreSentInOrder) {
  {
    auto spool = open();
    for (const char* payload : {"one", "two", "three", "four"}) spool->append(payload);
  }
  files.files[segment_path()][20 + 32 + 3 + 32] ^= 1;  // in the second payload
  {
    auto spool = open();
    EXPECT_THAT(payloads(*spool), ElementsAre("one", "three", "four"));
    EXPECT_EQ(spool->stats().waiting, 3U);
    EXPECT_EQ(spool->next_id(), 5U);
    spool->append("five");
    spool->acknowledge(1);
  }
  EXPECT_THAT(payloads(*open()), ElementsAre("three", "four", "five"));
}

TEST_F(SpoolTest, BeatsMissingAmongTheOthersAreCountedAsLostOnce) {
  {
    auto spool = open();
    for (const char* payload : {"one", "two", "three", "four"}) spool->append(payload);
  }
  files.files[segment_path()][20 + 32 + 3 + 32] ^= 1;  // in the second payload
  EXPECT_EQ(open()->stats().lost_holes, 1U);
  EXPECT_EQ(open()->stats().lost_holes, 0U);
  files.files[segment_path(1)][20 + 32] ^= 1;  // and in the third, which begins a segment now
  EXPECT_EQ(open()->stats().lost_holes, 1U);
  auto spool = open();
  EXPECT_EQ(spool->stats().lost_holes, 0U);
  EXPECT_THAT(payloads(*spool), ElementsAre("one", "four"));
}

TEST_F(SpoolTest, ASegmentThatIsGoneIsCountedAsLost) {
  options.segment_bytes = 100;
  {
    auto spool = open();
    for (int i = 0; i < 9; ++i) spool->append(std::string(30, '.'));
    spool->acknowledge(2);
  }
  const auto waiting = open()->stats().waiting;
  files.files.erase(segment_path());  // the oldest
  auto spool = open();
  EXPECT_GT(spool->stats().lost_holes, 0U);
  EXPECT_EQ(spool->stats().lost_holes + spool->stats().waiting, waiting);
}

TEST_F(SpoolTest, WhatWasSentOrCountedAsDroppedIsNoHole) {
  options.max_bytes = 8000;
  {
    auto spool = open();
    for (int i = 0; i < 100; ++i) spool->append(std::string(200, '.'));
    EXPECT_GT(spool->stats().dropped_full, 0U);
  }
  EXPECT_EQ(open()->stats().lost_holes, 0U);
  files.files.erase("/s/losses-counted");
  files.files.erase("/s/acknowledged");  // nobody knows where it began
  EXPECT_EQ(open()->stats().lost_holes, 0U);
}

TEST_F(SpoolTest, AKillWhileSoundRecordsAreSavedApartLosesNone) {
  {
    auto spool = open();
    for (const char* payload : {"one", "two", "three"}) spool->append(payload);
  }
  files.files[segment_path()][20 + 32 + 3 + 32] ^= 1;
  const std::string damaged = files.files[segment_path()];
  {
    auto spool = open();
  }
  files.files["/s/00000000000000000001.spool"] = damaged;  // the last step, cutting it, never came
  EXPECT_THAT(payloads(*open()), ElementsAre("one", "three"));
  EXPECT_THAT(payloads(*open()), ElementsAre("one", "three"));
}

TEST_F(SpoolTest, SoundRecordsThatCannotBeSavedApartWaitInTheirFile) {
  {
    auto spool = open();
    for (const char* payload : {"one", "two", "three"}) spool->append(payload);
  }
  files.files[segment_path()][20 + 32 + 3 + 32] ^= 1;
  const std::string apart = "/s/00000000000000000003.spool";
  files.faults.emplace(apart, Error{ErrorCode::io, "no space left on device", ""});
  EXPECT_EQ(open()->next_id(), 4U);
  files.faults.clear();
  EXPECT_THAT(payloads(*open()), ElementsAre("one", "three"));
}

TEST_F(SpoolTest, ForeignBytesAsASegmentHarmNothing) {
  {
    open()->append("mine");
  }
  files.files["/s/00000000000000000000.spool"] = "not a spool";
  files.files["/s/README"] = "hello";
  auto spool = open();
  EXPECT_THAT(payloads(*spool), ElementsAre("mine"));
  EXPECT_TRUE(files.files.contains("/s/README"));
}

TEST_F(SpoolTest, ADamagedAcknowledgementSendsAgainAndSaysSo) {
  {
    auto spool = open();
    spool->append("a");
    spool->append("b");
    spool->acknowledge(1);
  }
  files.files["/s/acknowledged"] = "TWACK1 2 00000000\n";
  auto spool = open();
  EXPECT_THAT(payloads(*spool), ElementsAre("a", "b"));
  EXPECT_TRUE(spool->stats().damaged);
}

TEST_F(SpoolTest, TheOldestSegmentGoesFirstWhenTheBoundIsReachedAndIsCounted) {
  options.max_bytes = 8000;  // eight segments of 1000
  auto spool = open();
  for (int i = 0; i < 100; ++i) spool->append(std::to_string(100 + i) + std::string(197, '.'));
  const auto stats = spool->stats();
  EXPECT_LE(stats.disk_bytes, 8000U);
  EXPECT_GT(stats.dropped_full, 0U);
  EXPECT_EQ(stats.dropped_full + stats.waiting, 100U);
  const auto left = payloads(*spool);
  EXPECT_EQ(left.size(), stats.waiting);
  EXPECT_EQ(left.back().substr(0, 3), "199");
  EXPECT_EQ(left.front().substr(0, 3), std::to_string(100 + stats.dropped_full));
}

TEST_F(SpoolTest, AcknowledgedBeatsAreNotCountedAsDropped) {
  options.max_bytes = 8000;
  auto spool = open();
  for (int i = 0; i < 100; ++i) {
    spool->append(std::string(200, '.'));
    spool->acknowledge(static_cast<std::uint64_t>(i + 1));
  }
  EXPECT_EQ(spool->stats().dropped_full, 0U);
  EXPECT_LT(spool->stats().disk_bytes, 2000U);
}

TEST_F(SpoolTest, BeatsOlderThanTheBoundAreDroppedAndCounted) {
  options.max_age = std::chrono::hours{7 * 24};
  auto spool = open();
  spool->append("old");
  clock.advance(std::chrono::hours{24});
  spool->append("newer");
  clock.advance(std::chrono::hours{6 * 24 + 1});
  spool->append("newest");
  EXPECT_THAT(payloads(*spool), ElementsAre("newer", "newest"));
  EXPECT_EQ(spool->stats().dropped_old, 1U);
}

TEST_F(SpoolTest, AWallClockThatIsSetDropsNothing) {
  auto spool = open();
  spool->append("at a wrong date");
  clock.jump(std::chrono::hours{24 * 365 * 20});
  spool->append("after the clock was set");
  EXPECT_EQ(payloads(*spool).size(), 2U);
  spool.reset();
  EXPECT_EQ(payloads(*open()).size(), 2U);
}

TEST_F(SpoolTest, AfterARebootTheWallClockTellsTheAge) {
  {
    open()->append("old");
  }
  options.boot_id = "boot-2";
  clock.advance(std::chrono::hours{8 * 24});
  auto spool = open();
  EXPECT_THAT(payloads(*spool), IsEmpty());
  EXPECT_EQ(spool->stats().dropped_old, 1U);
}

TEST_F(SpoolTest, AFullDiskKeepsTheNewestInMemoryAndRecoversInOrder) {
  options.memory_beats = 3;
  auto spool = open();
  spool->append("on disk");
  files.bytes_left = 10;
  for (const char* beat : {"1", "2", "3", "4", "5"}) EXPECT_FALSE(spool->append(beat));
  EXPECT_TRUE(spool->stats().degraded);
  EXPECT_EQ(spool->stats().lost_memory, 2U);
  EXPECT_THAT(payloads(*spool), ElementsAre("on disk", "3", "4", "5"));
  files.bytes_left.reset();
  EXPECT_TRUE(spool->append("6"));
  EXPECT_FALSE(spool->stats().degraded);
  EXPECT_THAT(payloads(*spool), ElementsAre("on disk", "3", "4", "5", "6"));
  files.power_cut();
  spool.reset();
  auto again = open();
  EXPECT_THAT(payloads(*again), ElementsAre("on disk", "3", "4", "5", "6"));
  EXPECT_EQ(again->next_id(), 8U);
}

TEST_F(SpoolTest, ANearlyFullDiskTakesWhatFitsOfTheOldest) {
  {
    auto spool = open();
    files.bytes_left = 0;
    for (const char* beat : {"1", "2", "3"}) EXPECT_FALSE(spool->append(beat));
    files.bytes_left = 2 * 33 + 10;  // two records and a bit
    EXPECT_FALSE(spool->append("4"));
    EXPECT_TRUE(spool->stats().degraded);
    EXPECT_EQ(spool->stats().waiting, 4U);
    EXPECT_THAT(payloads(*spool), ElementsAre("1", "2", "3", "4"));
    files.power_cut();
  }
  files.bytes_left.reset();
  EXPECT_THAT(payloads(*open()), ElementsAre("1", "2"));
}

TEST_F(SpoolTest, WhatIsInMemoryOnlyCanBeSentAndAcknowledged) {
  auto spool = open();
  files.bytes_left = 0;
  spool->append("a");
  spool->append("b");
  spool->acknowledge(2);
  EXPECT_EQ(spool->stats().waiting, 0U);
  EXPECT_EQ(spool->stats().lost_memory, 0U);
  files.bytes_left.reset();
  spool->append("c");
  EXPECT_THAT(payloads(*spool), ElementsAre("c"));
}

TEST_F(SpoolTest, AHalfWrittenRecordOfAFullDiskIsNeverReadAsABeat) {
  {
    auto spool = open();
    spool->append("whole");
    files.bytes_left = 20;
    spool->append("half");
  }
  files.bytes_left.reset();
  auto spool = open();
  EXPECT_THAT(payloads(*spool), ElementsAre("whole"));
  EXPECT_EQ(spool->stats().bad_records, 0U) << "cut off when it happened";
}

TEST_F(SpoolTest, AFolderThatMayNotBeWrittenIsAMistakeOfSetUp) {
  files.faults["/s"] = Error{ErrorCode::permission_denied, "/s: permission denied", ""};
  EXPECT_EQ(Spool::open(files, clock, options).error().code, ErrorCode::permission_denied);
}

TEST_F(SpoolTest, AFailingDiskAtTheStartIsSurvived) {
  files.faults["/s"] = Error{ErrorCode::io, "/s: input/output error", ""};
  auto spool = open();
  EXPECT_TRUE(spool->stats().degraded);
  EXPECT_TRUE(spool->stats().damaged) << "which ids were used isn't known";
  spool->append("a");
  EXPECT_THAT(payloads(*spool), ElementsAre("a"));
}

TEST_F(SpoolTest, AnOutageIsReadBackFromDiskWithBoundedMemory) {
  auto spool = open();
  for (int i = 1; i <= 1000; ++i) spool->append(std::to_string(i) + std::string(3000, '.'));
  std::uint64_t expected = 1;
  while (true) {
    const auto batch = spool->peek(100, 1U << 20U);
    if (batch.empty()) break;
    for (const auto& record : batch) {
      ASSERT_EQ(record.id, expected);
      ASSERT_TRUE(record.payload.starts_with(std::to_string(expected) + "."));
      ++expected;
    }
    spool->acknowledge(batch.back().id);
  }
  EXPECT_EQ(expected, 1001U);
  EXPECT_EQ(spool->stats().waiting, 0U);
}

TEST_F(SpoolTest, AKillAtAnyByteLosesAtMostTheUnfinishedBeat) {
  // Disk content after any prefix of appended bytes: what was complete is kept, in order, without a hole.
  auto spool = open();
  for (int i = 1; i <= 5; ++i) spool->append(std::to_string(i));
  spool.reset();
  const std::string path = segment_path();
  const std::string whole = files.files[path];
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    files.files[path] = whole.substr(0, size);
    const std::size_t complete = size < 20 ? 0 : (size - 20) / 33;
    auto after = open();
    ASSERT_EQ(payloads(*after).size(), complete) << size;
    ASSERT_EQ(after->next_id(), complete + 1);
  }
}

/// Beats on disk only: memory holds none of what is in the first segment.
class SpoolFaults : public SpoolTest {
 protected:
  std::unique_ptr<Spool> filled() {
    options.segment_bytes = 1500;
    auto spool = open();
    for (int i = 1; i <= 300; ++i) spool->append(beat(i));
    return spool;
  }
  static std::string beat(int i) { return "beat-" + std::to_string(1000 + i) + std::string(60, '.'); }
  static std::size_t sent_until_quiet(Spool& spool) {
    std::size_t sent = 0;
    for (int round = 0; round < 100; ++round) {
      const auto batch = spool.peek(50, 1U << 20U);
      sent += batch.size();
      if (!batch.empty()) spool.acknowledge(batch.back().id);
    }
    return sent;
  }
};

TEST_F(SpoolFaults, BytesDamagedWhileItRunsCostOnlyTheirBeatAndAreCountedOnce) {
  auto spool = filled();
  files.files[segment_path()].replace(files.files[segment_path()].find("beat-1003"), 4, "XXXX");
  for (int look = 0; look < 3; ++look) {
    const auto seen = payloads(*spool);
    ASSERT_EQ(seen.size(), 299U);
    EXPECT_EQ(seen[1], beat(2));
    EXPECT_EQ(seen[2], beat(4)) << "the sound records behind it are sent";
    EXPECT_EQ(spool->stats().lost_holes, 1U);
  }
  EXPECT_EQ(sent_until_quiet(*spool), 299U);
  EXPECT_EQ(spool->stats().lost_holes, 1U);
  EXPECT_EQ(spool->stats().waiting, 0U);
  spool = open();
  EXPECT_EQ(spool->stats().lost_holes, 0U) << "counted before";
}

TEST_F(SpoolFaults, ASegmentThatEndsInABadPlaceIsFollowedByTheNext) {
  auto spool = filled();
  auto& bytes = files.files[segment_path()];
  const auto at = bytes.find("beat-1004");
  for (auto i = at - 20; i < bytes.size(); ++i) bytes[i] = 'X';
  const auto lost = 300 - payloads(*spool).size();
  EXPECT_GT(lost, 1U);
  EXPECT_EQ(spool->stats().lost_holes, lost);
  EXPECT_EQ(sent_until_quiet(*spool) + lost, 300U);
  EXPECT_EQ(spool->stats().waiting, 0U);
}

TEST_F(SpoolFaults, SoundBeatsOfADamagedFileThatCannotBeSavedApartAreSentFromIt) {
  {
    auto spool = open();
    for (int i = 1; i <= 12; ++i) spool->append(beat(i));
  }
  files.files[segment_path()].replace(files.files[segment_path()].find("beat-1003"), 4, "XXXX");
  files.faults["/s/00000000000000000004.spool"] = Error{ErrorCode::io, "No space left on device", ""};
  auto spool = open();
  EXPECT_EQ(spool->stats().lost_holes, 1U);
  files.faults.clear();
  spool->append(beat(13));
  EXPECT_EQ(sent_until_quiet(*spool), 12U);
  EXPECT_EQ(spool->stats().lost_holes, 1U) << "counted once";
  EXPECT_EQ(spool->stats().waiting, 0U);
  spool = open();
  EXPECT_EQ(spool->stats().waiting, 0U);
  EXPECT_EQ(spool->stats().lost_holes, 0U);
}

TEST_F(SpoolFaults, ARemovedSegmentIsCountedAndPassedOver) {
  auto spool = filled();
  files.files.erase(segment_path());
  const auto sent = sent_until_quiet(*spool);
  EXPECT_LT(sent, 300U);
  EXPECT_EQ(spool->stats().lost_holes, 300U - sent);
  EXPECT_EQ(spool->stats().waiting, 0U);
}

TEST_F(SpoolFaults, ASegmentThatCannotBeReadIsLookedAtAgainBeforeItsBeatsAreGivenUp) {
  auto spool = filled();
  const auto path = segment_path();
  files.faults[path] = Error{ErrorCode::io, path + ": I/O error", ""};
  EXPECT_THAT(payloads(*spool), IsEmpty());
  files.faults.clear();
  EXPECT_EQ(payloads(*spool).size(), 300U) << "it is readable again";
  files.faults[path] = Error{ErrorCode::io, path + ": I/O error", ""};
  const auto sent = sent_until_quiet(*spool);
  EXPECT_LT(sent, 300U);
  EXPECT_EQ(spool->stats().lost_holes, 300U - sent);
  EXPECT_EQ(spool->stats().waiting, 0U);
}

TEST_F(SpoolFaults, WhatIsStillInMemoryIsSentThoughItsFileIsGone) {
  auto spool = open();
  spool->append("a");
  files.files.erase(segment_path());
  spool->append("b");
  EXPECT_THAT(payloads(*spool), ElementsAre("a", "b"));
  EXPECT_EQ(spool->stats().lost_holes, 0U);
}

TEST_F(SpoolTest, ARemovedPositionMakesNoLossOfWhatWasDelivered) {
  options.segment_bytes = 200;
  {
    auto spool = open();
    for (int i = 0; i < 40; ++i) spool->append(std::string(80, 'a'));
    spool->acknowledge(30);
  }
  // Counted up to the fifth, long before the position that is removed.
  files.files["/s/losses-counted"] = format_of_position(5);
  files.files.erase("/s/acknowledged");
  EXPECT_EQ(open()->stats().lost_holes, 0U);
}

TEST_F(SpoolTest, WhatOnlyMemoryHeldAtTheEndIsCountedAsLostAlsoByTheNextStart) {
  auto spool = open();
  spool->append("on disk");
  files.bytes_left = 0;
  EXPECT_FALSE(spool->append("in memory"));
  EXPECT_FALSE(spool->append("in memory too"));
  EXPECT_EQ(spool->give_up_memory(), 2U);
  EXPECT_EQ(spool->stats().lost_memory, 2U);
  files.bytes_left.reset();
  EXPECT_EQ(open()->stats().lost_memory, 2U) << "shown by the next one";
  EXPECT_EQ(open()->stats().lost_memory, 0U) << "and once";
}

TEST_F(SpoolTest, NothingIsLostAtAnEndWithASoundDisk) {
  auto spool = open();
  spool->append("a");
  EXPECT_EQ(spool->give_up_memory(), 0U);
  EXPECT_EQ(open()->stats().lost_memory, 0U);
}

}  // namespace
}  // namespace tidewatt::agent
