// Limits that bound nothing, and a machine that several meters measure: each joule once, none thrown away.
#include <gtest/gtest.h>

#include "beats.h"

namespace tidewatt::ledger {
namespace {

using namespace testing;
using std::chrono::seconds;

constexpr std::int64_t kJoule = 1'000'000;

BeatBuilder meter(std::uint64_t seq, int at, int index, std::optional<double> watts,
                  const std::string& agent = "a") {
  BeatBuilder builder("n1", seq, at);
  builder.gpu(index, watts);
  builder.last().uuid.clear();
  builder.last().domain = kDomainPlatform;
  builder.beat.agent_id = agent;
  return builder;
}

TEST(Limits, AProcessorAboveItsFirstPowerLimitIsBookedByItsCounter) {
  Books books;
  for (int i = 0; i <= 3; ++i) {
    auto beat = BeatBuilder("n1", static_cast<std::uint64_t>(i) + 1, i * 20).gpu(0, 55, i * 20 * 55.0);
    beat.last().domain = kDomainCpuPackage;
    beat.last().power_limit = Watts{15};
    books.take(beat);
  }
  EXPECT_EQ(books.node("n1", "cpu_package").energy.n, 3 * 20 * 55 * kJoule);
}

TEST(Limits, AMachineAboveACapThatIsOffIsBooked) {
  Books books;
  for (int i = 0; i <= 2; ++i) {
    auto beat = meter(static_cast<std::uint64_t>(i) + 1, i * 20, 20, 429);
    beat.last().power_limit = Watts{100};
    books.take(beat);
  }
  EXPECT_EQ(books.node("n1", "platform").energy.n, 40 * 429 * kJoule);
}

TEST(Limits, ALimitLoweredMeanwhileDoesNotJudgeTheTimeBefore) {
  Books books;
  const auto beat = [&](std::uint64_t seq, double watts, double counter, double limit) {
    auto made = BeatBuilder("n1", seq, static_cast<int>(seq - 1) * 20).gpu(0, watts, counter);
    made.last().power_limit = Watts{limit};
    books.take(made);
  };
  beat(1, 690, 0, 700);
  beat(2, 690, 13'800, 700);
  beat(3, 690, 27'600, 200);
  beat(4, 199, 31'580, 200);
  EXPECT_EQ(books.node("n1").energy.n, 31'580 * kJoule);
  EXPECT_EQ(books.node("n1").gap, seconds{0});
}

TEST(Limits, TheLoweredLimitJudgesWhatComesAfter) {
  Books books;
  const auto beat = [&](std::uint64_t seq, double counter, double limit) {
    auto made = BeatBuilder("n1", seq, static_cast<int>(seq - 1) * 20).gpu(0, 190, counter);
    made.last().power_limit = Watts{limit};
    books.take(made);
  };
  beat(1, 0, 700);
  beat(2, 3'800, 200);
  beat(3, 3'800 + 20 * 600, 200);  // three times the limit that held all the time
  EXPECT_EQ(books.node("n1").energy.n, (3'800 + 20 * 190) * kJoule);
}

TEST(Limits, SecondsOfWhichNothingCouldBeBookedAreAGap) {
  Books books;
  const auto beat = [&](std::uint64_t seq, double watts, double counter) {
    auto made = BeatBuilder("n1", seq, static_cast<int>(seq - 1) * 20).gpu(0, watts, counter);
    made.last().power_limit = Watts{100};
    books.take(made);
  };
  beat(1, 90, 0);
  beat(2, 9'000, 180'000);
  EXPECT_EQ(books.node("n1").energy.n, 0);
  EXPECT_EQ(books.node("n1").covered, seconds{0});
  EXPECT_EQ(books.node("n1").gap, seconds{20});
  EXPECT_EQ(books.of(Scope::device, "n1/0").gap, seconds{20});
}

TEST(OneMeter, TwoAgentsThatMeterOneMachineAreNotAdded) {
  Books books;
  for (int i = 0; i <= 30; ++i) {
    const auto seq = static_cast<std::uint64_t>(i) + 1;
    books.take(meter(seq, i * 20, 0, 100, "in-band"));
    books.take(meter(seq, i * 20 + 1, 20, 100, "out-of-band"));
  }
  const auto& node = books.node("n1", "platform");
  EXPECT_EQ(node.energy.n, 601 * 100 * kJoule);
  EXPECT_EQ(node.covered, seconds{601});
  EXPECT_EQ(node.gap, seconds{0});
}

TEST(OneMeter, AMeterThatComesAndGoesBooksNoSecondThatTheOtherBooked) {
  Books books;
  for (int i = 0; i <= 30; ++i)
    books.take(meter(static_cast<std::uint64_t>(i) + 1, i * 20, i % 3 == 0 ? 0 : 10, 100));
  const auto& node = books.node("n1", "platform");
  EXPECT_EQ(node.energy.n + node.gap.count() * 100'000, 600 * 100 * kJoule);
  EXPECT_LE(node.gap, seconds{20}) << "only until the second meter was known";
  EXPECT_EQ(node.partial, seconds{0}) << "one meter is enough";
}

TEST(OneMeter, TwoMetersInOneBeatCountOnce) {
  Books books;
  for (int i = 0; i <= 3; ++i) {
    auto beat = meter(static_cast<std::uint64_t>(i) + 1, i * 20, 0, 100);
    beat.gpu(10, 100);
    beat.last().domain = kDomainPlatform;
    books.take(beat);
  }
  EXPECT_EQ(books.node("n1", "platform").energy.n, 60 * 100 * kJoule);
}

TEST(OneMeter, BeatsOfTheOtherAgentThatComeLateAddNothing) {
  Books books;
  for (int i = 0; i <= 3; ++i) books.take(meter(static_cast<std::uint64_t>(i) + 1, i * 20, 0, 100, "one"));
  for (int i = 0; i <= 3; ++i) books.take(meter(static_cast<std::uint64_t>(i) + 1, i * 20, 20, 100, "two"));
  EXPECT_EQ(books.node("n1", "platform").energy.n, 60 * 100 * kJoule);
}

}  // namespace
}  // namespace tidewatt::ledger
