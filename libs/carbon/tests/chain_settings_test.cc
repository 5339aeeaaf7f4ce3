#include "tidewatt/carbon/chain_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidewatt::carbon {
namespace {

using ::testing::HasSubstr;

std::string error_of(std::string_view text, std::string_view zone = "DE") {
  const auto chain = parse_chain(zone, text);
  return chain ? std::string{"none"} : chain.error().to_string();
}

TEST(ParseChain, TakesProvidersInOrderWithTheirOptions) {
  const auto chain = parse_chain(
      "DE",
      "electricitymaps boundary=direct , csv file=/etc/de.csv column=ci boundary=direct basis=consumption");
  ASSERT_TRUE(chain) << chain.error().to_string();
  ASSERT_EQ(chain->providers.size(), 2U);
  EXPECT_EQ(chain->identity.boundary, SignalBoundary::direct);
  EXPECT_EQ(chain->providers[0].zone, "DE");
  EXPECT_EQ(chain->providers[1].options.at("file"), "/etc/de.csv");
}

TEST(ParseChain, AProviderOfAnotherIdentityIsRefused) {
  EXPECT_THAT(error_of("electricitymaps, watttime zone=CAISO_NORTH"), HasSubstr("another series"));
  EXPECT_THAT(error_of("electricitymaps, electricitymaps boundary=direct"), HasSubstr("another series"));
  EXPECT_THAT(error_of("electricitymaps, static g=300"), HasSubstr("state kind="));
  EXPECT_EQ(error_of("electricitymaps, static g=300 boundary=life_cycle basis=consumption"), "none");
}

TEST(ParseChain, AnIdentityThatAProviderCannotGiveIsRefused) {
  EXPECT_THAT(error_of("watttime kind=average"), HasSubstr("isn't to be had"));
  EXPECT_THAT(error_of("rte boundary=life_cycle"), HasSubstr("isn't to be had"));
  EXPECT_EQ(error_of("rte boundary=direct"), "none");
}

TEST(ParseChain, ControlCharactersAreRefusedInOneLine) {
  for (const auto& chain : {parse_chain("DE", "uk\nzone=GB"), parse_chain("D\nE", "uk")}) {
    ASSERT_FALSE(chain);
    EXPECT_EQ(chain.error().to_string().find('\n'), std::string::npos);
  }
}

TEST(ParseChain, WhatIsWrongIsNamed) {
  EXPECT_THAT(error_of("electricitymap"), HasSubstr("unknown provider \"electricitymap\""));
  EXPECT_THAT(error_of("climatiq"), HasSubstr("unknown provider"));
  EXPECT_THAT(error_of("uk speed=1"), HasSubstr("no option \"speed\""));
  EXPECT_THAT(error_of("uk url"), HasSubstr("no option=value"));
  EXPECT_THAT(error_of("csv file=/a"), HasSubstr("needs column="));
  EXPECT_THAT(error_of("static g=-1"), HasSubstr("no intensity"));
  EXPECT_THAT(error_of("peer url=ftp://x"), HasSubstr("no http://"));
  EXPECT_THAT(error_of("peer url=http://x boundary=some"), HasSubstr("known: life_cycle"));
  EXPECT_THAT(error_of(""), HasSubstr("no provider"));
  EXPECT_THAT(error_of("uk", "../etc"), HasSubstr("zone"));
  EXPECT_THAT(error_of("uk zone=a&b"), HasSubstr("letters"));
}

}  // namespace
}  // namespace tidewatt::carbon
