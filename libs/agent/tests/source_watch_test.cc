#include "tidewatt/agent/source_watch.h"

#include <gtest/gtest.h>

namespace tidewatt::agent {
namespace {

using State = SourceWatch::State;
constexpr SteadyTime kT0{Milliseconds{1'000'000}};
const Error kGone{ErrorCode::not_found, "no such library", ""};
const Error kBroken{ErrorCode::io, "driver error", ""};

SourceWatch watch() { return SourceWatch{Milliseconds{1000}, Milliseconds{5000}}; }

TEST(SourceWatch, ReadsOnAGridWithoutDriftAndWithoutBursts) {
  auto w = watch();
  EXPECT_LE(w.due(), kT0);
  w.started(kT0);
  w.succeeded(kT0 + Milliseconds{70});
  EXPECT_EQ(w.due(), kT0 + Milliseconds{1000});
  w.started(kT0 + Milliseconds{1003});
  w.succeeded(kT0 + Milliseconds{3500});
  EXPECT_EQ(w.due(), kT0 + Milliseconds{4000});
}

TEST(SourceWatch, BacksOffWhileItFailsAndRecoversAtOnce) {
  auto w = watch();
  SteadyTime at = kT0;
  for (const int expected : {1, 2, 4, 8, 16, 32, 60, 60}) {
    w.started(at);
    w.failed(at, kBroken);
    EXPECT_EQ(w.due() - at, std::chrono::seconds{expected});
    at = w.due();
  }
  w.started(at);
  EXPECT_TRUE(w.succeeded(at));
  EXPECT_EQ(w.due() - at, std::chrono::seconds{1});
  EXPECT_EQ(w.state(), State::up);
  EXPECT_EQ(w.trouble(), "");
  EXPECT_EQ(w.reads(), 9U);
  EXPECT_EQ(w.failures(), 8U);
}

TEST(SourceWatch, TellsOnlyChanges) {
  auto w = watch();
  w.started(kT0);
  EXPECT_TRUE(w.succeeded(kT0));
  EXPECT_FALSE(w.succeeded(kT0));
  EXPECT_TRUE(w.failed(kT0, kBroken));
  EXPECT_FALSE(w.failed(kT0, kBroken));
  EXPECT_TRUE(w.succeeded(kT0));
}

TEST(SourceWatch, AReadBeyondItsDeadlineHangsUntilItEnds) {
  auto w = watch();
  w.started(kT0);
  EXPECT_FALSE(w.check(kT0 + Milliseconds{5000}));
  EXPECT_TRUE(w.check(kT0 + Milliseconds{5001}));
  EXPECT_EQ(w.state(), State::hanging);
  EXPECT_FALSE(w.check(kT0 + Milliseconds{20'000})) << "said once";
  EXPECT_EQ(w.trouble(), "no answer for 20 s");
  EXPECT_TRUE(w.succeeded(kT0 + Milliseconds{30'000}));
  EXPECT_FALSE(w.check(kT0 + Milliseconds{90'000}));
  EXPECT_EQ(w.state(), State::up);
}

TEST(SourceWatch, HardwareThatNeverWasHereIsAbsentNotFailing) {
  auto w = watch();
  w.started(kT0);
  EXPECT_TRUE(w.failed(kT0, kGone));
  EXPECT_EQ(w.state(), State::absent);
  w.succeeded(kT0);
  w.failed(kT0, kGone);
  EXPECT_EQ(w.state(), State::failing) << "it was here before";
}

}  // namespace
}  // namespace tidewatt::agent
