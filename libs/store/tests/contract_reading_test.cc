// What every store must answer when asked.
#include "store_fixtures.h"

namespace tidewatt::store::testing {
namespace {

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, ::testing::ValuesIn(all_kinds()), kind_name);

const auto kDevice = gpu_account(Scope::device, "n1/0");

TEST_P(StoreContract, TotalsAreTheSumOverAllHoursInEveryMeasure) {
  AccountDelta d{kDevice, {}, kNoon, kNoon + Milliseconds{40'000}};
  const Measures full{Microjoules{1},
                      Microjoules{2},
                      Microjoules{3},
                      Microjoules{4},
                      Microjoules{5},
                      Microjoules{6},
                      Milliseconds{7},
                      Milliseconds{8},
                      Milliseconds{9},
                      Milliseconds{10},
                      11};
  d.hours = {{kHour, full}, {kHour + std::chrono::hours{1}, full}};
  ASSERT_EQ(put(store_, accrual(kNode, 0, {d})), AccrueOutcome::applied);
  ASSERT_EQ(put(store_, accrual(kNode, 1, {d})), AccrueOutcome::applied);
  WideMeasures expected;
  for (int i = 0; i < 4; ++i) expected += full;
  const auto accounts = store_.accounts({});
  ASSERT_TRUE(accounts);
  ASSERT_EQ(accounts->size(), 1U);
  EXPECT_EQ(accounts->at(0).key, kDevice);
  EXPECT_EQ(accounts->at(0).totals, expected);
  EXPECT_EQ(accounts->at(0).first_sample_at, kNoon);
  EXPECT_EQ(accounts->at(0).last_sample_at, kNoon + Milliseconds{40'000});
  const auto rows = store_.hourly({}, kHour, kHour + std::chrono::hours{5});
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 2U);
  WideMeasures twice;
  twice += full;
  twice += full;
  EXPECT_EQ(rows->at(1).measures, twice);
}

TEST_P(StoreContract, SampleTimesOnlyWiden) {
  const auto with = [](std::optional<UtcTime> first, std::optional<UtcTime> last) {
    auto d = delta(kDevice, 1);
    d.first_sample_at = first;
    d.last_sample_at = last;
    return d;
  };
  const auto minute = Milliseconds{60'000};
  ASSERT_EQ(put(store_, accrual(kNode, 0, {with(std::nullopt, std::nullopt)})), AccrueOutcome::applied);
  EXPECT_EQ(store_.accounts({})->at(0).first_sample_at, std::nullopt);
  ASSERT_EQ(put(store_, accrual(kNode, 1, {with(kNoon, kNoon)})), AccrueOutcome::applied);
  ASSERT_EQ(put(store_, accrual(kNode, 2, {with(kNoon + minute, kNoon + minute)})), AccrueOutcome::applied);
  ASSERT_EQ(put(store_, accrual(kNode, 3, {with(kNoon - minute, kNoon - minute)})), AccrueOutcome::applied);
  ASSERT_EQ(put(store_, accrual(kNode, 4, {with(std::nullopt, std::nullopt)})), AccrueOutcome::applied);
  const auto account = store_.accounts({})->at(0);
  EXPECT_EQ(account.first_sample_at, kNoon - minute);
  EXPECT_EQ(account.last_sample_at, kNoon + minute);
}

TEST_P(StoreContract, SumsAreExactTo10To22Microjoules) {
  // 10^22 uJ in rows that each just fit 64 bits, over two accounts.
  constexpr std::int64_t kRow = 9'000'000'000'000'000'000;
  constexpr int kRows = 1'112;
  const auto other = gpu_account(Scope::device, "n1/1");
  std::vector<Accrual> call;
  for (int i = 0; i < kRows; ++i) {
    const auto hour = kHour + std::chrono::hours{i};
    call.push_back(accrual(kNode, static_cast<std::uint64_t>(i),
                           {delta(kDevice, kRow, hour), delta(other, kRow - i, hour)}));
  }
  ASSERT_TRUE(store_.accrue(call));
  EXPECT_EQ(energy_of(store_, kDevice).to_string(), "10008000000000000000000");
  const auto sums = store_.sums({}, kHour, kHour + std::chrono::hours{kRows});
  ASSERT_TRUE(sums);
  ASSERT_EQ(sums->size(), 2U);
  EXPECT_EQ(sums->at(0).totals.energy.to_string(), "10008000000000000000000");
  EXPECT_EQ(sums->at(0).rows, kRows);
  EXPECT_EQ(sums->at(1).totals.energy.to_string(), "10007999999999999382284");
}

TEST_P(StoreContract, AnHourBeyond64BitsIsExactAsSumAndAsRow) {
  constexpr std::int64_t kRow = 9'000'000'000'000'000'000;
  for (std::uint64_t i = 0; i < 3; ++i)
    ASSERT_EQ(put(store_, accrual(kNode, i, {delta(kDevice, kRow)})), AccrueOutcome::applied);
  EXPECT_EQ(energy_of(store_, kDevice).to_string(), "27000000000000000000");
  EXPECT_EQ(store_.sums({}, kHour, kHour + std::chrono::hours{1})->at(0).totals.energy.to_string(),
            "27000000000000000000");
  const auto rows = store_.hourly({}, kHour, kHour + std::chrono::hours{1});
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ(rows->front().measures.energy.to_string(), "27000000000000000000");
}

TEST_P(StoreContract, RangesOfHoursAreHalfOpenAndRowsAreCounted) {
  for (int i = 0; i < 4; ++i) {
    const auto hour = kHour + std::chrono::hours{i};
    ASSERT_EQ(put(store_, accrual(kNode, static_cast<std::uint64_t>(i),
                                  {delta(kDevice, 1 << i, hour), delta(kDevice, 16, hour)})),
              AccrueOutcome::applied);
  }
  const auto from = kHour + std::chrono::hours{1};
  const auto to = kHour + std::chrono::hours{3};
  const auto sums = store_.sums({}, from, to);
  ASSERT_TRUE(sums);
  ASSERT_EQ(sums->size(), 1U);
  EXPECT_EQ(sums->at(0).totals.energy, WideMicrojoules(Microjoules{2 + 4 + 32}));
  EXPECT_EQ(sums->at(0).rows, 2);
  const auto rows = store_.hourly({}, from, to);
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_EQ(rows->at(0).hour, from);
  EXPECT_EQ(rows->at(1).hour, from + std::chrono::hours{1});
  EXPECT_TRUE(store_.sums({}, to, to)->empty());
  EXPECT_TRUE(store_.sums({}, to, from)->empty());
  EXPECT_TRUE(store_.hourly({}, kHour - std::chrono::hours{9}, kHour)->empty())
      << "no row is no account, not 0 Wh";
}

TEST_P(StoreContract, FiltersCombine) {
  const AccountKey keys[] = {{"a", Scope::device, "n1/0", "", "gpu"},
                             {"a", Scope::node, "n1", "", "gpu"},
                             {"a", Scope::node, "n1", "", "dram"},
                             {"a", Scope::node, "n2", "", "gpu"},
                             {"b", Scope::node, "n1", "", "gpu"},
                             {"b", Scope::task, "n1", "", "gpu"},
                             {"b", Scope::task_device, "n1", "n1/0", "gpu"},
                             {"b", Scope::task_device, "n1", "n1/1", "gpu"},
                             {"b", Scope::task, "it's \"q\"\\\t\x01", "", "gpu"}};
  std::vector<AccountDelta> deltas;
  for (const auto& key : keys) deltas.push_back(delta(key, 1));
  ASSERT_EQ(put(store_, accrual(kNode, 0, deltas)), AccrueOutcome::applied);
  const auto count = [&](const AccountFilter& filter) {
    const auto sums = store_.sums(filter, kHour, kHour + std::chrono::hours{1});
    const auto rows = store_.hourly(filter, kHour, kHour + std::chrono::hours{1});
    const auto found = store_.accounts(filter);
    EXPECT_EQ(sums->size(), found->size());
    EXPECT_EQ(rows->size(), found->size());
    EXPECT_TRUE(std::is_sorted(found->begin(), found->end(),
                               [](const auto& a, const auto& b) { return a.key < b.key; }));
    return found->size();
  };
  EXPECT_EQ(count({}), 9U);
  EXPECT_EQ(count({Scope::node, "", {}, ""}), 4U);
  EXPECT_EQ(count({Scope::node, "a", {}, ""}), 3U);
  EXPECT_EQ(count({Scope::node, "a", {"n1"}, ""}), 2U);
  EXPECT_EQ(count({Scope::node, "a", {"n1", "n2", "n3"}, "gpu"}), 2U);
  EXPECT_EQ(count({std::nullopt, "", {"n1"}, ""}), 6U);
  EXPECT_EQ(count({Scope::task_device, "b", {"n1"}, ""}), 2U);
  EXPECT_EQ(count({std::nullopt, "", {}, "dram"}), 1U);
  EXPECT_EQ(count({Scope::task, "", {keys[8].id}, ""}), 1U);
  EXPECT_EQ(count({Scope::node, "", {"nobody"}, ""}), 0U);
}

TEST_P(StoreContract, UnknownStaysUnknownInCurves) {
  CurvePoint p{kNoon, std::nullopt, {}};
  p.devices.push_back({"gpu",
                       0,
                       std::nullopt,
                       std::nullopt,
                       std::nullopt,
                       std::nullopt,
                       Quality::estimated,
                       {},
                       std::nullopt});
  p.devices.push_back({"cpu_package",
                       1,
                       Milliwatts{0},
                       Milliwatts{-5},
                       Milliwatts{9},
                       std::nullopt,
                       Quality::simulated,
                       {"a", "b"},
                       Health{std::nullopt, std::nullopt, std::nullopt, 3}});
  p.devices.push_back({"gpu",
                       7,
                       std::nullopt,
                       Milliwatts{3},
                       std::nullopt,
                       Milliwatts{700'000},
                       Quality::measured,
                       {},
                       Health{0.1 + 0.2, ~std::uint64_t{0}, -1, std::nullopt}});
  ASSERT_EQ(put(store_, accrual(kNode, 0, {}, {p})), AccrueOutcome::applied);
  const auto read = store_.curve(kNode, {kNoon, kNoon + Milliseconds{1}}, 10);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 1U);
  const auto& got = read->at(0);
  EXPECT_EQ(got.at, kNoon);
  EXPECT_EQ(got.cpu_util, std::nullopt);
  ASSERT_EQ(got.devices.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& a = p.devices[i];
    const auto& b = got.devices[i];
    EXPECT_EQ(
        std::tie(a.domain, a.index, a.power, a.power_min, a.power_max, a.power_limit, a.quality, a.holders),
        std::tie(b.domain, b.index, b.power, b.power_min, b.power_max, b.power_limit, b.quality, b.holders));
    ASSERT_EQ(a.health.has_value(), b.health.has_value());
    if (!a.health) continue;
    EXPECT_EQ(a.health->temperature_c, b.health->temperature_c);
    EXPECT_EQ(a.health->throttle_reasons, b.health->throttle_reasons);
    EXPECT_EQ(a.health->ecc_errors, b.health->ecc_errors);
    EXPECT_EQ(a.health->xid_errors, b.health->xid_errors);
  }
}

std::vector<std::int64_t> powers(const Result<std::vector<CurvePoint>>& points) {
  std::vector<std::int64_t> values;
  for (const auto& p : *points) values.push_back(p.devices.at(0).power->n);
  return values;
}

TEST_P(StoreContract, CurvesComeByTimeAndALimitKeepsTheLatest) {
  const auto day = std::chrono::hours{24};
  std::uint64_t revision = 0;
  // Out of order and over three days.
  for (const int i : {3, 0, 5, 1, 4, 2})
    ASSERT_EQ(put(store_, accrual(kNode, revision++, {}, {point(kNoon + i * day / 2, Milliwatts{i})})),
              AccrueOutcome::applied);
  ASSERT_EQ(put(store_, accrual({"default", "n2"}, 0, {}, {point(kNoon, Milliwatts{77})})),
            AccrueOutcome::applied);
  const UtcRange all{kNoon - 9 * day, kNoon + 9 * day};
  EXPECT_EQ(powers(store_.curve(kNode, all, 100)), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(powers(store_.curve(kNode, all, 4)), (std::vector<std::int64_t>{2, 3, 4, 5}));
  EXPECT_EQ(powers(store_.curve(kNode, {kNoon + day / 2, kNoon + 2 * day}, 100)),
            (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(powers(store_.curve(kNode, {kNoon + day / 2, kNoon + 2 * day}, 2)),
            (std::vector<std::int64_t>{2, 3}));
  EXPECT_TRUE(store_.curve(kNode, all, 0)->empty());
  EXPECT_TRUE(store_.curve(kNode, {kNoon, kNoon}, 9)->empty());
  EXPECT_TRUE(store_.curve({"default", "nobody"}, all, 9)->empty());
}

TEST_P(StoreContract, TheSameInstantTwiceKeepsTheLaterWrite) {
  ASSERT_EQ(put(store_, accrual(kNode, 0, {}, {point(kNoon, Milliwatts{1})})), AccrueOutcome::applied);
  ASSERT_EQ(put(store_, accrual(kNode, 1, {}, {point(kNoon, Milliwatts{2}), point(kNoon, Milliwatts{3})})),
            AccrueOutcome::applied);
  EXPECT_EQ(powers(store_.curve(kNode, {kNoon, kNoon + Milliseconds{1}}, 9)), (std::vector<std::int64_t>{3}));
}

TEST_P(StoreContract, DroppingCurvesTakesWholeDaysAndLeavesTotals) {
  const auto day = std::chrono::hours{24};
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(put(store_, accrual(kNode, static_cast<std::uint64_t>(i), {delta(kDevice, 1)},
                                  {point(kNoon + i * day, Milliwatts{i})})),
              AccrueOutcome::applied);
  ASSERT_TRUE(store_.drop_curves(kNoon + day));  // noon of the second day: only the first has ended
  const UtcRange all{kNoon - 9 * day, kNoon + 9 * day};
  EXPECT_EQ(powers(store_.curve(kNode, all, 100)), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(energy_of(store_, kDevice), WideMicrojoules(Microjoules{3}));
  // A late point for a dropped day is no error.
  ASSERT_EQ(put(store_, accrual(kNode, 3, {}, {point(kNoon, Milliwatts{9})})), AccrueOutcome::applied);
  EXPECT_EQ(powers(store_.curve(kNode, all, 100)), (std::vector<std::int64_t>{9, 1, 2}));
  ASSERT_TRUE(store_.drop_curves(kNoon + 9 * day));
  EXPECT_TRUE(store_.curve(kNode, all, 100)->empty());
}

TEST_P(StoreContract, NodesAreNotedAndTheFirstTimeSeenStays) {
  EXPECT_TRUE(store_.nodes()->empty());
  NodeInfo info;
  info.key = {"default", "n2"};
  info.zone = "DE";
  info.last_seen_at = kNoon;
  info.last_sample_at = kNoon;
  info.labels = {{"rack", "7"}};
  info.devices.push_back({});
  info.devices[0].domain = "gpu";
  info.devices[0].power = Watts{0.1};
  info.devices[0].holders.push_back({"job", 0.5, std::nullopt, HolderState::sleeping});
  info.agents.push_back({"agent-1", kNoon, 1, 2});
  info.sources = {{"nvidia", SourceState::failed, "no driver"}, {"rapl", SourceState::ok, ""}};
  info.checks.push_back({"gpu", 0, {Microjoules{7}, Microjoules{8}, Milliseconds{9}}});
  ASSERT_TRUE(note(store_, info));
  info.last_seen_at = kNoon + Milliseconds{5};
  info.last_sample_at = std::nullopt;
  info.zone = "FR";
  ASSERT_TRUE(note(store_, info));
  info.key.node_id = "n1";
  ASSERT_TRUE(note(store_, info));
  const auto nodes = store_.nodes();
  ASSERT_TRUE(nodes);
  ASSERT_EQ(nodes->size(), 2U);
  EXPECT_EQ(nodes->at(0)->key.node_id, "n1");
  const auto& n2 = *nodes->at(1);
  EXPECT_EQ(n2.first_seen_at, kNoon);
  EXPECT_EQ(n2.last_seen_at, kNoon + Milliseconds{5});
  EXPECT_EQ(n2.last_sample_at, kNoon) << "a known sample time isn't forgotten";
  EXPECT_EQ(n2.zone, "FR");
  EXPECT_EQ(n2.devices.at(0).holders.at(0).compute_share, 0.5);
  EXPECT_EQ(n2.agents, info.agents);
  EXPECT_EQ(n2.sources, info.sources);
  EXPECT_EQ(n2.checks, info.checks);
  EXPECT_NE(*store_.node({"default", "n1"}), nullptr);
  EXPECT_EQ(*store_.node({"other", "n1"}), nullptr);
}

TEST_P(StoreContract, ABookedNodeThatWasNeverNotedIsNotListed) {
  ASSERT_EQ(put(store_, accrual(kNode, 0, {})), AccrueOutcome::applied);
  EXPECT_TRUE(store_.nodes()->empty());
  EXPECT_EQ(*store_.node(kNode), nullptr);
}

TEST_P(StoreContract, TasksTokensAndAuditAreKept) {
  ASSERT_TRUE(store_.put_task({"default", "b", "g", "team", "training", kNoon, std::nullopt}));
  ASSERT_TRUE(store_.put_task({"default", "a", "", "", "", std::nullopt, std::nullopt}));
  ASSERT_TRUE(store_.put_task(
      {"default", "b", "g", "team", "training", kNoon, kNoon + Milliseconds{1}, kNoon - Milliseconds{7}}));
  const auto moved = store_.moved_tasks();
  ASSERT_EQ(moved->size(), 1U);
  EXPECT_EQ(moved->front().task_id, "b");
  EXPECT_EQ(moved->front().at_once_at, kNoon - Milliseconds{7});
  const auto tasks = store_.tasks();
  ASSERT_EQ(tasks->size(), 2U);
  EXPECT_EQ(tasks->at(0).task_id, "a");
  EXPECT_EQ(tasks->at(0).started_at, std::nullopt);
  EXPECT_EQ(tasks->at(1).finished_at, kNoon + Milliseconds{1});
  ASSERT_TRUE(
      store_.put_token({"t1", "ci", "agent", "", std::string(64, 'f'), kNoon, std::nullopt, std::nullopt}));
  ASSERT_TRUE(store_.put_token({"t1", "ci", "agent", "", std::string(64, 'f'), kNoon, std::nullopt, kNoon}));
  ASSERT_EQ(store_.tokens()->size(), 1U);
  EXPECT_EQ(store_.tokens()->at(0).revoked_at, kNoon);
  EXPECT_EQ(store_.tokens()->at(0).expires_at, std::nullopt);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(store_.append_audit({kNoon, "ops", "revoke", std::to_string(i)}));
  const auto audit = store_.audit(2);
  ASSERT_EQ(audit->size(), 2U);
  EXPECT_EQ(audit->at(0).subject, "2") << "the latest first";
  EXPECT_EQ(audit->at(1).subject, "1");
  EXPECT_TRUE(store_.ping());
}

TEST_P(StoreContract, ATokenIsReplacedOnlyAsItWas) {
  const ledger::TokenRecord living{"t1",  "ci",         "agent",     "", std::string(64, 'f'),
                                   kNoon, std::nullopt, std::nullopt};
  auto ended = living;
  ended.expires_at = kNoon + Milliseconds{1000};
  auto successor = living;
  successor.id = "t2";
  EXPECT_FALSE(*store_.replace_token(living, ended, successor)) << "there is no such token";
  ASSERT_TRUE(store_.put_token(living));
  EXPECT_TRUE(*store_.replace_token(living, ended, successor));
  EXPECT_EQ(*store_.tokens(), (std::vector<ledger::TokenRecord>{ended, successor}));
  auto other = living;
  other.id = "t3";
  EXPECT_FALSE(*store_.replace_token(living, ended, other)) << "it was replaced already";
  auto revoked = ended;
  revoked.revoked_at = kNoon;
  ASSERT_TRUE(store_.put_token(revoked));
  EXPECT_FALSE(*store_.replace_token(ended, living, other)) << "what was revoked stays so";
  EXPECT_EQ(*store_.tokens(), (std::vector<ledger::TokenRecord>{revoked, successor}));
}

}  // namespace
}  // namespace tidewatt::store::testing
