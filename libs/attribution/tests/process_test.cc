#include "tidewatt/attribution/process.h"

#include <gtest/gtest.h>

namespace tidewatt::attribution {
namespace {

std::string stat_line(const std::string& name, const std::string& start) {
  return "12 (" + name + ") S 1 12 12 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 " + start +
         " 1000 50 18446744073709551615\n";
}

TEST(ProcessStat, NameMayHoldBlanksAndBrackets) {
  const auto stat = parse_process_stat(stat_line("(tmux: server (1))", "4711"));
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->pid, 12);
  EXPECT_EQ(stat->name, "(tmux: server (1))");
  EXPECT_EQ(stat->start_ticks, 4711U);
}

TEST(ProcessStat, StartIsOnTheClockOfTheBoot) {
  EXPECT_EQ(started_at(*parse_process_stat(stat_line("x", "150"))), SteadyTime{Milliseconds{1500}});
  EXPECT_GT(started_at(*parse_process_stat(stat_line("x", "18446744073709551615"))), SteadyTime{});
}

TEST(ProcessStat, TruncatedOrGarbledIsUnknown) {
  const auto whole = stat_line("sleep", "4711");
  const auto end_of_start = whole.find("4711") + 4;
  for (std::size_t n = 0; n < whole.find("4711"); ++n)
    EXPECT_FALSE(parse_process_stat(whole.substr(0, n))) << n;
  EXPECT_TRUE(parse_process_stat(whole.substr(0, end_of_start)));
  for (const char* text : {"", "x (y) S", "-3 (y) S 1", "12 y) S 1", ") (",
                           "12 (a) S 1 x x x x x x x x x x x x x x x x x x x x"})
    EXPECT_FALSE(parse_process_stat(text)) << text;
}

TEST(Environment, FindsTheWholeNameOnly) {
  using namespace std::string_literals;
  const auto text = "XSLURM_JOB_ID=1\0SLURM_JOB_ID_OLD=2\0SLURM_JOB_ID=42\0PATH=/bin\0"s;
  EXPECT_EQ(environment_value(text, "SLURM_JOB_ID"), "42");
  EXPECT_FALSE(environment_value(text, "SLURM"));
}

TEST(Environment, EntryThatIsCutOffIsNotBelieved) {
  EXPECT_FALSE(environment_value("SLURM_JOB_ID=4", "SLURM_JOB_ID"));
}

}  // namespace
}  // namespace tidewatt::attribution
