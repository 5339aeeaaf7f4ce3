#include "tidewatt/api/power_forward.h"

#include <gtest/gtest.h>

namespace tidewatt::api {
namespace {

TEST(PowerForward, KnownPowersOfABeatAndNothingElse) {
  Beat beat;
  beat.cluster = "c";
  beat.node_id = "n1";
  beat.sampled_at = UtcTime{Milliseconds{5'000}};
  beat.devices.resize(4);
  for (auto& device : beat.devices) device.domain = "gpu";
  beat.devices[0].power = Watts{412.5};
  beat.devices[0].uuid = "GPU-1";
  beat.devices[1].reason = "tool_prints_[N/A]";  // unknown
  beat.devices[2].power = Watts{90};
  beat.devices[2].quality = Quality::estimated;
  beat.devices[3].power = Watts{0};
  beat.devices[3].index = 3;
  const auto round = power_of(beat);
  EXPECT_EQ(round.at, *beat.sampled_at);
  ASSERT_EQ(round.devices.size(), 2U);
  EXPECT_EQ(round.devices[0].uuid, "GPU-1");
  EXPECT_EQ(round.devices[0].power, Watts{412.5});
  EXPECT_EQ(round.devices[1].index, 3) << "a measured 0 W is a value";
  beat.sampled_at.reset();
  EXPECT_TRUE(power_of(beat).devices.empty()) << "the time of receipt isn't the sample's";
}

}  // namespace
}  // namespace tidewatt::api
