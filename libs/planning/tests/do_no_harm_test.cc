#include "tidewatt/planning/do_no_harm.h"

#include <gtest/gtest.h>

#include <random>

namespace tidewatt::planning {
namespace {

constexpr std::size_t kDay = 24;

/// Dirty by day, clean by night.
std::vector<double> days(std::size_t count) {
  std::vector<double> hours;
  for (std::size_t i = 0; i < count * kDay; ++i) hours.push_back(i % kDay < 6 ? 100 : 400);
  return hours;
}

TEST(RecentError, TakesOutTheMeanErrorOfEachHour) {
  const auto actual = days(10);
  auto foreseen = actual;
  for (std::size_t i = 0; i < foreseen.size(); ++i) foreseen[i] += i % kDay == 3 ? 50 : -20;
  const RecentError error{foreseen, actual, kDay};
  const std::vector<double> next{foreseen.begin(), foreseen.begin() + 48};
  const auto corrected = error.corrected(next);
  for (std::size_t k = 0; k < next.size(); ++k) EXPECT_NEAR(corrected[k], actual[k], 1e-9);
}

TEST(RecentError, OfTheLastErrorLessIsLeftEachHour) {
  // Errors that halve from hour to hour, pushed anew at random.
  std::mt19937 random{5};
  const auto foreseen = days(28);
  auto actual = foreseen;
  double error = 0;
  for (auto& value : actual) {
    error = 0.5 * error + static_cast<double>(random() % 41) - 20;
    value += error;
  }
  const std::vector<double> flat(4, 1000);
  const auto corrected = RecentError{foreseen, actual, kDay}.corrected(flat);
  const double first = corrected[0] - 1000;
  EXPECT_NEAR(first, 0.5 * error, 8);
  // A time of day's mean of 28 errors is off by some grams itself.
  EXPECT_LT(std::abs(corrected[3] - 1000), std::abs(first) + 8);
}

TEST(RecentError, NeverForeseesLessThanNothing) {
  const std::vector<double> foreseen(kDay, 500);
  const std::vector<double> actual(kDay, 10);
  for (const double value : RecentError{foreseen, actual, kDay}.corrected(std::vector<double>(30, 5)))
    EXPECT_EQ(value, 0);
}

TEST(RecentError, WithoutADayTheForecastStands) {
  const std::vector<double> foreseen(kDay - 1, 500);
  const std::vector<double> actual(kDay - 1, 10);
  const std::vector<double> next{1, 2, 3};
  EXPECT_EQ((RecentError{foreseen, actual, kDay}.corrected(next)), next);
}

TEST(HarmRecord, AllowsNothingBeforeItsLeast) {
  HarmRecord record{100, 30};
  for (int i = 0; i < 29; ++i) record.add({10, 10});
  EXPECT_FALSE(record.allows(10));
  record.add({10, 10});
  EXPECT_TRUE(record.allows(10));
  EXPECT_NEAR(record.realised_at(10), 10, 1e-9);
}

TEST(HarmRecord, RefusesWhatHasCostMoreThanItGave) {
  // Small promises lost 4, great ones kept half.
  HarmRecord record{1000, 30};
  for (int i = 0; i < 200; ++i) record.add({4, -4});
  for (int i = 0; i < 200; ++i) record.add({40, 20});
  EXPECT_FALSE(record.allows(4));
  EXPECT_TRUE(record.allows(40));
}

TEST(HarmRecord, ForgetsTheOldest) {
  HarmRecord record{100, 30};
  for (int i = 0; i < 100; ++i) record.add({10, -5});
  EXPECT_FALSE(record.allows(10));
  for (int i = 0; i < 100; ++i) record.add({10, 5});
  EXPECT_TRUE(record.allows(10));
  EXPECT_NEAR(record.realised_at(10), 5, 1e-6);
}

TEST(Judge, ChoosesBySeenAndPaysWhatCame) {
  const std::vector<double> seen{5, 1, 4, 2, 3};
  const std::vector<double> paid{50, 10, 40, 90, 30};
  const auto window = judge({2, 3, false}, seen, paid);
  EXPECT_DOUBLE_EQ(window.expected, (6 - 5) / 2.0);
  EXPECT_DOUBLE_EQ(window.realised, (60 - 50) / 2.0);
  const auto pieces = judge({2, 3, true}, seen, paid);
  EXPECT_DOUBLE_EQ(pieces.expected, (6 - 3) / 2.0);
  EXPECT_DOUBLE_EQ(pieces.realised, (60 - 100) / 2.0);
}

TEST(Replay, KnowsNothingOfWhatComesLater) {
  // The same past with another future gives the same record of the decisions that both hold.
  const auto all = days(60);
  ForecastPast whole{all, all};
  ForecastPast part = whole;
  part.foreseen.resize(40 * kDay);
  part.actual.resize(40 * kDay);
  const WaitKind kind{2, 12, false};
  HarmRecord by_hand{kJudgedMost, kJudgedLeast};
  for (std::size_t at = kDay; at + 14 <= part.actual.size(); ++at)
    by_hand.add(
        judge(kind, std::span{whole.foreseen}.subspan(at, 14), std::span{whole.actual}.subspan(at, 14)));
  const auto record = Replay{part, kDay}.record(kind);
  EXPECT_EQ(record.size(), by_hand.size());
  EXPECT_NEAR(record.realised_at(300), by_hand.realised_at(300), 1e-6);
  EXPECT_TRUE(record.allows(300));
}

TEST(Replay, AForecastThatIsAlwaysWrongIsNotFollowed) {
  // It promises the clean hours twelve hours late.
  const auto actual = days(60);
  std::vector<double> foreseen;
  for (std::size_t i = 0; i < actual.size(); ++i) foreseen.push_back((i + 12) % kDay < 6 ? 100.0 : 400.0);
  // Its error is the same every day, so that it is learnt, and following the corrected forecast pays.
  EXPECT_TRUE((Replay{{foreseen, actual}, kDay}.record({2, 12, false}).allows(300)));
  // Errors that nobody can learn: every second day the other way round.
  std::mt19937 random{3};
  auto noise = actual;
  for (auto& value : noise) value = 100 + static_cast<double>(random() % 300);
  std::vector<double> flat(actual.size(), 250);
  const auto record = Replay{{noise, flat}, kDay}.record({2, 12, false});
  EXPECT_FALSE(record.allows(100)) << "nothing was ever saved where intensity is even";
}

}  // namespace
}  // namespace tidewatt::planning
