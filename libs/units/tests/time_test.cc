#include "tidewatt/units/time.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tidewatt {
namespace {

using namespace std::chrono_literals;

TEST(Rfc3339, ReadsUtcAndOffsets) {
  const auto at = parse_rfc3339("2026-11-29T08:00:20.500Z");
  ASSERT_TRUE(at);
  EXPECT_EQ(parse_rfc3339("2026-11-29T16:00:20.5+08:00"), at);
  EXPECT_EQ(parse_rfc3339("2026-11-29T08:00:20.500999Z"), at);
  EXPECT_EQ(format_rfc3339(*at), "2026-11-29T08:00:20.500Z");
  EXPECT_EQ(format_rfc3339_short(*at - 500ms), "2026-11-29T08:00:20Z");
}

TEST(Rfc3339, RefusesWhatIsNotAnInstant) {
  for (const char* bad :
       {"", "2026-11-29", "2026-11-29T08:00:20", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
        "1969-12-31T23:59:59Z", "2026-11-29T24:00:00Z", "2026-11-29T08:00:20.Z", "2026-11-29T08:00:20Zx",
        "20261129T080020Z", "2026-11-29T08:00:20+8"})
    EXPECT_EQ(parse_rfc3339(bad), std::nullopt) << bad;
}

RC_GTEST_PROP(Rfc3339, PrintThenParseIsTheSame, ()) {
  const UtcTime at{Milliseconds{*rc::gen::inRange<std::int64_t>(0, 250'000'000'000'000)}};
  RC_ASSERT(parse_rfc3339(format_rfc3339(at)) == at);
}

TEST(Duration, ReadsUnits) {
  EXPECT_EQ(parse_duration("24h"), Milliseconds{24h});
  EXPECT_EQ(parse_duration("7d"), Milliseconds{168h});
  EXPECT_EQ(parse_duration("250ms"), 250ms);
  for (const char* bad : {"", "h", "0s", "-1s", "1.5h", "5", "10 s", "99999999999999999999d", "200000d"})
    EXPECT_EQ(parse_duration(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace tidewatt
