#include "tidewatt/tasks/epoch_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidewatt::tasks {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

EpochTable read(std::string_view text) {
  auto table = read_epoch_csv(text);
  EXPECT_TRUE(table) << table.error().to_string();
  return table ? *table : EpochTable{};
}

std::string refusal(std::string_view text) {
  const auto table = read_epoch_csv(text);
  EXPECT_FALSE(table) << text;
  const auto line = table ? std::string{} : table.error().to_string();
  EXPECT_EQ(line.find('\n'), std::string::npos);
  return line;
}

TEST(EpochCsv, ReadsEpochEnergyAndSeconds) {
  const auto table = read("epoch,energy_j,seconds\n1,42494.3,6.696\n2,43091.5,5.944\n");
  ASSERT_EQ(table.epochs.size(), 2U);
  EXPECT_EQ(table.epochs[0].number, 1);
  EXPECT_EQ(table.epochs[0].energy, Joules{42494.3});
  EXPECT_EQ(table.epochs[1].seconds, Seconds{5.944});
  EXPECT_THAT(table.notes, IsEmpty());
}

TEST(EpochCsv, FindsColumnsByNameInAnyOrderAndLeavesOthersAlone) {
  const auto table = read("\xEF\xBB\xBFloss, Seconds ,\"Energy_J\",EPOCH\r\n0.3,2,10,7\r\n\r\n# end\r\n");
  ASSERT_EQ(table.epochs.size(), 1U);
  EXPECT_EQ(table.epochs[0].number, 7);
  EXPECT_EQ(table.epochs[0].energy, Joules{10});
  EXPECT_EQ(table.epochs[0].seconds, Seconds{2});
}

TEST(EpochCsv, WithoutSecondsTimeIsUnknown) {
  EXPECT_EQ(read("epoch,energy_j\n1,10\n").epochs[0].seconds, std::nullopt);
}

TEST(EpochCsv, UnknownCellsStayUnknownAndAreCounted) {
  const auto table = read("epoch,energy_j,seconds\n1,NaN,1\n2,,1\n3,null,nan\n4,10,-\n");
  ASSERT_EQ(table.epochs.size(), 4U);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(table.epochs[static_cast<std::size_t>(i)].energy, std::nullopt);
  EXPECT_EQ(table.epochs[3].seconds, std::nullopt);
  EXPECT_THAT(table.notes, ElementsAre(HasSubstr("3 rows without energy")));
}

TEST(EpochCsv, WholeNumbersWithAPointAreWhole) {
  EXPECT_EQ(read("epoch,energy_j\n3.0,1\n").epochs[0].number, 3);
}

TEST(EpochCsv, EpochsThatCountBackOrSkipAreKeptAndNoted) {
  const auto table = read("epoch,energy_j\n5,1\n6,1\n4,1\n9,1\n");
  EXPECT_EQ(table.epochs.size(), 4U);
  EXPECT_THAT(table.notes, ElementsAre(HasSubstr("counts back 1 time"), HasSubstr("skips 1 time")));
}

TEST(EpochCsv, RefusesWhatIsNoNumberWithItsLine) {
  EXPECT_THAT(refusal("epoch,energy_j\n1,10\n2,ten\n"), HasSubstr("line 3: energy_j \"ten\" is no number"));
  EXPECT_THAT(refusal("epoch,energy_j\n1.5,10\n"), HasSubstr("line 2: epoch \"1.5\" is no whole number"));
  EXPECT_THAT(refusal("epoch,energy_j\nnan,10\n"), HasSubstr("epoch \"nan\""));
  EXPECT_THAT(refusal("epoch,energy_j\n1,inf\n"), HasSubstr("line 2: energy_j \"inf\""));
  EXPECT_THAT(refusal("epoch,energy_j\n1,10 J\n"), HasSubstr("\"10 J\""));
}

TEST(EpochCsv, RefusesAmountsThatCannotBe) {
  EXPECT_THAT(refusal("epoch,energy_j\n1,-3\n"), HasSubstr("-3 is not within 0 to 1e+18"));
  EXPECT_THAT(refusal("epoch,energy_j\n1,1e300\n"), HasSubstr("1e300"));
  EXPECT_THAT(refusal("epoch,energy_j\n1,1e999\n"), HasSubstr("1e999"));
  EXPECT_THAT(refusal("epoch,energy_j,seconds\n1,1,-1\n"), HasSubstr("seconds -1"));
  EXPECT_THAT(refusal("epoch,energy_j\n99999999999999999999,1\n"), HasSubstr("no whole number"));
}

TEST(EpochCsv, RefusesAFileWithoutItsColumnsOrRows) {
  EXPECT_THAT(refusal(""), HasSubstr("the file is empty"));
  EXPECT_THAT(refusal("epoch,energy_j\n"), HasSubstr("no epoch after the first line"));
  EXPECT_THAT(refusal("1,2,3\n"), HasSubstr("no column \"epoch\""));
  EXPECT_THAT(refusal("epoch,joules\n1,2\n"), HasSubstr("no column \"energy_j\""));
  EXPECT_THAT(refusal("epoch,energy_j,energy_j\n1,2,3\n"), HasSubstr("\"energy_j\" is there twice"));
}

TEST(EpochCsv, RefusesARowWithOtherCellsThanTheFirstLine) {
  EXPECT_THAT(refusal("epoch,energy_j,seconds\n1,10\n"),
              HasSubstr("line 2: 2 cells where the first line has 3"));
  EXPECT_THAT(refusal("epoch,energy_j\n1,10,3\n"), HasSubstr("line 2: 3 cells"));
}

TEST(EpochCsv, ControlCharactersAndLengthDoNotReachTheMessage) {
  const auto line = refusal("epoch,energy_j\n1,\x1b[31m" + std::string(5000, 'x') + "\n");
  EXPECT_LT(line.size(), 200U);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace tidewatt::tasks
