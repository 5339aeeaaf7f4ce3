#include "tidewatt/carbon/provider_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidewatt::carbon {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const UtcTime kNow = *parse_rfc3339("2026-03-10T12:20:30.5Z");
const ProviderSecrets kSecrets{"em-token", "user", "pass", "gg-key", "peer-token"};

std::string url(const char* chain, Want want, const char* zone = "DE") {
  const auto call = call_for(parse_chain(zone, chain)->providers.front(), want, kNow, kSecrets);
  return call ? call->url : "none";
}

TEST(CallFor, ElectricityMapsIsNeverAskedByTheCallersLocation) {
  EXPECT_EQ(url("electricitymaps", Want::latest),
            "https://api.electricitymaps.com/v3/carbon-intensity/latest?zone=DE&emissionFactorType=lifecycle"
            "&shouldUseFallbackCallerLookup=false");
  EXPECT_THAT(url("electricitymaps basis=production boundary=direct", Want::forecast),
              HasSubstr("/v4/carbon-intensity/forecast?zone=DE&emissionFactorType=direct&flowTraced=false"
                        "&disableCallerLookup=true&horizonHours=72"));
}

TEST(CallFor, WattTimeStampsCarryAZoneAndLoginIsNotUnderV3) {
  EXPECT_EQ(url("watttime zone=CAISO_NORTH", Want::latest),
            "https://api.watttime.org/v3/historical?region=CAISO_NORTH&signal_type=co2_moer"
            "&start=2026-03-10T09:20:30Z&end=2026-03-10T12:20:30Z");
  const auto login = login_call(parse_chain("X", "watttime")->providers.front(), kSecrets);
  EXPECT_EQ(login.url, "https://api.watttime.org/login");
  EXPECT_EQ(login.headers.front().second, "Basic dXNlcjpwYXNz");
}

TEST(CallFor, TheBritishServiceWantsMinutesAndTellsNationAndRegionsApart) {
  EXPECT_EQ(url("uk", Want::forecast, "GB"),
            "https://api.carbonintensity.org.uk/intensity/2026-03-10T12:20Z/fw48h");
  EXPECT_EQ(url("uk zone=13", Want::history, "London"),
            "https://api.carbonintensity.org.uk/regional/intensity/2026-03-10T12:20Z/pt24h/regionid/13");
}

TEST(CallFor, OneAnswerOfEnergyChartsHoldsAll) {
  EXPECT_EQ(url("energycharts", Want::latest), "https://api.energy-charts.info/co2eq?country=de");
  EXPECT_EQ(url("energycharts", Want::forecast), "none");
}

TEST(CallFor, AKeyInTheUrlIsNotInWhatIsShown) {
  const auto call =
      call_for(parse_chain("DE", "greengrid zone=DE_LU")->providers.front(), Want::forecast, kNow, kSecrets);
  EXPECT_THAT(call->url, HasSubstr("apikey=gg-key"));
  EXPECT_THAT(call->endpoint, Not(HasSubstr("gg-key")));
}

TEST(CallFor, PeersAreAskedWithTheirTokenAtTheirAddress) {
  const auto call = call_for(parse_chain("DE", "peer url=https://hub.example/ zone=DE-LU")->providers.front(),
                             Want::latest, kNow, kSecrets);
  EXPECT_EQ(call->url, "https://hub.example/api/v1/carbon/DE-LU/latest");
  EXPECT_EQ(call->headers.front().second, "Bearer peer-token");
}

TEST(Base64, FillsUpWithEquals) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
}

}  // namespace
}  // namespace tidewatt::carbon
