#include "tidewatt/slurm/accounting.h"

#include <gtest/gtest.h>

namespace tidewatt::slurm {
namespace {

std::optional<UtcTime> utc(std::string_view text) { return parse_rfc3339(std::string(text) + "Z"); }

// As jobcomp/filetxt of Slurm 22.05.8 wrote it.
constexpr std::string_view kLine =
    "JobId=7 UserId=ann(1000) GroupId=ann(1000) Name=my job JobState=COMPLETED Partition=p TimeLimit=1 "
    "StartTime=2026-11-30T20:26:24 EndTime=2026-11-30T20:26:28 NodeList=n1 NodeCnt=1 ProcCnt=1 "
    "WorkDir=/tmp/a b "
    "ReservationName= Tres=cpu=1,mem=1M,node=1,billing=1 Account= QOS= WcKey= Cluster=unknown "
    "SubmitTime=2026-11-30T20:26:23 EligibleTime=2026-11-30T20:26:23 DerivedExitCode=0:0 ExitCode=0:0 \n";

TEST(JobCompletions, AreReadAsSlurmWritesThem) {
  const auto read = parse_job_completions(kLine, utc);
  ASSERT_EQ(read.runs.size(), 1U);
  const auto& run = read.runs.front();
  EXPECT_EQ(run.id, "7");
  EXPECT_EQ(run.user, "ann");
  EXPECT_EQ(run.state, "COMPLETED");
  EXPECT_EQ(run.submitted, utc("2026-11-30T20:26:23"));
  EXPECT_EQ(run.started, utc("2026-11-30T20:26:24"));
  EXPECT_EQ(run.ended, utc("2026-11-30T20:26:28"));
}

TEST(JobCompletions, ANameThatHoldsFieldsIsNotBelieved) {
  std::string line(kLine);
  line.replace(line.find("my job"), 6, "x StartTime=2020-01-01T00:00:00");
  const auto read = parse_job_completions(line, utc);
  EXPECT_TRUE(read.runs.empty());
  EXPECT_EQ(read.unreadable, 1U);
}

TEST(JobCompletions, UnknownTimesAreUnknown) {
  std::string line(kLine);
  line.replace(line.find("2026-11-30T20:26:24"), 19, "Unknown");
  const auto read = parse_job_completions(line + "half a li", utc);
  ASSERT_EQ(read.runs.size(), 1U);
  EXPECT_EQ(read.runs.front().started, std::nullopt);
  EXPECT_EQ(read.runs.front().ended, std::nullopt);
  EXPECT_EQ(read.unreadable, 1U);
}

TEST(Sacct, IsReadByItsMark) {
  const auto read = parse_sacct(
      "7|Q|ann|Q|CANCELLED by 0|Q|1796070383|Q|1796070384|Q|1796070388|Q|120|Q|\n"
      "8|Q|bob|Q|RUNNING|Q|1796070383|Q|1796070384|Q|Unknown|Q||Q|\n",
      "Q");
  ASSERT_TRUE(read) << read.error().to_string();
  ASSERT_EQ(read->runs.size(), 2U);
  EXPECT_EQ(read->runs[0].state, "CANCELLED");
  EXPECT_EQ(read->runs[0].slurm_joules, 120);
  EXPECT_EQ(read->runs[1].ended, std::nullopt);
  EXPECT_EQ(read->runs[1].slurm_joules, std::nullopt);
  EXPECT_FALSE(parse_sacct("7|Q|ann", "Q"));
}

}  // namespace
}  // namespace tidewatt::slurm
