// Team hours are the sums of their rows, in every store, whatever is late, moved, folded or still in the
// journal.
#include <rapidcheck/gtest.h>

#include <map>
#include <sstream>
#include <tuple>

#include "store_fixtures.h"
#include "tidewatt/ledger/ledger.h"
#include "tidewatt/ledger/months.h"

namespace tidewatt::store::testing {
namespace {

using rc::gen::inRange;
using Key = std::tuple<Scope, UtcHour, bool, std::string, std::string, std::string>;
using Sums = std::map<Key, WideMeasures>;

const UtcHour kMonthEnd = hour_of(*parse_rfc3339("2026-11-01T00:00:00Z"));

ImageParts team_hours(UtcHour from = UtcHour::min(), UtcHour to = UtcHour::max()) {
  ImageParts parts;
  parts.team_hours = true;
  parts.from = from;
  parts.to = to;
  return parts;
}

/// As given: in order, each key once.
Sums kept(Store& store, const ImageParts& parts) {
  struct Sink final : ImageSink {
    using ImageSink::add;
    Status add(const TeamHour& hour) override {
      const Key key{hour.scope, hour.hour, hour.late, hour.cluster, hour.team, hour.domain};
      EXPECT_TRUE(sums.empty() || std::prev(sums.end())->first < key) << "in order, each key once";
      sums[key] = hour.measures;
      return {};
    }
    Sums sums;
  };
  Sink sink;
  const auto read = store.read_image(parts, sink);
  EXPECT_TRUE(read) << read.error().to_string();
  return sink.sums;
}

/// The answer without any sum that is kept: from the rows.
Sums added_up(Store& store, const ImageParts& parts) {
  struct Sink final : ImageSink {
    using ImageSink::add;
    Status add(const HourlyRow& row) override { return add(row.key, row.hour, false, row.measures); }
    Status add(const Adjustment& late) override { return add(late.key, late.hour, true, late.measures); }
    Status add(const AccountKey& key, UtcHour hour, bool late, const WideMeasures& measures) {
      if (!has_team_hours(key.scope)) return {};
      const auto team = key.scope == Scope::node ? std::string{} : teams[{key.cluster, key.id}];
      sums[{key.scope, hour, late, key.cluster, team, key.domain}] += measures;
      return {};
    }
    std::map<std::pair<std::string, std::string>, std::string> teams;
    Sums sums;
  };
  Sink sink;
  const auto tasks = store.tasks();
  EXPECT_TRUE(tasks);
  for (const auto& task : *tasks) sink.teams[{task.cluster, task.task_id}] = task.team;
  auto rows = parts;
  rows.team_hours = false;
  rows.hourly = rows.adjustments = true;
  EXPECT_TRUE(store.read_image(rows, sink));
  return sink.sums;
}

void team(Store& store, const std::string& task, const std::string& team) {
  EXPECT_TRUE(store.put_task(
      {.task_id = task, .group_id = {}, .team = team, .kind = {}, .started_at = {}, .finished_at = {}}));
}

class TeamHours : public StoreContract {
 protected:
  void book(std::vector<AccountDelta> deltas) {
    EXPECT_EQ(put(store_, accrual(kNode, revision_++, std::move(deltas))), AccrueOutcome::applied);
  }
  WideMicrojoules of(const std::string& team, bool late = false, UtcHour hour = kHour) {
    const auto sums = kept(store_, team_hours());
    const auto found = sums.find({Scope::task_device, hour, late, "default", team, "gpu"});
    return found == sums.end() ? WideMicrojoules::from_raw(-1) : found->second.energy;
  }
  void expect_sums_of_rows() {
    for (const auto& parts : {team_hours(), team_hours(kHour, kHour + std::chrono::hours{1})})
      EXPECT_EQ(kept(store_, parts), added_up(store_, parts));
    const auto apart = audit_team_hours(store_);
    ASSERT_TRUE(apart) << apart.error().to_string();
    EXPECT_EQ(apart->to_string(), "0");
  }
  std::uint64_t revision_ = 0;
};

TEST_P(TeamHours, AreWhatTheTasksOfATeamUsed) {
  team(store_, "a", "red");
  team(store_, "b", "red");
  book({delta(gpu_account(Scope::task_device, "a", "n1/0"), 5),
        delta(gpu_account(Scope::task_device, "b", "n1/1"), 7),
        delta(gpu_account(Scope::task_device, "c", "n1/2"), 11), delta(gpu_account(Scope::node, "n1"), 23),
        delta(gpu_account(Scope::task, "a"), 5), delta(gpu_account(Scope::device, "n1/0"), 5)});
  EXPECT_EQ(of("red").to_string(), "12");
  EXPECT_EQ(of("").to_string(), "11");
  const auto sums = kept(store_, team_hours());
  EXPECT_EQ(sums.size(), 3U) << "two teams and the cluster's nodes";
  expect_sums_of_rows();
}

TEST_P(TeamHours, FollowATaskToItsNewTeamWithAllItsHours) {
  team(store_, "a", "red");
  book({delta(gpu_account(Scope::task_device, "a", "n1/0"), 5),
        delta(gpu_account(Scope::task_device, "b", "n1/1"), 7)});
  book({delta(gpu_account(Scope::task_device, "a", "n1/0"), 100, kHour - std::chrono::hours{1})});
  team(store_, "a", "blue");
  EXPECT_EQ(of("blue").to_string(), "5");
  EXPECT_EQ(of("red").to_string(), "-1") << "a team without rows has no hour";
  team(store_, "b", "blue");  // its first team, after its energy
  team(store_, "a", "green");
  book({delta(gpu_account(Scope::task_device, "a", "n1/0"), 1)});
  EXPECT_EQ(of("blue").to_string(), "7");
  EXPECT_EQ(of("green").to_string(), "6");
  EXPECT_EQ(of("green", false, kHour - std::chrono::hours{1}).to_string(), "100");
  team(store_, "a", "red");
  team(store_, "a", "green");
  expect_sums_of_rows();
}

TEST_P(TeamHours, TellWhatCameAfterTheSealApart) {
  const auto october = kMonthEnd - std::chrono::hours{1};
  team(store_, "a", "red");
  book({delta(gpu_account(Scope::task_device, "a", "n1/0"), 5, october),
        delta(gpu_account(Scope::node, "n1"), 5, october)});
  ASSERT_TRUE(store_.close_month(*parse_month("2026-10"), kNoon));
  book({delta(gpu_account(Scope::task_device, "a", "n1/0"), 7, october),
        delta(gpu_account(Scope::node, "n1"), 7, october)});
  EXPECT_EQ(of("red", false, october).to_string(), "5");
  EXPECT_EQ(of("red", true, october).to_string(), "7");
  team(store_, "a", "blue");
  EXPECT_EQ(of("blue", true, october).to_string(), "7");
  EXPECT_EQ(of("red", true, october).to_string(), "-1");
  expect_sums_of_rows();
}

TEST_P(TeamHours, HoldMoreThan64Bits) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  team(store_, "a", "red");
  for (int i = 0; i < 3; ++i)
    book({delta(gpu_account(Scope::task_device, "a", "n1/" + std::to_string(i)), kMost)});
  EXPECT_EQ(of("red").to_string(), "27670116110564327421");
  team(store_, "a", "blue");
  book({delta(gpu_account(Scope::task_device, "a", "n1/0"), 1)});
  EXPECT_EQ(of("blue").to_string(), "27670116110564327422");
  expect_sums_of_rows();
}

INSTANTIATE_TEST_SUITE_P(Stores, TeamHours, ::testing::ValuesIn(all_kinds()), kind_name);

// -- any life of a ledger

AccountDelta any_delta() {
  AccountDelta d{
      {*rc::gen::element<std::string>("default", "b"),
       *rc::gen::element(Scope::node, Scope::task_device, Scope::task), "t" + std::to_string(*inRange(0, 4)),
       "n1/" + std::to_string(*inRange(0, 2)), *rc::gen::element<std::string>("gpu", "dram", "platform")},
      {},
      {},
      {}};
  if (d.key.scope != Scope::task_device) d.key.part.clear();
  for (int hours = *inRange(1, 4); hours > 0; --hours) {
    auto& row = d.at(kMonthEnd + std::chrono::hours{*inRange(-3, 3)});
    row.energy = Microjoules{*inRange<std::int64_t>(0, std::int64_t{1} << 58U)};
    row.unattributed = Microjoules{*inRange(0, 1000)};
    row.shared = Microjoules{*inRange(0, 1000)};
    row.simulated = Microjoules{*inRange(0, 1000)};
    row.covered = Milliseconds{*inRange(0, 1'000'000)};
    row.gap = Milliseconds{*inRange(0, 1'000'000)};
    row.samples = *inRange(0, 5);
  }
  return d;
}

void expect_sums_of_rows(Store& store) {
  const auto from = kMonthEnd + std::chrono::hours{*inRange(-4, 2)};
  for (const auto& parts : {team_hours(), team_hours(from, from + std::chrono::hours{*inRange(0, 6)})}) {
    auto asked = parts;
    if (*inRange(0, 3) == 0) asked.filter.cluster = "b";
    RC_ASSERT(kept(store, asked) == added_up(store, asked));
  }
}

/// Random beats, teams, seals and restarts; at every step the sums are those of the rows.
void expect_exact_life(const std::function<std::unique_ptr<Store>()>& open) {
  auto store = open();
  std::uint64_t revision = 0;
  for (int steps = *inRange(1, 14); steps > 0; --steps) {
    switch (*inRange(0, 8)) {
      case 0:
        expect_sums_of_rows(*store);
        break;
      case 1:
        store.reset();
        store = open();
        break;
      case 2:
        RC_ASSERT(store->close_month(*parse_month("2026-10"), kNoon).has_value());
        break;
      case 3:
      case 4: {
        TaskInfo task;
        task.cluster = *rc::gen::element<std::string>("default", "b");
        task.task_id = "t" + std::to_string(*inRange(0, 4));
        task.team = *rc::gen::element<std::string>("", "red", "blue");
        RC_ASSERT(store->put_task(task).has_value());
        break;
      }
      default: {
        std::vector<AccountDelta> deltas;
        for (int i = *inRange(1, 6); i > 0; --i) deltas.push_back(any_delta());
        RC_ASSERT(put(*store, accrual(kNode, revision, std::move(deltas))) == AccrueOutcome::applied);
        ++revision;
      }
    }
  }
  expect_sums_of_rows(*store);
  RC_ASSERT(*audit_team_hours(*store) == WideMicrojoules{});
}

RC_GTEST_PROP(TeamHoursProperty, SqliteKeepsTheSumsOfTheRows, ()) {
  const TempFolder folder;
  const SqliteOptions options{.path = folder.file(),
                              .checkpoint_bytes = *rc::gen::element<std::size_t>(1, 500, 1'000'000)};
  expect_exact_life([&] { return open_or_abort(options); });
}

TEST(TeamHoursProperty, PostgresKeepsTheSumsOfTheRows) {
  auto* cluster = PostgresCluster::get();
  if (cluster == nullptr) GTEST_SKIP() << PostgresCluster::why_not();
  auto params = rc::detail::configuration().testParams;
  params.maxSuccess = 8;
  params.maxSize = 60;
  params.disableShrinking = true;
  const auto result = rc::detail::checkTestable(
      [cluster] {
        PostgresOptions options;
        options.url = cluster->url();
        options.schema = cluster->fresh_schema();
        options.fold_bytes = *rc::gen::element<std::size_t>(1, 500, 1'000'000);
        expect_exact_life([&] { return open_postgres_or_abort(options); });
      },
      rc::detail::TestMetadata{}, params);
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  EXPECT_TRUE(result.template is<rc::detail::SuccessResult>()) << text.str();
}

}  // namespace
}  // namespace tidewatt::store::testing
