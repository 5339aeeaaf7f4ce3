#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <thread>

#include "temp_folder.h"
#include "tidewatt/os/posix.h"

namespace tidewatt::os {
namespace {

using std::chrono::steady_clock;
constexpr Milliseconds kLong{60'000};

class ProcessRunnerTest : public testing::Test {
 protected:
  Result<ProcessOutput> shell(const std::string& script, Milliseconds deadline = kLong) {
    return runner->run({"/bin/sh", "-c", script}, deadline);
  }
  void TearDown() override {
    // No child of ours is left, not even as a zombie.
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
  }

  std::unique_ptr<ProcessRunner> runner = make_process_runner();
};

bool process_runs(int pid) {
  const auto stat = make_file_system()->read_text("/proc/" + std::to_string(pid) + "/stat");
  if (!stat) return false;
  return stat->substr(stat->rfind(')')).substr(0, 3) != ") Z";  // a zombie is init's business
}

TEST_F(ProcessRunnerTest, KeepsOutputErrorsAndExitCodeApart) {
  const auto done = shell("echo out; echo err >&2; exit 3");
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_EQ(done->out, "out\n");
  EXPECT_EQ(done->err, "err\n");
  EXPECT_EQ(done->exit_code, 3);
}

TEST_F(ProcessRunnerTest, PassesArgumentsUnchanged) {
  const auto done = runner->run({"printf", "%s|", "$(id)", "a b", "", "*"}, kLong);
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_EQ(done->out, "$(id)|a b||*|");
}

TEST_F(ProcessRunnerTest, GivesAFixedEnvironmentAndNoInput) {
  ASSERT_EQ(::setenv("TIDEWATT_SECRET", "hush", 1), 0);
  const auto done = runner->run({"env"}, kLong);
  ASSERT_TRUE(done);
  const std::string fixed = "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin\nLC_ALL=C\nTIDEWATT_TOOL_RUN=";
  EXPECT_TRUE(done->out.starts_with(fixed)) << done->out;
  EXPECT_EQ(std::count(done->out.begin(), done->out.end(), '\n'), 3) << done->out;
  EXPECT_EQ(runner->run({"cat"}, kLong)->out, "");
}

TEST_F(ProcessRunnerTest, InheritsNoOtherDescriptor) {
  const int leaked = ::dup(0);  // without close-on-exec
  const auto done = shell("ls /proc/$$/fd");
  ::close(leaked);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->out, "0\n1\n2\n");
}

TEST_F(ProcessRunnerTest, SaysWhichToolIsMissing) {
  const auto missing = runner->run({"no-such-tool-here"}, kLong);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_NE(missing.error().message.find("no-such-tool-here"), std::string::npos);
  EXPECT_EQ(runner->run({"/no/such/tool"}, kLong).error().code, ErrorCode::not_found);
}

TEST_F(ProcessRunnerTest, RefusesWhatIsNoCommand) {
  EXPECT_EQ(runner->run({}, kLong).error().code, ErrorCode::invalid_input);
  EXPECT_EQ(runner->run({"echo", std::string{"a\0b", 3}}, kLong).error().code, ErrorCode::invalid_input);
}

TEST_F(ProcessRunnerTest, RunsScripts) {
  const TempFolder dir;
  const std::string script = dir / "tool";
  std::ofstream{script} << "#!/bin/sh\necho from $1\n";
  EXPECT_EQ(runner->run({script, "x"}, kLong).error().code, ErrorCode::permission_denied);  // not executable
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  EXPECT_EQ(runner->run({script, "x"}, kLong)->out, "from x\n");
}

TEST_F(ProcessRunnerTest, KillsTheWholeGroupAtTheDeadline) {
  const TempFolder dir;
  const auto begin = steady_clock::now();
  const auto late = shell("sleep 300 & echo $! > " + dir / "pid" + "; wait", Milliseconds{300});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::timed_out);
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds{20});
  const auto pid = make_file_system()->read_text(dir / "pid");
  ASSERT_TRUE(pid);
  for (int turn = 0; turn < 1000 && process_runs(std::stoi(*pid)); ++turn)
    std::this_thread::sleep_for(Milliseconds{5});  // death by signal takes a moment
  EXPECT_FALSE(process_runs(std::stoi(*pid)));
}

// A session of its own, an orphan, an environment made anew: no way out for what a tool started.
TEST_F(ProcessRunnerTest, KillsWhatLeftItsSessionAtTheDeadline) {
  for (const std::string escape :
       {"setsid sleep 300 > /dev/null 2>&1 & echo $! > PID; wait",
        "(setsid sh -c 'echo $$ > PID; exec sleep 300' > /dev/null 2>&1 &); sleep 300",
        "(setsid setsid sh -c 'echo $$ > PID; exec sleep 300' &) ; exec sleep 300",
        "env -i setsid sh -c 'echo $$ > PID; exec sleep 300' & wait"}) {
    const TempFolder dir;
    auto script = escape;
    script.replace(script.find("PID"), 3, dir / "pid");
    EXPECT_EQ(shell(script, Milliseconds{700}).error().code, ErrorCode::timed_out) << script;
    const auto pid = make_file_system()->read_text(dir / "pid");
    ASSERT_TRUE(pid) << script;
    for (int turn = 0; turn < 1000 && process_runs(std::stoi(*pid)); ++turn)
      std::this_thread::sleep_for(Milliseconds{5});  // death by signal takes a moment
    EXPECT_FALSE(process_runs(std::stoi(*pid))) << script;
  }
}

TEST_F(ProcessRunnerTest, KillsAChildOfAnEndedToolThatHoldsItsOutput) {
  const TempFolder dir;
  const auto done =
      shell("setsid sh -c 'echo $$ > " + dir / "pid" + "; exec sleep 300' & sleep 0.3; echo answer");
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_EQ(done->out, "answer\n");
  const auto pid = make_file_system()->read_text(dir / "pid");
  ASSERT_TRUE(pid);
  for (int turn = 0; turn < 1000 && process_runs(std::stoi(*pid)); ++turn)
    std::this_thread::sleep_for(Milliseconds{5});
  EXPECT_FALSE(process_runs(std::stoi(*pid)));
}

TEST_F(ProcessRunnerTest, ADaemonThatAToolLeavesAtEveryRunDoesNotPileUp) {
  const TempFolder dir;
  const auto note = dir / "pids";
  for (int run = 0; run < 3; ++run) {
    // The daemon is in a session of its own and holds nothing of the tool's before the tool ends well.
    const auto done = shell("(setsid sh -c 'echo $$ >> " + note + "; exec sleep 300' >/dev/null 2>&1 &); " +
                            "while [ \"$(wc -l < " + note + " 2>/dev/null || echo 0)\" -le " +
                            std::to_string(run) + " ]; do sleep 0.02; done; echo answer");
    ASSERT_TRUE(done) << done.error().to_string();
    EXPECT_EQ(done->out, "answer\n");
    EXPECT_EQ(done->exit_code, 0);
  }
  std::ifstream pids{note};
  int count = 0;
  for (int pid = 0; pids >> pid; ++count) {
    for (int turn = 0; turn < 1000 && process_runs(pid); ++turn) std::this_thread::sleep_for(Milliseconds{5});
    EXPECT_FALSE(process_runs(pid)) << pid;
  }
  EXPECT_EQ(count, 3);
}

TEST_F(ProcessRunnerTest, ADaemonThatClearedItsEnvironmentAndLeftItsSessionIsEndedAndReaped) {
  adopt_orphans();
  const TempFolder dir;
  const auto note = dir / "pids";
  for (int run = 0; run < 3; ++run) {
    const auto done =
        shell("(env -i setsid sh -c 'echo $$ >> " + note + "; exec sleep 300' >/dev/null 2>&1 &); " +
              "while [ \"$(wc -l < " + note + " 2>/dev/null || echo 0)\" -le " + std::to_string(run) +
              " ]; do sleep 0.02; done; echo answer");
    ASSERT_TRUE(done) << done.error().to_string();
    std::ifstream pids{note};
    int left = 0;
    for (int pid = 0; pids >> pid;) left += process_runs(pid) ? 1 : 0;
    EXPECT_EQ(left, 0) << "after run " << run;
  }
}

TEST_F(ProcessRunnerTest, DoesNotWaitForAChildThatKeepsThePipeOpen) {
  const auto begin = steady_clock::now();
  const auto done = shell("echo answer; sleep 300 &");
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_EQ(done->out, "answer\n");
  EXPECT_EQ(done->exit_code, 0);
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds{20});
}

TEST_F(ProcessRunnerTest, KillsAToolThatIgnoresTermination) {
  EXPECT_EQ(shell("trap '' TERM INT; while :; do sleep 0.1; done", Milliseconds{200}).error().code,
            ErrorCode::timed_out);
}

TEST_F(ProcessRunnerTest, ReapsAToolThatLeftItsGroup) {
  if (!runner->run({"perl", "-v"}, kLong)) GTEST_SKIP() << "no perl";
  EXPECT_EQ(runner->run({"perl", "-e", "setpgrp(0, getppid()); sleep 300"}, Milliseconds{300}).error().code,
            ErrorCode::timed_out);
}

TEST_F(ProcessRunnerTest, ReadsMoreThanAPipeHolds) {
  const auto done = shell("head -c 1000000 /dev/zero; head -c 300000 /dev/zero >&2");
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_EQ(done->out.size(), 1'000'000U);
  EXPECT_EQ(done->err.size(), 300'000U);
}

TEST_F(ProcessRunnerTest, RefusesEndlessOutput) {
  const auto endless = runner->run({"yes"}, kLong);
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().code, ErrorCode::io);
}

TEST_F(ProcessRunnerTest, ReportsDeathBySignalAsShellsDo) {
  EXPECT_EQ(shell("kill -SEGV $$")->exit_code, 128 + SIGSEGV);
}

TEST_F(ProcessRunnerTest, RunsFromManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::array<bool, 8> right{};
  for (std::size_t i = 0; i < right.size(); ++i) {
    threads.emplace_back([&, i] {
      right[i] = true;
      for (int turn = 0; turn < 10; ++turn) {
        const auto done = runner->run({"echo", std::to_string(i)}, kLong);
        right[i] = right[i] && done && done->out == std::to_string(i) + "\n" && done->exit_code == 0;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const bool ok : right) EXPECT_TRUE(ok);
}

}  // namespace
}  // namespace tidewatt::os
