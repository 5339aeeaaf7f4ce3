// What is gathered from the sums by team is what is gathered from the rows, to the microjoule and the
// millisecond.
#include <rapidcheck/gtest.h>

#include "tidewatt/store/memory.h"
#include "worked_month.h"

namespace tidewatt::reports {

// Compared here alone.
bool operator==(const HourlyEnergy& a, const HourlyEnergy& b) {
  return a.energy == b.energy && a.booked == b.booked;
}
bool operator==(const Subject& a, const Subject& b) {
  return std::tie(a.id, a.cluster, a.by_zone, a.adjustments, a.shared, a.simulated, a.unattributed,
                  a.platform, a.platform_known, a.covered, a.gap, a.partial, a.device_time, a.shared_devices,
                  a.domains) == std::tie(b.id, b.cluster, b.by_zone, b.adjustments, b.shared, b.simulated,
                                         b.unattributed, b.platform, b.platform_known, b.covered, b.gap,
                                         b.partial, b.device_time, b.shared_devices, b.domains);
}

namespace testing {
namespace {

using namespace ledger;
using Line = reports::Scope;
using rc::gen::inRange;

/// A ledger whose sums by team nobody may use.
class RowsAlone final : public ImageSource {
 public:
  explicit RowsAlone(ImageSource& all) : all_(all) {}
  Status read_image(const ImageParts& parts, ImageSink& sink) override {
    return all_.read_image(parts, sink);
  }

 private:
  ImageSource& all_;
};

/// Says whether rows were asked for.
class Watched final : public ImageSource {
 public:
  explicit Watched(ImageSource& all) : all_(all) {}
  Status read_image(const ImageParts& parts, ImageSink& sink) override {
    rows = rows || parts.hourly;
    return all_.read_image(parts, sink);
  }
  [[nodiscard]] bool keeps_team_hours() const override { return true; }
  bool rows = false;

 private:
  ImageSource& all_;
};

AccountDelta any_delta(const std::vector<std::string>& domains) {
  const bool of_node = *inRange(0, 3) == 0;
  AccountDelta d;
  d.key = {*rc::gen::element<std::string>("default", "b"),
           of_node ? ledger::Scope::node : ledger::Scope::task_device,
           of_node ? "n" + std::to_string(*inRange(0, 3)) : "t" + std::to_string(*inRange(0, 4)),
           of_node ? std::string{} : "n" + std::to_string(*inRange(0, 3)) + "/0",
           *rc::gen::elementOf(domains)};
  for (int hours = *inRange(1, 4); hours > 0; --hours) {
    auto& row = d.at(kMarch.from + std::chrono::hours{*inRange(-2, 4)});
    row.energy = Microjoules{*inRange<std::int64_t>(0, 5) * 1'000'000'007};
    row.unattributed = Microjoules{of_node ? *inRange(0, 1000) : 0};
    row.simulated = *inRange(0, 6) == 0 ? row.energy : Microjoules{0};
    row.shared = Microjoules{*inRange(0, 3)};
    row.shared_time = Milliseconds{*inRange(0, 2)};
    row.covered = Milliseconds{*inRange(0, 5)};
    row.gap = Milliseconds{*inRange(0, 5)};
    row.partial = Milliseconds{*inRange(0, 5)};
  }
  return d;
}

std::vector<SharedNode> any_nodes() {
  std::vector<SharedNode> nodes;
  const bool one_zone = *inRange(0, 3) != 0;
  for (const auto* cluster : {"default", "b"})
    for (int i = 0; i < 3; ++i) {
      auto node = std::make_shared<NodeInfo>();
      node->key = {cluster, "n" + std::to_string(i)};
      node->zone = one_zone ? cluster : *rc::gen::element<std::string>("DE", "FR");
      nodes.push_back(node);
    }
  return nodes;
}

RC_GTEST_PROP(TeamHoursReport, IsTheSameAsFromTheRows, ()) {
  const auto store = store::make_memory_store();
  const auto domains = *inRange(0, 3) == 0 ? std::vector<std::string>{"gpu", "dram", "platform", "psys"}
                                           : std::vector<std::string>{"gpu", "dram", "psys"};
  for (int i = 0; i < 4; ++i) {
    TaskInfo task;
    task.cluster = *rc::gen::element<std::string>("default", "b");
    task.task_id = "t" + std::to_string(i);
    task.team = *rc::gen::element<std::string>("", "red", "blue");
    RC_ASSERT(store->put_task(task).has_value());
  }
  const auto book = [&](std::uint64_t revision) {
    Accrual accrual{{"default", "n0"}, revision, std::make_shared<const NodeCursor>(), {}, {}};
    for (int i = *inRange(1, 12); i > 0; --i) accrual.deltas.push_back(any_delta(domains));
    RC_ASSERT(store->accrue({&accrual, 1}).has_value());
  };
  book(0);
  if (*inRange(0, 2) == 0) RC_ASSERT(store->close_month(*parse_month("2026-02"), start_of(kMarch.from)));
  book(1);
  const auto nodes = any_nodes();
  const auto tasks = *store->tasks();
  Question question;
  question.scope = *rc::gen::element(Line::team, Line::cluster, Line::task);
  question.window = {kMarch.from + std::chrono::hours{*inRange(-2, 2)}, kMarch.from + std::chrono::hours{3}};
  question.with_simulated = *rc::gen::arbitrary<bool>();
  question.with_whole = *rc::gen::arbitrary<bool>();
  if (*inRange(0, 3) == 0) question.cluster = "b";
  if (*inRange(0, 3) == 0 && question.scope == Line::team) question.id = "red";
  std::set<std::pair<std::string, std::string>> own;
  if (*inRange(0, 3) == 0 && question.scope == Line::team) {
    for (const auto& task : tasks)
      if (task.team == "red") own.emplace(task.cluster, task.task_id);
    question.tasks = &own;
    question.team = "red";
  }
  RowsAlone rows(*store);
  const auto quick = gather(*store, question, tasks, nodes, {});
  const auto slow = gather(rows, question, tasks, nodes, {});
  RC_ASSERT(quick.has_value());
  RC_ASSERT(slow.has_value());
  RC_ASSERT(quick->subjects.size() == slow->subjects.size());
  for (std::size_t i = 0; i < slow->subjects.size(); ++i) RC_ASSERT(quick->subjects[i] == slow->subjects[i]);
  RC_ASSERT(quick->unattributed == slow->unattributed);
  RC_ASSERT(quick->whole == slow->whole);
}

TEST(TeamHoursReport, NeedsNeitherRowsNorTheRegistry) {
  const auto store = store::make_memory_store();
  TaskInfo task;
  task.task_id = "t1";
  task.team = "vision";
  ASSERT_TRUE(store->put_task(task));
  Accrual accrual{{"default", "n1"}, 0, std::make_shared<const NodeCursor>(), {}, {}};
  accrual.deltas.push_back({{"default", ledger::Scope::task_device, "t1", "n1/0", "gpu"}, {}, {}, {}});
  accrual.deltas.back().at(kMarch.from).energy = Microjoules{7};
  ASSERT_TRUE(store->accrue({&accrual, 1}));
  Watched watched(*store);
  Question question;
  question.scope = Line::team;
  question.window = kMarch;
  const ReadTasks never = []() -> Result<std::span<const TaskInfo>> {
    ADD_FAILURE() << "the registry was read";
    return std::span<const TaskInfo>{};
  };
  const auto booked = gather_asking(watched, question, never, one_node(), {});
  ASSERT_TRUE(booked);
  EXPECT_FALSE(watched.rows);
  ASSERT_EQ(booked->subjects.size(), 1U);
  EXPECT_EQ(booked->subjects[0].id, "vision");
  EXPECT_EQ(booked->subjects[0].by_zone.at("DE").energy[0].to_string(), "7");
}

}  // namespace
}  // namespace testing
}  // namespace tidewatt::reports
