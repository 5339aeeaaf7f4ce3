// What every store must do when it books.
#include <thread>

#include "store_fixtures.h"

namespace tidewatt::store::testing {
namespace {

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, ::testing::ValuesIn(all_kinds()), kind_name);

const auto kDevice = gpu_account(Scope::device, "n1/0");

TEST_P(StoreContract, AnUnknownNodeHasRevisionZeroAndAnEmptyCursor) {
  const auto found = store_.cursor(kNode);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->revision, 0U);
  EXPECT_EQ(*found->cursor, NodeCursor{});
}

TEST_P(StoreContract, AnAppliedAccrualMovesTheCursorByOneRevision) {
  EXPECT_EQ(put(store_, accrual(kNode, 0, {delta(kDevice, 5)})), AccrueOutcome::applied);
  const auto found = store_.cursor(kNode);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->revision, 1U);
  EXPECT_EQ(*found->cursor, cursor_at(1));
}

TEST_P(StoreContract, AConflictLeavesNothingBehind) {
  ASSERT_EQ(put(store_, accrual(kNode, 0, {delta(kDevice, 5)})), AccrueOutcome::applied);
  const auto stranger = gpu_account(Scope::task, "stranger");
  for (const std::uint64_t wrong : {0U, 2U, 99U}) {
    auto late =
        accrual(kNode, wrong, {delta(kDevice, 100), delta(stranger, 100)}, {point(kNoon, Milliwatts{1})});
    EXPECT_EQ(put(store_, late), AccrueOutcome::conflict) << wrong;
  }
  EXPECT_EQ(energy_of(store_, kDevice), WideMicrojoules(Microjoules{5}));
  EXPECT_EQ(store_.accounts({})->size(), 1U);
  EXPECT_TRUE(store_.curve(kNode, {kNoon, kNoon + Milliseconds{1}}, 10)->empty());
  EXPECT_EQ(*store_.cursor(kNode)->cursor, cursor_at(1));
}

TEST_P(StoreContract, AConflictOnANodeThatNobodyKnowsMakesNoNode) {
  EXPECT_EQ(put(store_, accrual(kNode, 1, {delta(kDevice, 5)})), AccrueOutcome::conflict);
  EXPECT_EQ(store_.cursor(kNode)->revision, 0U);
  EXPECT_TRUE(store_.accounts({})->empty());
}

TEST_P(StoreContract, OneCallMayNameManyNodesAndEachIsDecidedAlone) {
  const NodeKey second{"default", "n2"};
  const NodeKey third{"other", "n1"};
  const auto shared = gpu_account(Scope::task, "job");
  const std::vector<Accrual> call{accrual(kNode, 0, {delta(shared, 1)}),
                                  accrual(second, 7, {delta(shared, 10)}),
                                  accrual(third, 0, {delta(shared, 100)})};
  const auto outcomes = store_.accrue(call);
  ASSERT_TRUE(outcomes);
  EXPECT_EQ(*outcomes,
            (std::vector{AccrueOutcome::applied, AccrueOutcome::conflict, AccrueOutcome::applied}));
  EXPECT_EQ(energy_of(store_, shared), WideMicrojoules(Microjoules{101}));
  EXPECT_EQ(store_.cursor(second)->revision, 0U);
}

TEST_P(StoreContract, TheSameNodeTwiceInOneCallIsAppliedInOrder) {
  const std::vector<Accrual> call{
      accrual(kNode, 0, {delta(kDevice, 1)}), accrual(kNode, 0, {delta(kDevice, 10)}),
      accrual(kNode, 1, {delta(kDevice, 100)}), accrual(kNode, 2, {delta(kDevice, 1000)})};
  const auto outcomes = store_.accrue(call);
  ASSERT_TRUE(outcomes);
  EXPECT_EQ(*outcomes, (std::vector{AccrueOutcome::applied, AccrueOutcome::conflict, AccrueOutcome::applied,
                                    AccrueOutcome::applied}));
  EXPECT_EQ(energy_of(store_, kDevice), WideMicrojoules(Microjoules{1101}));
  EXPECT_EQ(store_.cursor(kNode)->revision, 3U);
  EXPECT_EQ(*store_.cursor(kNode)->cursor, cursor_at(3));
}

TEST_P(StoreContract, AnEmptyCallIsAnsweredWithNoOutcomes) {
  const auto outcomes = store_.accrue({});
  ASSERT_TRUE(outcomes);
  EXPECT_TRUE(outcomes->empty());
}

TEST_P(StoreContract, AnAccrualWithoutDeltasStillMovesTheCursor) {
  EXPECT_EQ(put(store_, accrual(kNode, 0, {})), AccrueOutcome::applied);
  EXPECT_EQ(store_.cursor(kNode)->revision, 1U);
}

TEST_P(StoreContract, CursorsOfAnyShapeComeBackAsTheyWere) {
  std::vector<NodeCursor> shapes{{}, cursor_at(5), cursor_at(-5), cursor_at(1'796'000'000'000)};
  shapes[1].devices.push_back(shapes[2].devices[0]);
  shapes[2].devices[0].holders = {"a", "b", std::string(300, 'x')};
  shapes[3].seen.push_back({"boot", "agent", kNoon, {{1, 9}, {11, 4000}}});
  std::uint64_t revision = 0;
  for (int round = 0; round < 2; ++round) {
    for (const auto& shape : shapes) {
      ASSERT_EQ(put(store_, {kNode, revision++, std::make_shared<const NodeCursor>(shape), {}, {}}),
                AccrueOutcome::applied);
      EXPECT_EQ(*store_.cursor(kNode)->cursor, shape);
    }
  }
}

TEST_P(StoreContract, ManyThreadsOnManyNodesWithConflictsAndRetriesAddUpExactly) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 40;
  constexpr int kNodes = 100;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        const NodeKey node{"default", "n" + std::to_string((t * 7 + round * 13) % kNodes)};
        const auto amount = 1 + t * 1000 + round;
        while (true) {
          const auto current = store_.cursor(node);
          if (!current) return ADD_FAILURE() << current.error().to_string();
          const auto outcome = put(store_, accrual(node, current->revision,
                                                   {delta(gpu_account(Scope::node, node.node_id), amount),
                                                    delta(gpu_account(Scope::task, "everywhere"), amount)}));
          if (outcome == AccrueOutcome::applied) break;
        }
      }
    });
  }
  std::thread reader([&] {
    for (int i = 0; i < 50; ++i) {
      // Both scopes in one answer: what one accrual adds is seen whole or not at all.
      const auto accounts = store_.accounts({});
      if (!accounts) return ADD_FAILURE() << accounts.error().to_string();
      WideMicrojoules difference;
      for (const auto& account : *accounts)
        difference += account.key.scope == Scope::task ? account.totals.energy
                                                       : WideMicrojoules{} - account.totals.energy;
      if (difference != WideMicrojoules{}) return ADD_FAILURE() << difference.to_string();
    }
  });
  for (auto& thread : threads) thread.join();
  reader.join();
  std::int64_t expected = 0;
  for (int t = 0; t < kThreads; ++t)
    for (int round = 0; round < kRounds; ++round) expected += 1 + t * 1000 + round;
  EXPECT_EQ(energy_of(store_, gpu_account(Scope::task, "everywhere")),
            WideMicrojoules(Microjoules{expected}));
  std::uint64_t revisions = 0;
  for (int n = 0; n < kNodes; ++n) revisions += store_.cursor({"default", "n" + std::to_string(n)})->revision;
  EXPECT_EQ(revisions, static_cast<std::uint64_t>(kThreads * kRounds));
}

}  // namespace
}  // namespace tidewatt::store::testing
