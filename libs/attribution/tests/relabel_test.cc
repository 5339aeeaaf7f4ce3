#include "tidewatt/attribution/relabel.h"

#include <gtest/gtest.h>

namespace tidewatt::attribution {
namespace {

std::string named(const std::vector<std::string>& rules, const std::string& path) {
  const auto relabel = Relabel::parse(rules);
  EXPECT_TRUE(relabel) << relabel.error().to_string();
  const auto name = relabel->name_of(*workload_of_path(path));
  return name.value_or("(dropped)");
}

TEST(Relabel, WithoutARuleTheTaskIdStays) {
  EXPECT_EQ(named({}, "/system.slice/ollama.service"), "unit/ollama.service");
}

TEST(Relabel, StarsAreGivenToTheName) {
  EXPECT_EQ(named({"unit/*@*.service -> svc/$2-$1 ($0)"}, "/system.slice/vllm@7b.service"),
            "svc/7b-vllm (unit/vllm@7b.service)");
}

TEST(Relabel, FirstRuleThatFitsWins) {
  EXPECT_EQ(named({"unit/x* -> no", "unit/* -> first", "* -> second"}, "/system.slice/ollama.service"),
            "first");
}

TEST(Relabel, LabelIsComparedWhereTheWorkloadHasIt) {
  const std::vector<std::string> rules{"slurm_job=* -> hpc/${slurm_job}", "unit=cron.service -> drop"};
  EXPECT_EQ(named(rules, "/slurm/uid_1/job_5"), "hpc/5");
  EXPECT_EQ(named(rules, "/system.slice/cron.service"), "(dropped)");
  EXPECT_EQ(named(rules, "/system.slice/sshd.service"), "unit/sshd.service");
}

TEST(Relabel, NameThatComesOutEmptyIsNotTaken) {
  EXPECT_EQ(named({"* -> ${slurm_job}"}, "/system.slice/ollama.service"), "unit/ollama.service");
}

TEST(Relabel, RuleWhoseLabelTheWorkloadLacksDoesNotApply) {
  const std::vector<std::string> rules{"* -> step/${slurm_step}", "unit/* -> service/$1"};
  EXPECT_EQ(named(rules, "/slurm/uid_1/job_5"), "slurm/5") << "two jobs would become one task step/";
  EXPECT_EQ(named(rules, "/system.slice/ollama.service"), "service/ollama.service");
}

TEST(Relabel, WrongRulesAreRefusedWithWhatIsWrong) {
  const auto why = [](const std::string& rule) {
    const auto relabel = Relabel::parse({rule});
    return relabel ? std::string{} : relabel.error().message;
  };
  EXPECT_NE(why("unit/* service").find("has no ->"), std::string::npos);
  EXPECT_NE(why("-> x").find("lacks a side"), std::string::npos);
  EXPECT_NE(why("* ->").find("lacks a side"), std::string::npos);
  EXPECT_NE(why("colour=* -> x").find("\"colour\" is no label"), std::string::npos);
  EXPECT_NE(why("cgroup/* -> x/$2").find("$2 stands for a star"), std::string::npos);
  EXPECT_NE(why("unit/a -> b/$1").find("$1 stands for a star"), std::string::npos);
  EXPECT_NE(why("slurm_job=* -> hpc-${nope}").find("\"${nope}\" is no label"), std::string::npos);
  EXPECT_NE(why("* -> ${unit").find("without its }"), std::string::npos);
  EXPECT_NE(why("* -> a$b").find("isn't $1"), std::string::npos);
  EXPECT_NE(why("********** -> x").find("nine stars"), std::string::npos);
  EXPECT_FALSE(Relabel::parse(std::vector<std::string>(65, "a -> b")));
}

TEST(MatchStars, FitsAsAWholeOnly) {
  EXPECT_TRUE(match_stars("abc", "abc"));
  EXPECT_FALSE(match_stars("abc", "abcd"));
  EXPECT_FALSE(match_stars("a*c", "ab"));
  EXPECT_FALSE(match_stars("ab*ba", "aba")) << "prefix and suffix may not overlap";
  EXPECT_EQ(*match_stars("*", ""), std::vector<std::string_view>{""});
  EXPECT_EQ(*match_stars("a*b*c", "axbybzc"), (std::vector<std::string_view>{"x", "ybz"}));
  EXPECT_EQ(*match_stars("**", "xy"), (std::vector<std::string_view>{"", "xy"}));
}

TEST(MatchStars, LongTextsTakeNoLongTime) {
  const std::string text(200'000, 'a');
  EXPECT_FALSE(match_stars("*a*a*a*a*a*a*a*ab*", text));
}

}  // namespace
}  // namespace tidewatt::attribution
