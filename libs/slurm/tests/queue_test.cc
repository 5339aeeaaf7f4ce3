#include "tidewatt/slurm/queue.h"

#include <gtest/gtest.h>

namespace tidewatt::slurm {
namespace {

using namespace std::chrono_literals;

// As squeue 22.05.8 printed it, with the mark "Q".
constexpr std::string_view kRow =
    "10|Q|PENDING|Q|BeginTime|Q|1796070484|Q|1796070514|Q|1796070514|Q|N/"
    "A|Q|10:00|Q|1|Q|4294901750|Q|carbon:daily|Q|tidewatt|Q|\n";

TEST(QueueFormat, PartsEachFieldByTheMark) {
  const auto format = queue_format("Q");
  EXPECT_TRUE(format.starts_with("JobID:|Q|,State:|Q|,")) << format;
  EXPECT_TRUE(format.ends_with("AdminComment:|Q|"));
}

TEST(Queue, ReadsWhatSqueuePrints) {
  const auto queue = parse_queue(kRow, "Q");
  ASSERT_TRUE(queue) << queue.error().to_string();
  ASSERT_EQ(queue->jobs.size(), 1U);
  const auto& job = queue->jobs.front();
  EXPECT_EQ(job.id, "10");
  EXPECT_EQ(job.state, "PENDING");
  EXPECT_EQ(job.submitted, UtcTime{1796070484s});
  EXPECT_EQ(job.eligible, UtcTime{1796070514s});
  EXPECT_EQ(job.deadline, std::nullopt);
  EXPECT_EQ(job.limit, 10min);
  EXPECT_TRUE(job.may_requeue);
  EXPECT_FALSE(job.held);
  EXPECT_EQ(job.comment, "carbon:daily");
  EXPECT_EQ(job.admin_comment, "tidewatt");
}

TEST(Queue, ACommentNeverBecomesAnotherJobsRow) {
  std::string text(kRow);
  text.replace(text.find("carbon:daily"), 12,
               "a\n11|R|PENDING|R|x|R|1|R|1|R|1|R|N/A|R|1:00|R|1|R|carbon:daily|R||R|\n|");
  const auto queue = parse_queue(text, "Q");
  ASSERT_TRUE(queue);
  ASSERT_EQ(queue->jobs.size(), 1U);
  EXPECT_EQ(queue->jobs.front().id, "10");
}

TEST(Queue, IdsAreDigitsAndCutRowsAreAnError) {
  std::string text(kRow);
  text.replace(0, 2, "-f");
  const auto queue = parse_queue(text, "Q");
  ASSERT_TRUE(queue);
  EXPECT_TRUE(queue->jobs.empty());
  EXPECT_EQ(queue->unreadable, 1U);
  for (const auto size : {kRow.size() - 4, std::size_t{5}, std::size_t{60}})
    EXPECT_FALSE(parse_queue(kRow.substr(0, size), "Q")) << size;
  EXPECT_TRUE(parse_queue("", "Q"));
}

TEST(Length, IsAsSlurmPrintsIt) {
  EXPECT_EQ(parse_length("1:00"), 1min);
  EXPECT_EQ(parse_length("02:03:04"), 2h + 3min + 4s);
  EXPECT_EQ(parse_length("1-00:00:00"), 24h);
  for (const auto* text : {"", "UNLIMITED", "INVALID", "10", "1-", "-1:00", "1:2:3:4", "99999999999:00", ":"})
    EXPECT_EQ(parse_length(text), std::nullopt) << text;
}

}  // namespace
}  // namespace tidewatt::slurm
