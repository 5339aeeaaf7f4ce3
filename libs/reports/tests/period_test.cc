#include "tidewatt/reports/period.h"

#include <gtest/gtest.h>

namespace tidewatt::reports {
namespace {

std::string span(std::string_view text) {
  const auto period = parse_period(text);
  if (!period) return "none";
  const auto window = period->window();
  return format_rfc3339_short(start_of(window.from)).substr(0, 10) + " " +
         format_rfc3339_short(start_of(window.to)).substr(0, 10);
}

TEST(Period, IsAMonthAQuarterOrAYearInUtc) {
  EXPECT_EQ(span("2026-11"), "2026-11-01 2026-12-01");
  EXPECT_EQ(span("2026-Q4"), "2026-10-01 2027-01-01");
  EXPECT_EQ(span("2026-Q1"), "2026-01-01 2026-04-01");
  EXPECT_EQ(span("2024"), "2024-01-01 2025-01-01");
  EXPECT_EQ(parse_period("2024-02")->window().hours(), 29U * 24);
}

TEST(Period, IsNothingElse) {
  for (const auto* text : {"", "26", "2026-13", "2026-00", "2026-Q5", "2026-Q0", "2026-q1", "2026-Q",
                           "2026-Q12", "2026-1", "2026-11-01", "last", "1969", "20261"})
    EXPECT_EQ(span(text), "none") << text;
}

}  // namespace
}  // namespace tidewatt::reports
