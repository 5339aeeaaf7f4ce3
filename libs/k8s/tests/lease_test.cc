#include "tidewatt/k8s/lease.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace tidewatt::k8s {
namespace {

using std::chrono::seconds;

const UtcTime kNow = *parse_rfc3339("2026-11-29T08:00:00Z");
SteadyTime at(Milliseconds since) { return SteadyTime{std::chrono::hours{5}} + since; }

TEST(LeaseElection, TakesWhatIsNotThereOrWasGivenBack) {
  LeaseElection one{"one", {}};
  EXPECT_FALSE(one.may_write(at(seconds{0})));
  const auto made = one.to_write(std::nullopt, at(seconds{0}), kNow);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->holder, "one");
  EXPECT_EQ(made->resource_version, "") << "created, not updated";
  LeaseRecord free{"", 15, kNow, kNow, 4, "7"};
  const auto taken = one.to_write(free, at(seconds{1}), kNow);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->transitions, 5);
  EXPECT_EQ(taken->resource_version, "7") << "what was seen is compared";
}

TEST(LeaseElection, WaitsAWholeLeaseFromWhenItSawTheLastSign) {
  LeaseElection one{"one", {}};
  LeaseRecord theirs{"two", 15, kNow, kNow - std::chrono::hours{9}, 0, "7"};
  EXPECT_FALSE(one.to_write(theirs, at(seconds{0}), kNow)) << "another clock's renewTime says nothing";
  EXPECT_FALSE(one.to_write(theirs, at(Milliseconds{14'999}), kNow));
  theirs.resource_version = "8";
  EXPECT_FALSE(one.to_write(theirs, at(seconds{15}), kNow)) << "a new sign of life";
  EXPECT_FALSE(one.to_write(theirs, at(Milliseconds{29'999}), kNow));
  EXPECT_TRUE(one.to_write(theirs, at(seconds{30}), kNow));
}

TEST(LeaseElection, WritesOnlyWhatEndsBeforeItsLeaseDoes) {
  LeaseElection one{"one", {}};
  (void)one.to_write(std::nullopt, at(seconds{0}), kNow);
  one.written(at(seconds{0}));
  EXPECT_TRUE(one.may_write(at(Milliseconds{9'999})));
  EXPECT_FALSE(one.may_write(at(seconds{10}))) << "a write may take 5 s";
  one.written(at(seconds{10}));
  EXPECT_TRUE(one.may_write(at(seconds{12})));
  one.lost();
  EXPECT_FALSE(one.may_write(at(seconds{12})));
}

TEST(LeaseElection, GivesBackOnlyItsOwn) {
  LeaseElection one{"one", {}};
  EXPECT_FALSE(one.to_release(LeaseRecord{"two", 15, kNow, kNow, 0, "7"}, kNow));
  const auto given = one.to_release(LeaseRecord{"one", 15, kNow, kNow, 0, "7"}, kNow);
  ASSERT_TRUE(given);
  EXPECT_EQ(given->holder, "");
}

/// An API server that keeps one Lease, with a version that is compared.
struct LeaseStore {
  std::optional<LeaseRecord> record;
  int version = 0;
  bool write(const LeaseRecord& wanted) {
    if (record ? wanted.resource_version != record->resource_version : !wanted.resource_version.empty())
      return false;
    record = wanted;
    record->resource_version = std::to_string(++version);
    return true;
  }
};

/// Whatever is late or lost: a write that one may begin has ended before the other one may begin any.
TEST(LeaseElection, NeverLetsTwoWrite) {
  std::mt19937 random{7};  // NOLINT: the same each time
  const auto chance = [&](unsigned percent) { return random() % 100 < percent; };
  for (int round = 0; round < 300; ++round) {
    LeaseStore store;
    const LeaseTimes times;
    std::array<LeaseElection, 2> ones{LeaseElection{"a", times}, LeaseElection{"b", times}};
    std::array<std::optional<SteadyTime>, 2> writing_until;
    int led = 0;
    auto mono = at(seconds{0});
    for (int step = 0; step < 400; ++step) {
      mono += Milliseconds{random() % 3000};
      const std::size_t who = random() % 2;
      auto& one = ones[who];
      if (one.may_write(mono)) {
        ++led;
        ASSERT_FALSE(ones[1 - who].may_write(mono));
        const auto& theirs = writing_until[1 - who];
        ASSERT_FALSE(theirs && *theirs > mono) << "the other one's write is still on its way";
        writing_until[who] = mono + times.write_takes;
      }
      if (chance(20)) continue;  // can't reach it
      const auto record = one.to_write(store.record, mono, kNow);
      if (!record) continue;
      const auto asked_at = mono;
      mono += Milliseconds{random() % 4000};  // the request takes its time
      if (!store.write(*record)) {
        one.lost();
      } else if (!chance(20)) {  // else the answer is lost
        one.written(asked_at);
      }
    }
    EXPECT_GT(led, 0);
  }
}

}  // namespace
}  // namespace tidewatt::k8s
