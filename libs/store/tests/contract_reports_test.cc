// What tasks report, in every store: each epoch and each request once, counters moved by who read them last.
#include "store_fixtures.h"

namespace tidewatt::store::testing {
namespace {

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, ::testing::ValuesIn(all_kinds()), kind_name);

constexpr std::chrono::hours kAnHour{1};

EpochReport epoch(std::int64_t number, std::optional<std::int64_t> microjoules = std::nullopt) {
  EpochReport report{"default", "bert", number, kNoon + Milliseconds{number}, 40, std::nullopt, std::nullopt};
  if (microjoules) report.energy_total = Microjoules{*microjoules};
  return report;
}

TEST_P(StoreContract, AnEpochCountsOnceAndItsFirstReportStays) {
  EXPECT_TRUE(*store_.add_epoch(epoch(2, 20)));
  EXPECT_TRUE(*store_.add_epoch(epoch(1, 10)));
  EXPECT_FALSE(*store_.add_epoch(epoch(2, 99)));
  auto other = epoch(2);
  other.cluster = "lab";
  other.epochs_total.reset();
  other.step_latency = std::chrono::microseconds{1'500};
  EXPECT_TRUE(*store_.add_epoch(other)) << "another cluster's task of the same name";
  EXPECT_EQ(*store_.epochs("default", "bert", 10), (std::vector{epoch(1, 10), epoch(2, 20)}));
  EXPECT_EQ(*store_.epochs("lab", "bert", 10), std::vector{other});
  EXPECT_TRUE(store_.epochs("default", "nobody", 10)->empty());
}

TEST_P(StoreContract, OfManyEpochsTheHighestAreRead) {
  for (std::int64_t n = 12; n > 0; --n) ASSERT_TRUE(*store_.add_epoch(epoch(n)));
  EXPECT_EQ(*store_.epochs("default", "bert", 2), (std::vector{epoch(11), epoch(12)}));
}

TEST_P(StoreContract, ARequestOfAGroupCountsOnce) {
  EXPECT_TRUE(*store_.add_usage({"default", "chat", "r1", kNoon, {100, 20}}));
  EXPECT_FALSE(*store_.add_usage({"default", "chat", "r1", kNoon + kAnHour, {7, 7}}));
  EXPECT_TRUE(*store_.add_usage({"default", "chat", "r2", kNoon + Milliseconds{1}, {1, 2}}));
  EXPECT_TRUE(*store_.add_usage({"default", "code", "r1", kNoon + kAnHour, {5, 6}}));
  EXPECT_EQ(*store_.token_hours(kHour, kHour + 2 * kAnHour),
            (std::vector<TokenHour>{{"default", "chat", kHour, {101, 22}},
                                    {"default", "code", kHour + kAnHour, {5, 6}}}));
  EXPECT_EQ(store_.token_hours(kHour, kHour + kAnHour)->size(), 1U);
  EXPECT_TRUE(store_.token_hours(kHour + 2 * kAnHour, kHour + 3 * kAnHour)->empty());
}

TEST_P(StoreContract, ForgottenRequestsKeepTheirTokens) {
  ASSERT_TRUE(*store_.add_usage({"default", "chat", "r1", kNoon, {100, 20}}));
  ASSERT_TRUE(*store_.add_usage({"default", "chat", "r2", kNoon + Milliseconds{1}, {1, 1}}));
  ASSERT_TRUE(store_.forget_requests(kNoon + Milliseconds{1}));
  EXPECT_EQ(store_.token_hours(kHour, kHour + kAnHour)->at(0).tokens, (Tokens{101, 21}));
  EXPECT_FALSE(*store_.add_usage({"default", "chat", "r2", kNoon, {1, 1}}));
  EXPECT_TRUE(*store_.add_usage({"default", "chat", "r1", kNoon, {1, 1}}));
}

TEST_P(StoreContract, ACounterIsMovedOnlyFromWhereItStands) {
  const std::string series = "vllm:prompt_tokens_total{pod=\"a\"}";
  const TokenCounter first{"default", series, kNoon, 100};
  const TokenCounter second{"default", series, kNoon + Milliseconds{15'000}, 130};
  EXPECT_EQ(*store_.token_counter("default", series), std::nullopt);
  EXPECT_TRUE(*store_.step_token_counter({std::nullopt, first, {}, {}})) << "a baseline";
  EXPECT_FALSE(*store_.step_token_counter({std::nullopt, second, "chat", {130, 0}})) << "somebody has it";
  EXPECT_TRUE(*store_.step_token_counter({first, second, "chat", {30, 0}}));
  EXPECT_FALSE(*store_.step_token_counter({first, second, "chat", {30, 0}})) << "the other of a pair";
  EXPECT_EQ(*store_.token_counter("default", series), second);
  EXPECT_EQ(*store_.token_hours(kHour, kHour + kAnHour),
            (std::vector<TokenHour>{{"default", "chat", kHour, {30, 0}}}));
}

}  // namespace
}  // namespace tidewatt::store::testing
