// What a pool takes in is what it gets done in time.
#include "../src/worker_pool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

namespace tidewatt::net {
namespace {

using namespace std::chrono_literals;

int submit_many(WorkerPool& pool, int count, std::chrono::milliseconds each) {
  int taken = 0;
  for (int i = 0; i < count; ++i)
    if (pool.submit([each] { std::this_thread::sleep_for(each); })) ++taken;
  return taken;
}

TEST(WorkerPool, ABurstOfSlowJobsIsLetInOnlyAsFarAsItWouldBeDoneInTime) {
  WorkerPool pool{2, 10'000, 100ms};
  for (int i = 0; i < 40; ++i) {  // so that it knows how long such jobs take
    std::promise<void> ran;
    ASSERT_TRUE(pool.submit([&ran] {
      std::this_thread::sleep_for(10ms);
      ran.set_value();
    }));
    ran.get_future().wait();
  }
  const auto began = std::chrono::steady_clock::now();
  const int taken = submit_many(pool, 500, 10ms);
  const auto done_meanwhile = 2 * ((std::chrono::steady_clock::now() - began) / 10ms);
  EXPECT_GE(taken, 1);
  EXPECT_LE(taken, 30 + done_meanwhile) << "100 ms are 20 such jobs on two threads, two more run at once";
}

TEST(WorkerPool, ABurstBeforeAnyJobWasTimedIsBoundedToo) {
  WorkerPool pool{1, 10'000, 500ms};
  EXPECT_LE(submit_many(pool, 5'000, 1ms), 500);
}

TEST(WorkerPool, AnIdlePoolTakesAJobHoweverSlowTheLastWere) {
  WorkerPool pool{1, 10, 1ms};
  for (int i = 0; i < 3; ++i) {
    std::promise<void> ran;
    ASSERT_TRUE(pool.submit([&ran] {
      std::this_thread::sleep_for(20ms);
      ran.set_value();
    }));
    ran.get_future().wait();
  }
}

TEST(WorkerPool, AFullQueueRefuses) {
  std::promise<void> open;
  auto opened = open.get_future().share();
  WorkerPool pool{1, 2, 10s};
  int taken = 0;
  for (int i = 0; i < 10; ++i)
    if (pool.submit([opened] { opened.wait(); })) ++taken;
  EXPECT_GE(taken, 2);
  EXPECT_LE(taken, 3) << "one runs, two wait";
  open.set_value();
}

TEST(WorkerPool, NothingIsTakenAfterItStopped) {
  WorkerPool pool{1, 2, 10s};
  pool.stop();
  EXPECT_FALSE(pool.submit([] {}));
}

}  // namespace
}  // namespace tidewatt::net
