// Two servers on one PostgreSQL that is killed, paused, full or out of connections: whatever happens, each
// amount is booked once.
#include <signal.h>
#include <sys/mount.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <sstream>
#include <thread>

#include "cutting_proxy.h"
#include "store_fixtures.h"

namespace tidewatt::store::testing {
namespace {

using std::chrono::steady_clock;

const auto kTask = gpu_account(Scope::task, "job");

/// A cluster of the test's own: what happens to it must not touch other tests.
class PostgresFault : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cluster_) GTEST_SKIP() << PostgresCluster::why_not();
    options_.url = cluster_->url();
    options_.timeout = Milliseconds{5'000};
    options_.fold_after = Milliseconds{300};
  }
  std::unique_ptr<Store> open() { return open_postgres_or_abort(options_); }

  TempFolder folder_;
  std::unique_ptr<PostgresCluster> cluster_ = PostgresCluster::make(folder_.path().string(), false);
  PostgresOptions options_ = [this] {
    PostgresOptions options;
    options.schema = cluster_ ? cluster_->fresh_schema() : "none";
    return options;
  }();
};

/// An agent's beats: each (node, step) adds 1 + step uJ, exactly once, whichever server takes it. As agents
/// do, a step is sent again until a server says that it is booked; the cursor says which steps are.
class Load {
 public:
  static constexpr int kNodes = 24;

  explicit Load(std::vector<Store*> servers) : servers_(std::move(servers)) {}

  /// Sends steps of every node until `until` says stop, `threads` at once, the same nodes through every
  /// server.
  void run(int threads, const std::function<bool()>& until) {
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t)
      running.emplace_back([&, t] {
        std::minstd_rand random(static_cast<unsigned>(t) + 1);
        while (!until()) send(random);
      });
    for (auto& thread : running) thread.join();
  }

  /// Every node's energy is what its revision in the database says, and nothing that was acknowledged is
  /// missing.
  void expect_exact(Store& store, const PostgresCluster& cluster, const std::string& schema) {
    std::istringstream heads(cluster.sql("SELECT n.node_id || ' ' || h.revision FROM " + schema +
                                         ".nodes n JOIN " + schema + ".heads h ON h.node = n.pk"));
    std::map<std::string, std::uint64_t> revisions;
    std::string id;
    for (std::uint64_t revision = 0; heads >> id >> revision;) revisions[id] = revision;
    WideMicrojoules all;
    for (int n = 0; n < kNodes; ++n) {
      const auto revision = revisions[node(n).node_id];
      EXPECT_GE(revision, acknowledged_.at(static_cast<std::size_t>(n))) << "an acknowledged accrual is gone";
      const WideMicrojoules expected(Microjoules{static_cast<std::int64_t>(revision * (revision + 1) / 2)});
      EXPECT_EQ(energy_of(store, gpu_account(Scope::node, node(n).node_id)), expected) << node(n).node_id;
      EXPECT_EQ(store.curve(node(n), {kNoon, kNoon + std::chrono::hours{10'000}}, 1'000'000)->size(),
                revision);
      // A server may remember an earlier one until it loses a commit with it.
      const auto found = store.cursor(node(n));
      ASSERT_TRUE(found) << found.error().to_string();
      EXPECT_LE(found->revision, revision);
      EXPECT_EQ(*found->cursor,
                found->revision == 0 ? NodeCursor{} : cursor_at(static_cast<std::int64_t>(found->revision)));
      all += expected;
    }
    EXPECT_EQ(energy_of(store, kTask), all);
    const auto sums = store.sums({Scope::task, "", {}, ""}, kHour, kHour + std::chrono::hours{1});
    ASSERT_TRUE(sums);
    ASSERT_EQ(sums->size(), 1U);
    EXPECT_EQ(sums->at(0).totals.energy, all);
  }

  [[nodiscard]] std::uint64_t acknowledged() const {
    std::uint64_t sum = 0;
    for (const auto& one : acknowledged_) sum += one;
    return sum;
  }
  [[nodiscard]] int failures() const { return failures_; }
  [[nodiscard]] const std::string& last_failure() const { return last_failure_; }
  [[nodiscard]] double slowest() const { return slowest_; }

 private:
  static NodeKey node(int n) { return {"default", "n" + std::to_string(n)}; }

  void send(std::minstd_rand& random) {
    auto& store = *servers_[random() % servers_.size()];
    std::vector<Accrual> call;
    const int begin = static_cast<int>(random() % kNodes);
    const auto start = steady_clock::now();
    for (int i = 0; i < 6; ++i) {
      const int n = (begin + i * 5) % kNodes;
      const auto current = store.cursor(node(n));
      if (!current) return failed(current.error(), start);
      const auto revision = current->revision;
      const auto amount = static_cast<std::int64_t>(revision) + 1;
      call.push_back(accrual(
          node(n), revision, {delta(gpu_account(Scope::node, node(n).node_id), amount), delta(kTask, amount)},
          {point(kNoon + static_cast<int>(revision) * Milliseconds{20'000}, Milliwatts{1})}));
    }
    const auto outcomes = store.accrue(call);
    if (!outcomes) return failed(outcomes.error(), start);
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < call.size(); ++i) {
      auto& last = acknowledged_.at(static_cast<std::size_t>((begin + static_cast<int>(i) * 5) % kNodes));
      if ((*outcomes)[i] == AccrueOutcome::applied) last = std::max(last, call[i].expected_revision + 1);
    }
  }

  void failed(const Error& error, steady_clock::time_point start) {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(error.code, ErrorCode::unavailable) << error.to_string();
    ++failures_;
    last_failure_ = error.to_string();
    slowest_ = std::max(slowest_, std::chrono::duration<double>(steady_clock::now() - start).count());
  }

  std::vector<Store*> servers_;
  std::mutex mutex_;
  std::vector<std::uint64_t> acknowledged_ = std::vector<std::uint64_t>(kNodes);
  int failures_ = 0;
  std::string last_failure_;
  double slowest_ = 0;
};

/// True from so long after the first question on.
std::function<bool()> after(Milliseconds time) {
  return [end = steady_clock::now() + time] { return steady_clock::now() >= end; };
}

TEST_F(PostgresFault, TwoServersFedTheSameBeatsBookEachOnce) {
  const auto one = open();
  const auto other = open();
  Load load({one.get(), other.get()});
  load.run(6, after(Milliseconds{2'000}));
  EXPECT_GT(load.acknowledged(), 100U);
  EXPECT_EQ(load.failures(), 0) << load.last_failure();
  load.expect_exact(*one, *cluster_, options_.schema);
  load.expect_exact(*other, *cluster_, options_.schema);
  load.expect_exact(*open(), *cluster_, options_.schema);
}

TEST_F(PostgresFault, BackendsTerminatedInTheMiddleOfCommitsLoseAndDoubleNothing) {
  const auto one = open();
  const auto other = open();
  Load load({one.get(), other.get()});
  std::atomic<bool> stop{false};
  std::thread killer([&] {
    while (!stop) {
      cluster_->sql(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tidewatt' "
          "ORDER BY random() LIMIT 2");
      std::this_thread::sleep_for(Milliseconds{30});
    }
  });
  load.run(6, after(Milliseconds{3'000}));
  stop = true;
  killer.join();
  EXPECT_GT(load.acknowledged(), 50U);
  load.expect_exact(*one, *cluster_, options_.schema);
  load.expect_exact(*other, *cluster_, options_.schema);
}

TEST_F(PostgresFault, ACommitWhoseAnswerIsLostIsFoundOut) {
  const auto direct = open();
  // Only a node's first commit holds its cursor whole, and with it the device's uuid.
  CuttingProxy proxy(folder_.path().string(), 5433, "GPU-5c21a1b0");
  auto options = options_;
  options.url.replace(options.url.find("port=5432"), 9, "port=5433");
  options.fold_after = Milliseconds{600'000};
  const auto cut_off = open_postgres_or_abort(options);
  int n = 0;
  for (const auto what : {CuttingProxy::Cut::answer, CuttingProxy::Cut::request}) {
    for (const bool contested : {false, true}) {
      std::vector<Accrual> call;
      for (int i = 0; i < 3; ++i, ++n) {
        const NodeKey node{"default", "cut" + std::to_string(n)};
        call.push_back(accrual(node, 0, {delta(gpu_account(Scope::node, node.node_id), 5)}));
        EXPECT_EQ(cut_off->cursor(node)->revision, 0U);
      }
      // One of the three is another server's already: a commit that holds for a part must be found out as
      // such.
      if (contested) {
        EXPECT_EQ(put(*direct, call[1]), AccrueOutcome::applied);
      }
      proxy.cut(what, 1);
      const auto outcomes = cut_off->accrue(call);
      ASSERT_TRUE(outcomes) << outcomes.error().to_string();
      EXPECT_LE(proxy.left(), 0) << "the commit must have been cut";
      EXPECT_EQ(*outcomes, (std::vector{AccrueOutcome::applied,
                                        contested ? AccrueOutcome::conflict : AccrueOutcome::applied,
                                        AccrueOutcome::applied}));
      for (const auto& a : call) {
        EXPECT_EQ(energy_of(*direct, gpu_account(Scope::node, a.node.node_id)),
                  WideMicrojoules(Microjoules{5}));
        EXPECT_EQ(cut_off->cursor(a.node)->revision, 1U);
      }
    }
  }
}

TEST_F(PostgresFault, ARestartUnderLoadLosesAndDoublesNothing) {
  const auto one = open();
  const auto other = open();
  Load load({one.get(), other.get()});
  std::thread restarter([&] {
    for (int i = 0; i < 2; ++i) {
      std::this_thread::sleep_for(Milliseconds{700});
      cluster_->stop("immediate");
      cluster_->start();
    }
  });
  load.run(6, after(Milliseconds{4'500}));
  restarter.join();
  const auto before = load.acknowledged();
  load.run(4, after(Milliseconds{1'000}));
  EXPECT_GT(load.acknowledged(), before) << "booking goes on after the restart";
  load.expect_exact(*one, *cluster_, options_.schema);
  load.expect_exact(*other, *cluster_, options_.schema);
}

TEST_F(PostgresFault, APausedPostgresIsARetryNotAHang) {
  options_.timeout = Milliseconds{700};
  const auto one = open();
  const auto other = open();
  Load load({one.get(), other.get()});
  std::thread pauser([&] {
    std::this_thread::sleep_for(Milliseconds{500});
    cluster_->signal_all(SIGSTOP);
    std::this_thread::sleep_for(Milliseconds{4'000});
    cluster_->signal_all(SIGCONT);
  });
  load.run(6, after(Milliseconds{4'400}));
  pauser.join();
  EXPECT_GT(load.failures(), 0);
  // A call's six cursors and its commit each wait for their own limit.
  EXPECT_LT(load.slowest(), 10.0);
  const auto before = load.acknowledged();
  for (int i = 0; i < 50 && load.acknowledged() == before; ++i) load.run(4, after(Milliseconds{200}));
  EXPECT_GT(load.acknowledged(), before) << "booking goes on by itself: " << load.last_failure();
  // Readers may be between two tries still.
  std::this_thread::sleep_for(Milliseconds{500});
  load.expect_exact(*one, *cluster_, options_.schema);
  load.expect_exact(*other, *cluster_, options_.schema);
}

TEST_F(PostgresFault, OutOfConnectionsIsARetryWithAHint) {
  cluster_->stop("fast");
  cluster_->start("-c max_connections=8 -c superuser_reserved_connections=3");
  cluster_->sql("CREATE ROLE app LOGIN; GRANT CREATE ON DATABASE postgres TO app");
  const auto place = options_.url.find("tidewatt@");
  options_.url.replace(place, 8, "app");
  options_.timeout = Milliseconds{2'000};
  options_.read_connections = 3;
  const auto one = open();
  const auto other = open();
  Load load({one.get(), other.get()});
  load.run(6, after(Milliseconds{3'000}));
  EXPECT_GT(load.failures(), 0);
  EXPECT_NE(load.last_failure().find("PostgreSQL at"), std::string::npos) << load.last_failure();
  cluster_->stop("fast");
  cluster_->start();
  load.run(4, after(Milliseconds{1'500}));
  EXPECT_GT(load.acknowledged(), 0U);
  load.expect_exact(*one, *cluster_, options_.schema);
  load.expect_exact(*other, *cluster_, options_.schema);
}

TEST(PostgresFullDisk, IsARetryThatLosesNothingAndPasses) {
  const TempFolder folder;
  if (::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=100m") != 0)
    GTEST_SKIP() << "a small file system can't be mounted here";
  {
    const auto cluster = PostgresCluster::make(folder.path().string(), false);
    if (!cluster) {
      ::umount2(folder.path().c_str(), MNT_DETACH);
      GTEST_SKIP() << PostgresCluster::why_not();
    }
    const auto schema = cluster->fresh_schema();
    const auto store = open_postgres_or_abort({.url = cluster->url(),
                                               .schema = schema,
                                               .timeout = Milliseconds{2'000},
                                               .fold_after = Milliseconds{500}});
    Load load({store.get()});
    load.run(2, after(Milliseconds{300}));
    {
      std::ofstream ballast(folder.path() / "ballast", std::ios::binary);
      const std::string block(1U << 16U, 'b');
      while (ballast.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
      }
    }
    for (int i = 0; i < 60 && load.failures() == 0; ++i) load.run(2, after(Milliseconds{500}));
    EXPECT_GT(load.failures(), 0) << "what was free inside PostgreSQL's files must be used up by then";
    std::filesystem::remove(folder.path() / "ballast");
    // Without room for its log PostgreSQL stops itself; then somebody starts it again.
    for (int i = 0; i < 20 && cluster->sql("SELECT 1") != "1"; ++i)
      if (!cluster->try_start()) std::this_thread::sleep_for(Milliseconds{250});
    const auto before = load.acknowledged();
    for (int i = 0; i < 40 && load.acknowledged() == before; ++i) load.run(2, after(Milliseconds{250}));
    EXPECT_GT(load.acknowledged(), before) << load.last_failure();
    load.expect_exact(*store, *cluster, schema);
  }
  ::umount2(folder.path().c_str(), MNT_DETACH);
}

}  // namespace
}  // namespace tidewatt::store::testing
