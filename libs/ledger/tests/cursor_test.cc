#include "tidewatt/ledger/cursor.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace tidewatt::ledger {
namespace {

NodeCursor sample() {
  NodeCursor c;
  c.devices.push_back({"gpu",
                       0,
                       "GPU-0",
                       "a",
                       UtcTime{Milliseconds{5}},
                       UtcTime{Milliseconds{6}},
                       Microjoules{7},
                       "b1",
                       "d1",
                       true,
                       {Microjoules{11}, Microjoules{12}, Milliseconds{13}},
                       Milliwatts{700'000},
                       {"t1", "t2"},
                       "nvidia"});
  c.devices.push_back(
      {"cpu_package", 1, "", "", UtcTime{}, UtcTime{}, std::nullopt, "", "", false, {}, std::nullopt, {}});
  c.domains.push_back({"gpu", UtcTime{Milliseconds{5}}, {{"t1", UtcTime{Milliseconds{4}}}}});
  c.boots.push_back(
      {"b1", UtcTime{Milliseconds{5}}, Milliseconds{99}, UtcTime{Milliseconds{6}}, Milliseconds{3}, "run"});
  c.boots.push_back({"b2", UtcTime{Milliseconds{5}}, Milliseconds{-1}, std::nullopt, std::nullopt, ""});
  c.seen.push_back({"b1", "a", UtcTime{Milliseconds{5}}, {{1, 5}, {8, 8}}});
  return c;
}

TEST(CursorCodec, DecodeGivesBackWhatWasEncoded) { EXPECT_EQ(*decode_cursor(encode(sample())), sample()); }

TEST(CursorCodec, EveryTruncationIsCorruptNeverACrash) {
  const auto bytes = encode(sample());
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const auto cut = decode_cursor(std::string_view(bytes).substr(0, n));
    ASSERT_FALSE(cut) << n;
    EXPECT_EQ(cut.error().code, ErrorCode::corrupt);
  }
}

RC_GTEST_PROP(CursorCodec, GarbageNeverCrashes, (std::string bytes)) {
  bytes.insert(bytes.begin(), '\1');
  (void)decode_cursor(bytes);
}

TEST(SeenSeqs, RemembersRunsAndHoles) {
  SeenSeqs seen;
  for (const std::uint64_t n : {1U, 2U, 3U, 7U, 5U}) seen.add(n);
  EXPECT_EQ(seen.runs, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{1, 3}, {5, 5}, {7, 7}}));
  EXPECT_TRUE(seen.seen(5));
  EXPECT_FALSE(seen.seen(6));
  seen.add(6);
  seen.add(4);
  EXPECT_EQ(seen.runs.size(), 1U);
}

TEST(SeenSeqs, WhatIsOlderThanTheWindowCountsAsSeen) {
  SeenSeqs seen;
  seen.add(10'000);
  EXPECT_TRUE(seen.seen(10'000 - SeenSeqs::kWindow));
  EXPECT_FALSE(seen.seen(10'000 - SeenSeqs::kWindow + 1));
}

RC_GTEST_PROP(SeenSeqs, AgreesWithASet, ()) {
  SeenSeqs seen;
  std::set<std::uint64_t> model;
  for (int i = 0; i < 200; ++i) {
    const auto n = *rc::gen::inRange<std::uint64_t>(1, 300);
    RC_ASSERT(seen.seen(n) == model.contains(n));
    seen.add(n);
    model.insert(n);
  }
}

}  // namespace
}  // namespace tidewatt::ledger
