// What stands around a tool's output, lost bytes of it, and another tool's output: never a device more, never
// one less without a word.
#include "tool_text.h"

namespace tidewatt::metering {
namespace {

const std::string kTwoCards =
    "GPU: 0\n    POWER:\n        SOCKET_POWER: 11 W\n        GFX_VOLTAGE: 700 mV\n"
    "GPU: 1\n    POWER:\n        SOCKET_POWER: 17 W\n        GFX_VOLTAGE: 700 mV\n";

TEST(LostBytes, OfTheFirstLineLoseNoCard) {
  const auto nuls =
      "GPU:" + std::string(1, '\0') + kTwoCards.substr(5, 3) + std::string(3, '\0') + kTwoCards.substr(11);
  for (const auto& text : {"\f" + kTwoCards, "\v\f" + kTwoCards, nuls}) {
    const auto r = read("amd-smi", text);
    ASSERT_EQ(r.devices.size(), 2U);
    EXPECT_DOUBLE_EQ(r.total.value().value(), 28);
  }
  const std::string walk =
      "PowerNet-MIB::rPDU2DeviceStatusPower.1 = INTEGER: 125\nPowerNet-MIB::rPDU2DeviceStatusPower.2 = "
      "INTEGER: 98\n";
  EXPECT_DOUBLE_EQ(read("pdu", walk).total.value().value(), 2230);
  EXPECT_DOUBLE_EQ(read("pdu", "\f" + walk).total.value().value(), 2230);
  EXPECT_DOUBLE_EQ(read("pdu", replaced(walk, " =", std::string_view("\0=", 2))).total.value().value(), 2230);
}

TEST(LostHeading, AboveTheFirstDrawIsAnError) {
  const auto error = refusal("amd-smi", "x" + kTwoCards);
  EXPECT_EQ(error.message.find("amd-smi: line 3: unknown layout: expected a line that begins a device"), 0U)
      << error.message;
}

TEST(LostHeading, BetweenTwoDrawsLeavesNoNumberForEither) {
  const auto r = read("amd-smi", replaced(kTwoCards, "GPU: 1", "x: 1"));
  ASSERT_EQ(r.devices.size(), 1U);
  EXPECT_EQ(reason(r), "garbled: lines 3 and 7 both print 'SOCKET_POWER' below one heading");
  EXPECT_FALSE(r.total);
}

TEST(LostHeading, IsNotWhatALineThatIsPrintedTwiceMeans) {
  const std::string line = "        SOCKET_POWER: 11 W\n";
  EXPECT_DOUBLE_EQ(read("amd-smi", replaced(kTwoCards, line, line + line)).total.value().value(), 28);
}

}  // namespace
}  // namespace tidewatt::metering
