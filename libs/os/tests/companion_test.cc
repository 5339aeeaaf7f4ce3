#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>

#include "tidewatt/os/posix.h"

namespace tidewatt::os {
namespace {

using std::chrono::steady_clock;
constexpr Milliseconds kLong{60'000};
constexpr std::size_t kRoom = 4096;

class CompanionTest : public testing::Test {
 protected:
  void start(const std::string& script) {
    auto started = start_companion("lib", {"/bin/sh", "-c", script});
    ASSERT_TRUE(started) << started.error().to_string();
    companion = std::move(*started);
  }
  void TearDown() override {
    companion.reset();
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "killed and reaped";
    EXPECT_EQ(errno, ECHILD);
  }
  std::string trouble(Milliseconds deadline = kLong) {
    const auto answer = companion->ask("read", deadline, kRoom);
    return answer ? "answered " + *answer : answer.error().message;
  }

  std::unique_ptr<Companion> companion;
};

TEST_F(CompanionTest, OneProcessAnswersEveryQuestion) {
  start("while read -r q; do n=$((n+1)); echo \"$$ $q $n\"; done");
  const auto first = companion->ask("a b", kLong, kRoom);
  ASSERT_TRUE(first) << first.error().to_string();
  const auto second = companion->ask("c", kLong, kRoom);
  ASSERT_TRUE(second);
  const auto pid = first->substr(0, first->find(' '));
  EXPECT_EQ(*first, pid + " a b 1");
  EXPECT_EQ(*second, pid + " c 2");
}

TEST_F(CompanionTest, ACrashIsNamedByItsSignal) {
  start("read -r q; kill -SEGV $$");
  EXPECT_EQ(trouble(), "lib: killed by signal 11 (Segmentation fault)");
  EXPECT_EQ(trouble(), "lib: has been killed");
  EXPECT_TRUE(companion->gone());
}

TEST_F(CompanionTest, AnExitIsNamedByItsCode) {
  start("read -r q; exit 3");
  EXPECT_EQ(trouble(), "lib: ended with exit code 3");
}

TEST_F(CompanionTest, AChildThatClosesItsLineButLivesIsKilled) {
  start("read -r q; exec <&- >&-; sleep 1000");
  EXPECT_EQ(trouble(), "lib: closed its output, killed");
}

TEST_F(CompanionTest, AHangCostsTheDeadlineAndTheChildItsLife) {
  start("trap '' TERM INT HUP; read -r q; sleep 1000");
  const auto answer = companion->ask("read", Milliseconds{50}, kRoom);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::timed_out);
  EXPECT_EQ(answer.error().message, "lib: no answer within 50 ms, killed");
  const auto until = steady_clock::now() + kLong;
  while (!companion->gone() && steady_clock::now() < until) ::usleep(1000);
  EXPECT_TRUE(companion->gone());
}

TEST_F(CompanionTest, HalfALineIsNoAnswer) {
  start("read -r q; printf half; sleep 1000");
  EXPECT_EQ(trouble(Milliseconds{50}), "lib: no answer within 50 ms, killed");
}

TEST_F(CompanionTest, TooMuchIsRefused) {
  start("read -r q; while :; do echo -n 0123456789012345678901234567890123456789; done");
  EXPECT_EQ(trouble(), "lib: answered with more than 4096 bytes, killed");
}

TEST_F(CompanionTest, MoreThanOneLineIsRefused) {
  start("read -r q; printf 'one\\ntwo\\n'; sleep 1000");
  EXPECT_EQ(trouble(), "lib: wrote more than its answer, killed");
}

TEST_F(CompanionTest, TheChildKeepsTheLibraryPathAndHasNoOtherDescriptor) {
  ::setenv("LD_LIBRARY_PATH", "/opt/vendor/lib", 1);
  ::setenv("LC_ALL", "de_DE.UTF-8", 1);
  start("read -r q; printf '%s %s ' $LD_LIBRARY_PATH $LC_ALL; ls -m /proc/$$/fd");
  ::unsetenv("LD_LIBRARY_PATH");
  ::unsetenv("LC_ALL");
  EXPECT_EQ(trouble(), "answered /opt/vendor/lib C 0, 1, 2");
}

TEST_F(CompanionTest, WhatCantBeStartedSaysSo) {
  const auto none = start_companion("lib", {"/no/such/program"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace tidewatt::os
