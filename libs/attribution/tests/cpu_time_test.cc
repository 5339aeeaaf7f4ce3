#include "tidewatt/attribution/cpu_time.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

namespace tidewatt::attribution {
namespace {

constexpr Microseconds kSecond = 1'000'000;

CpuLook look(int second, Microseconds busy, std::vector<CgroupTime> cgroups, int cpus = 4) {
  return {SteadyTime{Milliseconds{1000 * second}}, cpus, busy, std::move(cgroups)};
}
std::int64_t part_of(const CpuSplit& split, const std::string& task) {
  for (const auto& [name, part] : split.tasks)
    if (name == task) return part;
  return -1;
}
Microseconds told(const CpuInterval& interval) {
  Microseconds sum = interval.unattributed + interval.idle;
  for (const auto& [task, used] : interval.tasks) sum += used;
  return sum;
}

TEST(CpuMeter, FirstLookIsABaseline) {
  CpuMeter meter;
  EXPECT_FALSE(meter.update(look(0, 500 * kSecond, {{"/a", "a", 400 * kSecond}})));
}

TEST(CpuMeter, ExampleOfTheDocumentation) {
  CpuMeter meter;
  meter.update(look(0, 100 * kSecond, {{"/a", "pod/a", 50 * kSecond}, {"/b", "pod/b", 20 * kSecond}}));
  const auto interval =
      meter.update(look(20, 140 * kSecond, {{"/a", "pod/a", 74 * kSecond}, {"/b", "pod/b", 28 * kSecond}}));
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->capacity, 80 * kSecond);
  EXPECT_EQ(interval->tasks.at("pod/a"), 24 * kSecond);
  EXPECT_EQ(interval->tasks.at("pod/b"), 8 * kSecond);
  EXPECT_EQ(interval->unattributed, 8 * kSecond);
  EXPECT_EQ(interval->idle, 40 * kSecond);

  constexpr std::int64_t kJoules2000 = 2'000'000'000;
  const auto kept = split_by_cpu_time(kJoules2000, *interval, CpuPolicy::keep_idle);
  EXPECT_EQ(part_of(kept, "pod/a"), 600'000'000);
  EXPECT_EQ(part_of(kept, "pod/b"), 200'000'000);
  EXPECT_EQ(kept.unattributed, 200'000'000);
  EXPECT_EQ(kept.idle, 1'000'000'000);
  const auto proportional = split_by_cpu_time(kJoules2000, *interval, CpuPolicy::proportional);
  EXPECT_EQ(part_of(proportional, "pod/a"), 1'200'000'000);
  EXPECT_EQ(part_of(proportional, "pod/b"), 400'000'000);
  EXPECT_EQ(proportional.unattributed, 400'000'000);
  EXPECT_EQ(proportional.idle, 0);
}

TEST(CpuMeter, NewCgroupIsABaselineAndItsTimeIsNobodys) {
  CpuMeter meter;
  meter.update(look(0, 0, {}));
  const auto interval = meter.update(look(10, 8 * kSecond, {{"/new", "t", 5 * kSecond}}));
  EXPECT_EQ(interval->tasks.at("t"), 0);
  EXPECT_EQ(interval->unattributed, 8 * kSecond);
}

TEST(CpuMeter, AnotherCgroupOfTheSameNameIsABaseline) {
  CpuMeter meter;
  meter.update(look(0, 0, {{"/a", "t", 100 * kSecond}}));
  const auto interval = meter.update(look(10, 9 * kSecond, {{"/a", "t", 3 * kSecond}}));
  EXPECT_EQ(interval->tasks.at("t"), 0);
  EXPECT_EQ(interval->unattributed, 9 * kSecond);
  EXPECT_EQ(meter.update(look(20, 12 * kSecond, {{"/a", "t", 5 * kSecond}}))->tasks.at("t"), 2 * kSecond);
}

TEST(CpuMeter, VanishedCgroupIsUnattributedAndNeverSpread) {
  CpuMeter meter;
  meter.update(look(0, 0, {{"/a", "a", 0}, {"/b", "b", 0}}));
  meter.update(look(10, 20 * kSecond, {{"/a", "a", 10 * kSecond}, {"/b", "b", 10 * kSecond}}));
  const auto interval = meter.update(look(20, 40 * kSecond, {{"/a", "a", 12 * kSecond}}));
  EXPECT_EQ(interval->tasks.size(), 1U);
  EXPECT_EQ(interval->tasks.at("a"), 2 * kSecond);
  EXPECT_EQ(interval->unattributed, 18 * kSecond) << "what b used until it ended is no gain of a";
}

TEST(CpuMeter, CgroupThatWasAwayForALookIsABaseline) {
  CpuMeter meter;
  meter.update(look(0, 0, {{"/a", "a", 0}}));
  meter.update(look(10, 10 * kSecond, {}));
  EXPECT_EQ(meter.update(look(20, 20 * kSecond, {{"/a", "a", 15 * kSecond}}))->tasks.at("a"), 0);
}

TEST(CpuMeter, SeveralCgroupsOfOneTaskAreOne) {
  CpuMeter meter;
  meter.update(look(0, 0, {{"/a/1", "t", 0}, {"/a/2", "t", 0}}));
  EXPECT_EQ(meter.update(look(10, 9 * kSecond, {{"/a/1", "t", kSecond}, {"/a/2", "t", 2 * kSecond}}))
                ->tasks.at("t"),
            3 * kSecond);
}

TEST(CpuMeter, PodsInAContainerAreNotItsOwnTime) {
  CpuMeter meter;
  meter.update(
      look(0, 0, {{"/node", "container", 0}, {"/node/x/pod", "pod", 0}, {"/node/x/pod/in", "inner", 0}}));
  const auto interval = meter.update(look(10, 10 * kSecond,
                                          {{"/node", "container", 10 * kSecond},
                                           {"/node/x/pod", "pod", 7 * kSecond},
                                           {"/node/x/pod/in", "inner", 2 * kSecond},
                                           {"/node/x/new", "new", kSecond}}));
  EXPECT_EQ(interval->tasks.at("container"), 2 * kSecond);
  EXPECT_EQ(interval->tasks.at("pod"), 5 * kSecond);
  EXPECT_EQ(interval->tasks.at("inner"), 2 * kSecond);
  EXPECT_EQ(interval->tasks.at("new"), 0);
  EXPECT_EQ(interval->unattributed, kSecond);
}

TEST(CpuMeter, DroppedTasksAreUnattributed) {
  CpuMeter meter;
  meter.update(look(0, 0, {{"/a", "", 0}}));
  const auto interval = meter.update(look(10, 5 * kSecond, {{"/a", "", 5 * kSecond}}));
  EXPECT_TRUE(interval->tasks.empty());
  EXPECT_EQ(interval->unattributed, 5 * kSecond);
}

TEST(CpuMeter, NodeCounterThatWentBackIsNoInterval) {
  CpuMeter meter;
  meter.update(look(0, 100, {}));
  EXPECT_FALSE(meter.update(look(10, 50, {})));
  EXPECT_FALSE(meter.update(look(10, 60, {}))) << "no time has passed";
}

TEST(CpuMeter, NeverMoreThanTheWholeMachine) {
  CpuMeter meter;
  meter.update(look(0, 0, {{"/a", "a", 0}}, 1));
  const auto interval = meter.update(look(1, 900'000, {{"/a", "a", 1'050'000}}, 1));
  EXPECT_EQ(interval->unattributed, 0);
  EXPECT_EQ(interval->idle, 0);
  EXPECT_EQ(interval->capacity, 1'050'000);
}

TEST(CpuSplit, NoTimeNoEnergy) {
  CpuInterval interval;
  interval.capacity = interval.idle = 100;
  interval.tasks["a"] = 0;
  for (const auto policy : {CpuPolicy::proportional, CpuPolicy::keep_idle}) {
    const auto split = split_by_cpu_time(1000, interval, policy);
    EXPECT_EQ(part_of(split, "a"), 0);
    EXPECT_EQ(split.idle, 1000);
  }
}

TEST(CpuSplit, UtilisationDoesNotLagBehindEnergy) {
  // 100 J each, 10 % busy, then 90 %: 10 J and 90 J are the task's.
  CpuMeter meter;
  meter.update(look(0, 0, {{"/a", "a", 0}}, 1));
  const auto first = meter.update(look(10, kSecond, {{"/a", "a", kSecond}}, 1));
  const auto second = meter.update(look(20, 10 * kSecond, {{"/a", "a", 10 * kSecond}}, 1));
  EXPECT_EQ(part_of(split_by_cpu_time(100, *first, CpuPolicy::keep_idle), "a"), 10);
  EXPECT_EQ(part_of(split_by_cpu_time(100, *second, CpuPolicy::keep_idle), "a"), 90);
}

TEST(CpuCounters, AreReadInMicroseconds) {
  EXPECT_EQ(parse_cpu_stat("usage_usec 123\nuser_usec 100\nsystem_usec 23\n"), 123);
  EXPECT_EQ(parse_cpu_stat("user_usec 100\nusage_usec 7"), 7);
  EXPECT_EQ(parse_cpuacct_usage("123456789\n"), 123456);
  for (const char* text :
       {"", "usage_usec", "usage_usec -1\n", "usage_usec x\n", "usage_usec 99999999999999999999\n"})
    EXPECT_FALSE(parse_cpu_stat(text)) << text;
  EXPECT_EQ(parse_cpu_stat("usage_usec 18446744073709551615\n"), std::nullopt) << "all ones is no time";
  EXPECT_FALSE(parse_cpuacct_usage("-5\n"));
}

/// Looks with cgroups that come, go, nest and reset.
std::vector<CpuLook> random_looks() {
  std::vector<CpuLook> looks;
  const std::vector<std::string> paths{"/a", "/a/b", "/a/b/c", "/d", "/d/e", "/f"};
  std::map<std::string, Microseconds> used;
  Microseconds busy = 0;
  SteadyTime at{};
  const int cpus = *rc::gen::inRange(1, 8);
  for (int i = *rc::gen::inRange(2, 8); i > 0; --i) {
    at += Milliseconds{*rc::gen::inRange(1, 40'000)};
    busy += *rc::gen::inRange<Microseconds>(0, 200 * kSecond);
    CpuLook next{at, cpus, busy, {}};
    for (const auto& path : paths) {
      if (*rc::gen::inRange(0, 5) == 0) used[path] = 0;
      used[path] += *rc::gen::inRange<Microseconds>(0, 60 * kSecond);
      if (*rc::gen::inRange(0, 4) == 0) continue;
      next.cgroups.push_back({path, *rc::gen::element<std::string>("x", "y", "z", ""), used[path]});
    }
    looks.push_back(std::move(next));
  }
  return looks;
}

TEST(CpuTimeProperty, TasksIdleAndUnattributedAreTheWholeExactly) {
  EXPECT_TRUE(rc::check([] {
    CpuMeter meter;
    for (const auto& next : random_looks()) {
      const auto interval = meter.update(next);
      if (!interval) continue;
      RC_ASSERT(told(*interval) == interval->capacity);
      RC_ASSERT(interval->idle >= 0);
      RC_ASSERT(interval->unattributed >= 0);
      const auto energy = *rc::gen::inRange<std::int64_t>(0, std::numeric_limits<std::int64_t>::max());
      for (const auto policy : {CpuPolicy::proportional, CpuPolicy::keep_idle}) {
        const auto split = split_by_cpu_time(energy, *interval, policy);
        std::int64_t sum = split.unattributed + split.idle;
        for (const auto& [task, part] : split.tasks) {
          RC_ASSERT(part >= 0);
          if (interval->tasks.at(task) == 0) RC_ASSERT(part == 0);
          sum += part;
        }
        RC_ASSERT(sum == energy);
      }
    }
  }));
}

}  // namespace
}  // namespace tidewatt::attribution
