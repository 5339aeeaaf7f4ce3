#include "tidewatt/metering/beat.h"

#include <gtest/gtest.h>

namespace tidewatt {
namespace {

TEST(HolderState, QueuedAndFinishedDoNotHoldUnknownDoes) {
  EXPECT_FALSE(holds(holder_state_from("queued")));
  EXPECT_FALSE(holds(holder_state_from("finished")));
  for (const char* text : {"starting", "running", "stopping", "suspended", "sleeping", "hibernating", ""})
    EXPECT_TRUE(holds(holder_state_from(text))) << text;
}

}  // namespace
}  // namespace tidewatt
