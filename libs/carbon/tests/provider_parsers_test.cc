#include "tidewatt/carbon/provider_parsers.h"

#include <gtest/gtest.h>

#include <string>

namespace tidewatt::carbon {
namespace {

std::string told(std::string_view provider, std::string_view endpoint, std::string_view text,
                 std::string_view zone = {}) {
  const auto signal = parse_provider_payload(provider, endpoint, zone, text);
  if (!signal) return "error";
  std::string all;
  for (const auto& point : signal->points)
    all += format_rfc3339_short(point.start) + "/" + format_rfc3339_short(point.end) + " " +
           std::to_string(point.intensity.value()) + " " + std::string{to_string(point.series.kind)} + " " +
           std::string{to_string(point.quality)} + " " + point.series.zone.value_or("-") + ";";
  for (const auto& one : signal->skipped)
    all += "skip " + (one.start ? format_rfc3339_short(*one.start) : std::string{"?"}) + ";";
  return all;
}

struct Case {
  const char* rule;
  const char* provider;
  const char* endpoint;
  const char* text;
  const char* expected;
};

constexpr Case kCases[] = {
    {"a calendar month ends with it", "electricitymaps",
     "v4/carbon-intensity/past?temporalGranularity=monthly",
     R"({"zone":"XX","datetime":"2031-02-01T00:00:00Z","carbonIntensity":5.5,"isEstimated":false})",
     "2031-02-01T00:00:00Z/2031-03-01T00:00:00Z 5.500000 average measured XX;"},
    {"null is skipped, 0 is a value, order is by time", "electricitymaps", "v3/carbon-intensity/forecast",
     R"({"zone":"XX","forecast":[{"datetime":"2031-02-01T02:00:00Z","carbonIntensity":0},
         {"datetime":"2031-02-01T00:00:00Z","carbonIntensity":7},
         {"datetime":"2031-02-01T01:00:00Z","carbonIntensity":null}]})",
     "2031-02-01T00:00:00Z/2031-02-01T01:00:00Z 7.000000 average forecast XX;"
     "2031-02-01T02:00:00Z/2031-02-01T03:00:00Z 0.000000 average forecast XX;skip 2031-02-01T01:00:00Z;"},
    {"pounds become grams, marginal", "watttime", "v3/historical",
     R"({"data":[{"point_time":"2031-01-01T02:00:00+02:00","value":1000}],"meta":{"region":"XX","units":"lbs_co2_per_mwh",
         "signal_type":"co2_moer","data_point_period_seconds":300}})",
     "2031-01-01T00:00:00Z/2031-01-01T00:05:00Z 453.592370 marginal estimated XX;"},
    {"other units are not guessed", "watttime", "v3/historical",
     R"({"data":[{"point_time":"2031-01-01T00:00:00Z","value":1}],"meta":{"region":"XX","units":"kg_co2_per_mwh",
         "signal_type":"co2_moer","data_point_period_seconds":300}})",
     "skip 2031-01-01T00:00:00Z;"},
    {"actual before forecast", "uk", "intensity",
     R"({"data":[{"from":"2031-01-01T00:00Z","to":"2031-01-01T00:30Z","intensity":{"forecast":1,"actual":2}}]})",
     "2031-01-01T00:00:00Z/2031-01-01T00:30:00Z 2.000000 average estimated GB;"},
    {"stamps are sorted, the last step repeats", "energycharts", "co2eq",
     R"({"unix_seconds":[1800003600,1800000000],"co2eq":[null,1],"co2eq_forecast":[2,3]})",
     "2027-01-15T08:00:00Z/2027-01-15T09:00:00Z 1.000000 average measured -;"
     "2027-01-15T09:00:00Z/2027-01-15T10:00:00Z 2.000000 average forecast -;"},
    {"quarter hours with an offset", "rte", "eco2mix-national-tr/records",
     R"({"results":[{"taux_co2":9,"date_heure":"2031-07-01T02:00:00+02:00"}]})",
     "2031-07-01T00:00:00Z/2031-07-01T00:15:00Z 9.000000 average estimated FR;"},
    {"local stamps in winter", "greengrid", "forecast",
     R"({"zone_data":[{"zone_code":"XX","interval":"2031-01-01T01:00:00","consumption_co2_intensity":4}]})",
     "2031-01-01T00:00:00Z/2031-01-01T01:00:00Z 4.000000 average forecast XX;"},
    {"the hour that clocks leave out is no hour", "greengrid", "forecast",
     R"({"zone_data":[{"zone_code":"XX","interval":"2031-03-30T01:00:00","consumption_co2_intensity":1},
         {"zone_code":"XX","interval":"2031-03-30T02:00:00","consumption_co2_intensity":2},
         {"zone_code":"XX","interval":"2031-03-30T03:00:00","consumption_co2_intensity":3}]})",
     "2031-03-30T00:00:00Z/2031-03-30T01:00:00Z 1.000000 average forecast XX;"
     "2031-03-30T01:00:00Z/2031-03-30T02:00:00Z 3.000000 average forecast XX;skip ?;"},
    {"the hour that clocks repeat is two hours", "greengrid", "forecast",
     R"({"zone_data":[{"zone_code":"XX","interval":"2031-10-26T02:00:00","consumption_co2_intensity":1},
         {"zone_code":"XX","interval":"2031-10-26T02:00:00","consumption_co2_intensity":2},
         {"zone_code":"XX","interval":"2031-10-26T03:00:00","consumption_co2_intensity":3}]})",
     "2031-10-26T00:00:00Z/2031-10-26T01:00:00Z 1.000000 average forecast XX;"
     "2031-10-26T01:00:00Z/2031-10-26T02:00:00Z 2.000000 average forecast XX;"
     "2031-10-26T02:00:00Z/2031-10-26T03:00:00Z 3.000000 average forecast XX;"},
    {"a leap day's last hour ends in March, a month in one has 29 days", "electricitymaps",
     "v4/carbon-intensity/past?temporalGranularity=monthly",
     R"({"zone":"XX","datetime":"2028-02-01T00:00:00Z","carbonIntensity":5,"isEstimated":false})",
     "2028-02-01T00:00:00Z/2028-03-01T00:00:00Z 5.000000 average measured XX;"},
    {"a refusal is an error", "entsoe", "api",
     "<Acknowledgement_MarketDocument><Reason><code>999</code></Reason></Acknowledgement_MarketDocument>",
     "error"},
    {"an error body is an error", "uk", "intensity", R"({"error":{"code":"500","message":"a\nb"}})", "error"},
    {"an empty body is an error", "rte", "records", "", "error"},
};

TEST(ProviderParsers, TellTheRightPoints) {
  for (const auto& one : kCases)
    EXPECT_EQ(told(one.provider, one.endpoint, one.text), one.expected) << one.rule;
}

TEST(ProviderParsers, RefuseAnAnswerForAnotherZone) {
  const auto* text = R"({"zone":"XX","datetime":"2031-02-01T00:00:00Z","carbonIntensity":5})";
  EXPECT_EQ(told("electricitymaps", "v4/carbon-intensity/latest", text, "YY"), "error");
  EXPECT_NE(told("electricitymaps", "v4/carbon-intensity/latest", text, "XX"), "error");
}

TEST(ProviderParsers, ErrorsAreOneLine) {
  const auto signal = parse_provider_payload("uk", "intensity", "", R"({"error":{"message":"a\nb"}})");
  ASSERT_FALSE(signal);
  EXPECT_EQ(signal.error().message.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace tidewatt::carbon
