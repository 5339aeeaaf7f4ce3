#include "tidewatt/slurm/state_file.h"

#include <gtest/gtest.h>

namespace tidewatt::slurm {
namespace {

TEST(StateFile, ReadsBackTheSame) {
  const auto at = *parse_rfc3339("2026-01-01T00:00:00.250Z");
  const Jobs jobs{{"7", {at, at + std::chrono::hours{24}, at + std::chrono::hours{3}, Stage::requeueing, 2}},
                  {"8", {at, at, std::nullopt, Stage::waiting, 0}}};
  const auto again = parse_jobs(to_text(jobs));
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(*again, jobs);
}

TEST(StateFile, OfAnotherFormIsRefused) {
  for (const auto* text : {"", "{}", "[]", R"({"schema":"tidewatt-slurm-controller/2","jobs":{}})",
                           R"({"schema":"tidewatt-slurm-controller/1","jobs":{"7":{}}})",
                           R"({"schema":"tidewatt-slurm-controller/1","jobs":{"7":5}})"})
    EXPECT_FALSE(parse_jobs(text)) << text;
}

}  // namespace
}  // namespace tidewatt::slurm
