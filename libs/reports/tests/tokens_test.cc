// SCI per token: whose tokens they are, and what there is where there are none.
#include <gtest/gtest.h>

#include "worked_month.h"

namespace tidewatt::reports {
namespace {

using namespace testing;

struct GroupMonth {
  Rows rows = march_rows();
  std::vector<ledger::TaskInfo> tasks;
  std::vector<ledger::TokenHour> tokens;
  Question question;
  Policy stated = policy();

  GroupMonth() {
    add_task("t1", "g1");
    question.scope = Scope::task_group;
    question.window = kMarch;
    question.tokens = &tokens;
    stated.embodied_kg_per_device = Stated{150, "maker"};
    stated.device_life_hours = 30'000;
  }
  void add_task(const std::string& id, const std::string& group) {
    ledger::TaskInfo task;
    task.task_id = id;
    task.group_id = group;
    tasks.push_back(task);
  }
  void add_tokens(const std::string& group, UtcHour hour, std::int64_t prompt, std::int64_t completion) {
    tokens.push_back({"default", group, hour, {prompt, completion}});
  }
  [[nodiscard]] Report report() {
    return report_of(gather(rows, question, tasks, one_node(), {march_seal()}).value(), stated);
  }
};

TEST(SciPerToken, IsTheGroupsCarbonByItsTokensOfTheWindow) {
  GroupMonth month;
  month.add_tokens("g1", kMarch.from, 1'000'000, 500'000);
  month.add_tokens("g1", kMarch.to - std::chrono::hours{1}, 400'000, 100'000);
  month.add_tokens("g1", kMarch.to, 7, 7);
  month.add_tokens("g2", kMarch.from, 9, 9);
  const auto line = month.report().lines.at(0);
  EXPECT_EQ(line.tokens, 2'000'000);
  // 930 kWh x 0.38 kg and one device for 744 h of 30,000 h at 150 kg.
  EXPECT_NEAR(*line.sci_per_token.value, (930 * 0.38 + 3.72) * 1000 / 2e6, 1e-12);
  EXPECT_FALSE(line.sci_with_overhead);
  month.stated.pue = Stated{1.2, "metered"};
  const auto with = month.report().total;
  EXPECT_TRUE(with.sci_with_overhead);
  EXPECT_NEAR(*with.sci_per_token.value, (930 * 1.2 * 0.38 + 3.72) * 1000 / 2e6, 1e-12);
}

TEST(SciPerToken, IsNullWithItsReason) {
  GroupMonth month;
  EXPECT_EQ(month.report().lines.at(0).sci_per_token.reason, "no_usage_reported");
  month.add_tokens("g1", kMarch.from, 0, 0);
  EXPECT_EQ(month.report().lines.at(0).sci_per_token.reason, "no_tokens");
  month.add_tokens("g1", kMarch.from, 10, 0);
  month.stated.embodied_kg_per_device.reset();
  EXPECT_EQ(month.report().lines.at(0).sci_per_token.reason, "no_embodied_factor");
  month.question.scope = Scope::team;
  EXPECT_EQ(month.report().lines.at(0).sci_per_token.reason, "tokens_are_of_groups");
}

TEST(SciPerToken, CarbonOfAGroupWithoutTokensIsNotDividedByAnothers) {
  GroupMonth month;
  month.add_task("t2", "g2");
  month.rows.add(ledger::Scope::task_device, "t2", "n1/1", "gpu", kMarch.from, 5);
  month.add_tokens("g1", kMarch.from, 10, 10);
  const auto report = month.report();
  EXPECT_TRUE(report.lines.at(0).sci_per_token.value);
  EXPECT_FALSE(report.total.sci_per_token.value);
  EXPECT_EQ(report.total.sci_per_token.reason, "tokens_of_some_lines");
}

TEST(SciPerToken, OfAGroupThatIsNotAllTheAskersIsNotTold) {
  GroupMonth month;
  month.add_task("of_others", "g1");
  month.add_tokens("g1", kMarch.from, 10, 10);
  const std::set<std::pair<std::string, std::string>> own{{"default", "t1"}};
  month.question.tasks = &own;
  const auto line = month.report().lines.at(0);
  EXPECT_EQ(line.sci_per_token.reason, "group_of_several_teams");
  EXPECT_FALSE(line.tokens);
}

}  // namespace
}  // namespace tidewatt::reports
