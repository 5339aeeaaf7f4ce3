// A write-ahead log that was damaged is told and kept; one that a kill or a power cut tore is neither.
#include <sqlite3.h>

#include <fstream>
#include <sstream>

#include "sqlite/wal_damage.h"
#include "sqlite/wal_file.h"
#include "store_fixtures.h"

namespace tidewatt::store::testing {
namespace {

constexpr int kCommits = 20;
const auto kDevice = gpu_account(Scope::device, "n1/0");

std::string bytes_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

WalContent content_of(const std::string& bytes) {
  WalScan scan(std::string_view(bytes).substr(0, WalScan::kHeaderSize));
  for (auto at = WalScan::kHeaderSize; at + scan.frame_size() <= bytes.size(); at += scan.frame_size())
    scan.add(std::string_view(bytes).substr(at, scan.frame_size()));
  return scan.content();
}

void flip(std::string& bytes, std::size_t at, int bit) { bytes[at] = static_cast<char>(bytes[at] ^ bit); }

/// A ledger with some commits in its log, as a killed server leaves it.
class LeftByAKill : public ::testing::Test {
 protected:
  LeftByAKill() {
    const TempFolder folder;
    const auto store = open_or_abort({.path = folder.file()});
    for (std::uint64_t i = 0; i < kCommits; ++i)
      EXPECT_EQ(put(*store, accrual(kNode, i, {delta(kDevice, 5)})), AccrueOutcome::applied);
    database_ = bytes_of(folder.file());
    wal_ = bytes_of(folder.file() + "-wal");
    frame_ = WalScan(std::string_view(wal_).substr(0, WalScan::kHeaderSize)).frame_size();
  }
  void lay_out(const TempFolder& folder, const std::string& wal) const {
    std::ofstream(folder.file(), std::ios::binary) << database_;
    std::ofstream(folder.file() + "-wal", std::ios::binary) << wal;
  }
  [[nodiscard]] std::size_t frames() const { return (wal_.size() - WalScan::kHeaderSize) / frame_; }
  [[nodiscard]] std::size_t start_of(std::size_t frame) const {
    return WalScan::kHeaderSize + frame * frame_;
  }

  std::string database_;
  std::string wal_;
  std::size_t frame_ = 0;
};

TEST_F(LeftByAKill, AWholeLogIsReadToItsEnd) {
  const auto content = content_of(wal_);
  EXPECT_FALSE(content.damaged());
  EXPECT_EQ(content.frames, frames());
  EXPECT_EQ(content.read_frames, frames());
  EXPECT_GE(content.read_commits, static_cast<std::uint64_t>(kCommits));
}

TEST_F(LeftByAKill, ALogThatWasCutOffAnywhereIsNoDamage) {
  for (std::size_t size = WalScan::kHeaderSize; size <= wal_.size(); size += 1'013)
    EXPECT_FALSE(content_of(wal_.substr(0, size)).damaged()) << size;
}

TEST_F(LeftByAKill, ALastCommitOfWhichPagesAreMissingIsNoDamage) {
  // A power cut: the end of the last commit reached the disk, what is before it didn't.
  auto begin = frames() - 1;  // of the last commit
  while (content_of(wal_.substr(0, start_of(begin))).has_rest()) --begin;
  for (auto at = begin; at < frames(); ++at) {
    auto torn = wal_;
    torn.replace(start_of(at), frame_, std::string(frame_, '\0'));
    EXPECT_FALSE(content_of(torn).damaged()) << at;
  }
}

TEST_F(LeftByAKill, WhatIsLeftOfAnEarlierLogIsNoDamage) {
  // A log begins anew at the file's start; behind its end stands the one before, with other salts.
  auto earlier = wal_;
  auto begin = frames() / 2;
  while (content_of(wal_.substr(0, start_of(begin))).has_rest()) ++begin;
  for (auto i = begin; i < frames(); ++i) flip(earlier, start_of(i) + 9, 1);
  const auto content = content_of(earlier);
  EXPECT_FALSE(content.damaged());
  EXPECT_FALSE(content.has_rest());
}

TEST_F(LeftByAKill, AFlippedBitAnywhereBeforeTheLastCommitIsDamage) {
  const auto two_before = content_of(wal_).read_commits - 2;
  for (std::size_t i = 0; content_of(wal_.substr(0, start_of(i))).read_commits < two_before; ++i)
    for (const std::size_t in_frame :
         {std::size_t{2}, std::size_t{9}, std::size_t{18}, std::size_t{24}, frame_ - 1}) {
      auto damaged = wal_;
      flip(damaged, start_of(i) + in_frame, 0x10);
      const auto content = content_of(damaged);
      EXPECT_TRUE(content.damaged()) << "frame " << i << " byte " << in_frame;
      EXPECT_LE(content.read_frames, i);
    }
}

TEST_F(LeftByAKill, AFlippedBitInTheHeaderIsDamage) {
  for (std::size_t at = 0; at < WalScan::kHeaderSize; ++at) {
    if (at >= 8 && at < 12) continue;  // of another page size: SQLite may refuse it, and says so itself
    auto damaged = wal_;
    flip(damaged, at, 0x04);
    const auto content = content_of(damaged);
    EXPECT_TRUE(content.damaged()) << at;
    EXPECT_EQ(content.read_frames, 0U);
  }
}

TEST_F(LeftByAKill, TheStartTellsDamageAndKeepsTheLog) {
  const TempFolder folder;
  auto damaged = wal_;
  flip(damaged, start_of(frames() / 2) + 100, 0x01);
  lay_out(folder, damaged);
  std::string copy;
  {
    const auto store = open_or_abort({.path = folder.file(), .now = [] { return kNoon; }});
    const auto found = store->damage();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].lost_commits, content_of(damaged).lost_commits);
    EXPECT_LT(store->cursor(kNode)->revision, static_cast<std::uint64_t>(kCommits));
    copy = found[0].evidence;
    EXPECT_EQ(copy, folder.file() + "-wal.damaged-20261129T120000Z");
    EXPECT_EQ(bytes_of(copy), damaged);
  }
  // The alert outlives a restart, until somebody moves the file away.
  const auto again = open_or_abort({.path = folder.file()});
  EXPECT_EQ(again->damage().size(), 1U);
  std::filesystem::remove(copy);
  EXPECT_TRUE(again->damage().empty());
}

TEST_F(LeftByAKill, DamageIsKeptOnceThoughStartsAreKilled) {
  const TempFolder folder;
  auto damaged = wal_;
  flip(damaged, start_of(3) + 100, 0x01);
  lay_out(folder, damaged);
  ASSERT_TRUE(keep_damaged_wal(folder.file(), kNoon));
  ASSERT_TRUE(keep_damaged_wal(folder.file(), kNoon + std::chrono::hours{1}));
  EXPECT_EQ(damaged_wals(folder.file()).size(), 1U);
}

TEST_F(LeftByAKill, ATornLastCommitAlarmsNobody) {
  const TempFolder folder;
  lay_out(folder, wal_.substr(0, wal_.size() - 1'000));
  const auto store = open_or_abort({.path = folder.file()});
  EXPECT_TRUE(store->damage().empty());
  EXPECT_GE(store->cursor(kNode)->revision, static_cast<std::uint64_t>(kCommits) - 1);
}

TEST_F(LeftByAKill, ALogWhoseDatabaseIsGoneIsKept) {
  const TempFolder folder;
  lay_out(folder, wal_);
  std::filesystem::remove(folder.file());
  const auto store = open_or_abort({.path = folder.file()});
  ASSERT_EQ(store->damage().size(), 1U);
  EXPECT_GE(store->damage()[0].lost_commits, static_cast<std::uint64_t>(kCommits));
}

}  // namespace
}  // namespace tidewatt::store::testing
