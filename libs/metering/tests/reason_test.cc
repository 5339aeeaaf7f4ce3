#include "tidewatt/metering/reason.h"

#include <gtest/gtest.h>

namespace tidewatt::metering {
namespace {

TEST(Reason, CodesBecomeWordsAndKeepTheirValue) {
  EXPECT_EQ(reason_in_words("counter_frozen at 5000000 uJ"), "counter frozen at 5000000 uJ");
  EXPECT_EQ(reason_in_words("counter_out_of_range: 9 uJ"), "counter beyond its range: 9 uJ");
  EXPECT_EQ(reason_in_words("tool_prints_[N/A]"), "the tool prints \"[N/A]\" instead of a power");
  EXPECT_EQ(reason_in_words("tool_prints_No Such Instance currently exists at this OID"),
            "the tool prints \"No Such Instance currently exists at this OID\" instead of a power");
  EXPECT_EQ(reason_in_words("tool_prints_nothing"), "the tool prints nothing where the power belongs");
  EXPECT_EQ(reason_in_words("tool_prints_"), "the tool prints nothing where the power belongs");
  EXPECT_EQ(reason_in_words("PowerConsumedWatts_is_no_number"), "PowerConsumedWatts is no number");
  EXPECT_EQ(reason_in_words("power_reading_state_deactivated"), "the BMC's power reading is deactivated");
}

TEST(Reason, WhatIsNoCodeStaysAsItIs) {
  for (const char* text : {"", "permission denied", "suspended (0000:01:00.0): not woken to be measured",
                           "implausibly_long_word", "sensor_named_averages"})
    EXPECT_EQ(reason_in_words(text), text);
}

TEST(Reason, NoCodeIsLeftInWords) {
  for (const char* code :
       {"counter_baseline", "printed_zero_implausible", "default_table_has_no_power_column",
        "no_reading_in_this_interval", "not_a_finite_number", "no_power_reading_in_this_command",
        "cumulative_energy_counter_needs_two_reads", "only_window_average_min_max_no_instant"})
    EXPECT_EQ(reason_in_words(code).find('_'), std::string::npos) << code;
}

}  // namespace
}  // namespace tidewatt::metering
