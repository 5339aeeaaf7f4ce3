#include "tidewatt/agent/attribution_thread.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "tidewatt/testing/fake_file_system.h"

namespace tidewatt::agent {
namespace {

/// A clock whose reader waits while the gate is shut: a look that hangs.
class GatedClock final : public Clock {
 public:
  [[nodiscard]] UtcTime utc_now() const override { return {}; }
  [[nodiscard]] SteadyTime mono_now() const override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
    return {};
  }
  void set_open(bool open) {
    const std::lock_guard lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool open_ = true;
};

class AttributionThreadTest : public ::testing::Test {
 protected:
  std::shared_ptr<testing::FakeFileSystem> files = std::make_shared<testing::FakeFileSystem>();
  std::shared_ptr<GatedClock> clock = std::make_shared<GatedClock>();
  void TearDown() override { clock->set_open(true); }
  std::unique_ptr<AttributionThread> start(Milliseconds patience) {
    return std::make_unique<AttributionThread>(
        std::make_unique<WorkloadScanner>(files, clock, AttributionSettings{}), patience);
  }
};

TEST_F(AttributionThreadTest, AnswersWhatItsLookFound) {
  const auto thread = start(Milliseconds{30'000});
  const auto found = thread->look({});
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->stats.trouble.empty()) << "there are no cgroups here";
  EXPECT_EQ(thread->status().looks, 1U);
  EXPECT_EQ(thread->status().late, 0U);
  EXPECT_EQ(thread->status().last.trouble, found->stats.trouble);
}

TEST_F(AttributionThreadTest, LookThatHangsCostsABeatItsHoldersNotItsTime) {
  const auto thread = start(Milliseconds{20});
  clock->set_open(false);
  EXPECT_FALSE(thread->look({}));
  EXPECT_FALSE(thread->look({})) << "at once: nothing piles up";
  EXPECT_EQ(thread->status().late, 2U);
  EXPECT_TRUE(thread->status().is_late);
  clock->set_open(true);
  for (int i = 0; i < 1'000 && thread->status().looks == 0; ++i) std::this_thread::sleep_for(Milliseconds{5});
  EXPECT_EQ(thread->status().looks, 1U);
}

TEST_F(AttributionThreadTest, ALateLookIsLoggedOnceInAWhileAndOverWithTheNextThatIsInTime) {
  ::testing::internal::CaptureStderr();
  const auto thread = start(Milliseconds{20});
  clock->set_open(false);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(thread->look({}));
  clock->set_open(true);
  for (int i = 0; i < 1'000 && !thread->look({}); ++i) std::this_thread::sleep_for(Milliseconds{5});
  const auto said = ::testing::internal::GetCapturedStderr();
  EXPECT_FALSE(thread->status().is_late);
  const auto first = said.find("took too long");
  ASSERT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find("took too long", first + 1), std::string::npos) << said;
}

TEST_F(AttributionThreadTest, EndsThoughALookHangs) {
  auto thread = start(Milliseconds{1});
  clock->set_open(false);
  thread->look({});
  thread.reset();
  clock->set_open(true);
}

}  // namespace
}  // namespace tidewatt::agent
