#include "tidewatt/carbon/hourly_series.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace tidewatt::carbon {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ReadSeries read(std::string_view text, std::string_view column = "ci") {
  auto result = read_series_csv(text, column);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().to_string());
  return result ? *result : ReadSeries{};
}

std::string error_of(std::string_view text, std::string_view column = "ci") {
  const auto result = read_series_csv(text, column);
  EXPECT_FALSE(result.has_value());
  return result ? "" : result.error().to_string();
}

/// Rows every `minutes` from a start; value(i) of the i-th.
template <class F>
std::string rows(int count, int minutes, F value) {
  std::string text = "ts_utc,ci\n";
  const auto start = *parse_rfc3339("2023-01-01T00:00:00Z");
  for (int i = 0; i < count; ++i)
    text += fmt::format("{},{}\n", format_rfc3339_short(start + std::chrono::minutes{i * minutes}), value(i));
  return text;
}

TEST(ReadSeriesCsv, TakesTheNamedColumnByTheHour) {
  const auto got = read("ts_utc,a,ci\n2023-01-01T00:00Z,1,100\n2023-01-01T01:00Z,2,110.5\n");
  EXPECT_EQ(start_of(got.series.begin), *parse_rfc3339("2023-01-01T00:00:00Z"));
  EXPECT_THAT(got.series.hours, ::testing::ElementsAre(100.0, 110.5));
  EXPECT_THAT(got.notes, IsEmpty());
}

TEST(ReadSeriesCsv, ReadsTimesWithOffsetsSecondsSpacesAndSemicolons) {
  const auto got =
      read("t;ci\n2023-01-01 02:00:00+02:00;1\n2023-01-01T03:00+0200;2\n\"2023-01-01T02:00:00.000Z\";3\n");
  EXPECT_EQ(start_of(got.series.begin), *parse_rfc3339("2023-01-01T00:00:00Z"));
  EXPECT_THAT(got.series.hours, ::testing::ElementsAre(1.0, 2.0, 3.0));
}

TEST(ReadSeriesCsv, ClockChangesOfLocalTimesWithOffsetLeaveNoGapAndNoDouble) {
  const auto autumn = read(
      "t,ci\n2023-10-29T01:00+02:00,1\n2023-10-29T02:00+02:00,2\n2023-10-29T02:00+01:00,3\n2023-10-29T03:00+"
      "01:00,4\n");
  EXPECT_THAT(autumn.series.hours, ::testing::ElementsAre(1.0, 2.0, 3.0, 4.0));
  EXPECT_THAT(autumn.notes, IsEmpty());
  const auto spring =
      read("t,ci\n2023-03-26T01:00+01:00,1\n2023-03-26T03:00+02:00,2\n2023-03-26T04:00+02:00,3\n");
  EXPECT_THAT(spring.series.hours, ::testing::ElementsAre(1.0, 2.0, 3.0));
}

TEST(ReadSeriesCsv, TimesWithoutZoneAreUtcAndSuspectedWhenAnHourComesTwice) {
  const auto got =
      read("t,ci\n2023-10-29 01:00,1\n2023-10-29 02:00,2\n2023-10-29 02:00,3\n2023-10-29 03:00,4\n");
  EXPECT_THAT(got.series.hours, ::testing::ElementsAre(1.0, 3.0, 4.0));
  EXPECT_THAT(got.notes, Contains(HasSubstr("read as UTC")));
  EXPECT_THAT(got.notes, Contains(HasSubstr("local")));
}

TEST(ReadSeriesCsv, TheLaterOfTwoRowsForOneInstantCounts) {
  const auto got = read("t,ci\n2023-01-01T00:00Z,1\n2023-01-01T01:00Z,2\n2023-01-01T00:00Z,7\n");
  EXPECT_THAT(got.series.hours, ::testing::ElementsAre(7.0, 2.0));
  EXPECT_THAT(got.notes, Contains(HasSubstr("repeats an instant (first 2023-01-01T00:00:00Z)")));
  EXPECT_THAT(got.notes, Contains(HasSubstr("out of order")));
}

TEST(ReadSeriesCsv, GapsAndUnusableCellsAreUnknownAndTold) {
  const auto got = read(
      "t,ci\n2023-01-01T00:00Z,1\n2023-01-01T01:00Z,\n2023-01-01T02:00Z,nan\n2023-01-01T03:00Z,-5\n"
      "2023-01-01T04:00Z,2\n2023-01-01T05:00Z,2\n2023-01-01T08:00Z,3\n");
  EXPECT_THAT(got.series.hours, ::testing::ElementsAre(1.0, std::nullopt, std::nullopt, std::nullopt, 2.0,
                                                       2.0, std::nullopt, std::nullopt, 3.0, 3.0, 3.0));
  EXPECT_THAT(got.notes,
              Contains(HasSubstr("5 hours have no value (the longest gap: 3 h from 2023-01-01T01")));
  EXPECT_THAT(got.notes, Contains(HasSubstr("1 value is below 0")));
  EXPECT_THAT(got.notes, Contains(HasSubstr("1 cell is no number")));
}

TEST(ReadSeriesCsv, QuarterHoursBecomeMeansOfHours) {
  const auto got = read(rows(8, 15, [](int i) { return i * 10; }));
  EXPECT_THAT(got.series.hours, ::testing::ElementsAre(15.0, 55.0));
  EXPECT_THAT(got.notes, Contains(HasSubstr("the step is 15 min; hourly means")));
}

TEST(ReadSeriesCsv, AChangeOfStepIsToldAndBothPartsAreRead) {
  std::string text = "t,ci\n";
  const auto start = *parse_rfc3339("2023-01-01T00:00:00Z");
  for (int hour = 0; hour < 48; ++hour)
    text += fmt::format("{},{}\n", format_rfc3339_short(start + std::chrono::hours{hour}), 100 + hour);
  for (int half = 0; half < 96; ++half)
    text += fmt::format(
        "{},{}\n", format_rfc3339_short(start + std::chrono::hours{48} + std::chrono::minutes{30 * half}),
        half % 2 == 0 ? 200 : 220);
  const auto got = read(text);
  ASSERT_EQ(got.series.hours.size(), 96U);
  EXPECT_EQ(got.series.hours[47], 147.0);
  EXPECT_EQ(got.series.hours[95], 210.0);
  EXPECT_THAT(got.notes, Contains("the step changes from 60 to 30 min at 2023-01-03T00:00:00Z"));
}

TEST(ReadSeriesCsv, ThreeHourSteppedValuesHoldForTheirStep) {
  const auto got = read(rows(3, 180, [](int i) { return i; }));
  EXPECT_THAT(got.series.hours, ::testing::ElementsAre(0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0));
}

TEST(ReadSeriesCsv, AStandingValueIsToldInASeriesThatElseMoves) {
  const auto got =
      read(rows(400, 60, [](int i) { return i >= 250 && i < 300 ? 55.5 : 100 + (i * 37) % 101; }));
  EXPECT_THAT(got.notes, Contains(HasSubstr("43 hours repeat the value of the 7 h before")));
  const auto flat = read(rows(400, 60, [](int) { return 42; }));
  EXPECT_THAT(flat.notes, IsEmpty());
}

TEST(ReadSeriesCsv, AStepInTheLevelIsTold) {
  const auto daily = [](int i) { return 100 + (i / 24 * 13) % 20 + i % 24; };
  const auto step = read(rows(60 * 24, 60, [&](int i) { return i < 30 * 24 ? daily(i) : 2 * daily(i); }));
  EXPECT_THAT(step.notes, Contains(HasSubstr("changes by a factor of 1.99 at 2023-01-31T00:00:00Z")));
  EXPECT_THAT(read(rows(60 * 24, 60, daily)).notes, IsEmpty());
}

TEST(ReadSeriesCsv, HoursWithoutValueAtTheEndAreLeftOutAndTold) {
  const auto got = read("t,ci\n2023-01-01T00:00Z,1\n2023-01-01T01:00Z,2\n2023-01-01T02:00Z,\n");
  EXPECT_EQ(got.series.hours.size(), 2U);
  EXPECT_THAT(got.notes, Contains(HasSubstr("1 hour without value at the end")));
}

TEST(ReadSeriesCsv, MessagesAboutForeignBytesArePlainText) {
  const auto said = error_of("t,\xff\xfe\x1b[31m,\xc3\n2023-01-01T00:00Z,1,2\n");
  EXPECT_TRUE(std::all_of(said.begin(), said.end(), [](char c) { return c >= ' ' && c <= '~'; })) << said;
}

TEST(StuckHours, AMarkNeverDependsOnWhatFollows) {
  const auto whole =
      read(rows(400, 60, [](int i) { return i >= 250 && i < 300 ? 55.5 : 100 + (i * 37) % 101; }));
  const auto all = stuck_hours(whole.series);
  for (const std::size_t cut : {252U, 258U, 270U, 320U}) {
    auto part = whole.series;
    part.hours.resize(cut);
    const auto seen = stuck_hours(part);
    EXPECT_TRUE(std::equal(seen.begin(), seen.end(), all.begin())) << cut;
  }
}

TEST(ReadSeriesCsv, ErrorsNameTheLineAndWhatThereIs) {
  EXPECT_THAT(error_of("t,a,b\n2023-01-01T00:00Z,1,2\n"), HasSubstr("no column \"ci\" (the file has: a, b)"));
  EXPECT_THAT(error_of("t,ci\nyesterday,1\n"), HasSubstr("line 2: \"yesterday\" is no time"));
  EXPECT_THAT(error_of("t,ci\n"), HasSubstr("no row"));
  EXPECT_THAT(error_of(""), HasSubstr("empty"));
  EXPECT_THAT(error_of("t,ci\n2023-01-01T00:00Z,high\n"), HasSubstr("holds no number"));
  EXPECT_THAT(error_of("t,ci\n2023-01-01T00:00Z,1\n2023-01-01T00:15Z,\n2023-01-01T00:30Z,\n"),
              HasSubstr("no hour of which half"));
  EXPECT_THAT(error_of("t,ci\n1990-01-01T00:00Z,1\n2023-01-01T00:00Z,1\n"), HasSubstr("20 years"));
  EXPECT_THAT(error_of("t,ci\nye\x01ster,1\n"), ::testing::Not(HasSubstr("\x01")));
}

TEST(ReadSeriesCsv, ANumberWrittenInAnotherWayIsRefusedWithItsLineAndColumn) {
  const auto line = [](std::string_view cell, char separator = ',') {
    return fmt::format("t{0}ci\n2023-01-01T00:00Z{0}300\n2023-01-01T01:00Z{0}{1}\n", separator, cell);
  };
  for (const std::string_view cell :
       {"\"301,5\"", "\"1.234,5\"", "\"1,234.5\"", "1 234", "1'234", "1.234.567", "\"-3,5\""})
    EXPECT_THAT(error_of(line(cell)),
                ::testing::AllOf(HasSubstr("line 3, column \"ci\""), HasSubstr("is no number")))
        << cell;
  EXPECT_THAT(error_of(line("301,5", ';')), HasSubstr("line 3, column \"ci\": \"301,5\" is no number"));
  // Without quotes the comma parts it.
  EXPECT_THAT(error_of(line("301,5")), HasSubstr("line 3: 3 cells where the first line names 2"));
  EXPECT_THAT(error_of(line("\"301")), HasSubstr("line 3: a quote isn't closed"));
  EXPECT_THAT(error_of(line("\"301\"5")), HasSubstr("line 3: a quote isn't closed"));
}

TEST(ReadSeriesCsv, QuotesAreNoPartOfACell) {
  const auto got = read("\"t\", \"ci\"\r\n\"2023-01-01T00:00Z\",\"1.5\"\r\n2023-01-01T01:00Z, 2 ,\r\n");
  EXPECT_THAT(got.series.hours, ::testing::ElementsAre(1.5, 2.0));
}

TEST(ReadWeatherCsv, TakesTheNumericColumnsAndDropsRowsOfZeros) {
  const auto got = read_weather_csv(
      "t,wind,temp,place\n2023-01-01T00:00Z,3,-4,x\n2023-01-01T01:00Z,0,0,0\n2023-01-01T02:00Z,5,0,y\n");
  ASSERT_TRUE(got.has_value());
  EXPECT_THAT(got->table.names, ::testing::ElementsAre("wind", "temp"));
  EXPECT_EQ(got->table.columns[1][0], -4.0);
  EXPECT_EQ(got->table.columns[0][1], std::nullopt);
  EXPECT_EQ(got->table.columns[1][2], 0.0);
  EXPECT_THAT(got->notes, Contains(HasSubstr("\"place\" holds no number")));
  EXPECT_THAT(got->notes, Contains(HasSubstr("1 row is 0 in each column")));
}

}  // namespace
}  // namespace tidewatt::carbon
