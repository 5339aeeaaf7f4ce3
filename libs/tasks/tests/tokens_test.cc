#include "tidewatt/tasks/tokens.h"

#include <gtest/gtest.h>

#include <limits>

namespace tidewatt::tasks {
namespace {

TEST(TokensPerJoule, CountsBothKindsOverAllJoules) {
  // 600 + 400 tokens on 2000 J: 0.5 per joule, 5 J an output token.
  const auto got = token_efficiency(true, TokenCounts{600, 400}, Joules{2000});
  EXPECT_DOUBLE_EQ(*got.tokens_per_joule.value, 0.5);
  EXPECT_DOUBLE_EQ(*got.joules_per_output_token.value, 5);
  EXPECT_EQ(got.tokens_per_joule.reason, "");
}

TEST(TokensPerJoule, WithoutAFigureThereIsAReason) {
  struct Row {
    bool group;
    std::optional<TokenCounts> usage;
    std::optional<Joules> energy;
    std::string_view reason;
  };
  const Row rows[] = {
      {false, TokenCounts{1, 1}, Joules{1}, "task_has_no_group"},
      {true, std::nullopt, Joules{1}, "no_usage_reported"},
      {true, TokenCounts{0, 0}, Joules{1}, "no_tokens"},
      {true, TokenCounts{1, 1}, std::nullopt, "energy_unknown"},
      {true, TokenCounts{1, 1}, Joules{0}, "no_energy"},
      {false, std::nullopt, std::nullopt, "task_has_no_group"},
      {true, std::nullopt, std::nullopt, "no_usage_reported"},
  };
  for (const auto& row : rows) {
    const auto got = token_efficiency(row.group, row.usage, row.energy);
    for (const auto& one : {got.tokens_per_joule, got.joules_per_output_token}) {
      EXPECT_EQ(one.value, std::nullopt);
      EXPECT_EQ(one.reason, row.reason);
    }
  }
}

TEST(TokensPerJoule, PromptsAloneHaveNoOutputToken) {
  const auto got = token_efficiency(true, TokenCounts{10, 0}, Joules{5});
  EXPECT_DOUBLE_EQ(*got.tokens_per_joule.value, 2);
  EXPECT_EQ(got.joules_per_output_token.reason, "no_output_tokens");
}

TEST(TokensPerJoule, FullCountersDoNotOverflow) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_NEAR(*token_efficiency(true, TokenCounts{kMost, kMost}, Joules{1}).tokens_per_joule.value, 3.69e19,
              1e17);
}

}  // namespace
}  // namespace tidewatt::tasks
