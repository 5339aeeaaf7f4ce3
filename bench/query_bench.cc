// How long the API takes to answer what pages ask, over a SQLite ledger of the size of a large cluster. No
// HTTP. Usage: bench_query FOLDER [NODES] [TASKS] [REPEATS]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tidewatt/api/api.h"
#include "tidewatt/store/sqlite.h"

namespace tidewatt {
namespace {

using namespace ledger;
using std::chrono::hours;

constexpr int kDevices = 8;
const UtcTime kNow{Milliseconds{1'796'000'000'000 / 3'600'000 * 3'600'000 + 1'800'000}};

class FixedClock final : public Clock {
 public:
  UtcTime utc_now() const override { return kNow; }
  SteadyTime mono_now() const override { return SteadyTime{Milliseconds{1'000'000}}; }
};
class Counter final : public Rng {
 public:
  std::uint64_t next() override { return ++n_ * 0x9E3779B97F4A7C15U; }

 private:
  std::uint64_t n_ = 0;
};

[[noreturn]] void die(const Error& error) {
  fmt::print(stderr, "bench_query: {}\n", error.to_string());
  std::exit(1);
}

AccountDelta delta(AccountKey key, UtcHour first, int count, std::int64_t microjoules) {
  AccountDelta made{std::move(key), {}, start_of(first), start_of(first + hours{count})};
  for (int i = 0; i < count; ++i) {
    auto& row = made.at(first + hours{i});
    row.energy = Microjoules{microjoules + i};
    row.covered = Milliseconds{3'600'000};
    row.samples = 180;
  }
  return made;
}

/// Many accruals at once, in calls of a thousand.
class Filler {
 public:
  explicit Filler(Store& store) : store_(store) {}
  ~Filler() { flush(); }
  void add(Accrual accrual) {
    waiting_.push_back(std::move(accrual));
    if (waiting_.size() >= 1000) flush();
  }
  void flush() {
    if (waiting_.empty()) return;
    if (const auto done = store_.accrue(waiting_); !done) die(done.error());
    waiting_.clear();
  }

 private:
  Store& store_;
  std::vector<Accrual> waiting_;
};

std::string node_name(int node) { return fmt::format("node-{:06}", node); }

/// 24 h of a cluster: each node's hours, and its devices as last heard of.
void fill_nodes(Store& store, int nodes) {
  Filler filler(store);
  const auto first = hour_of(kNow) - hours{23};
  std::vector<SharedNode> infos;
  for (int node = 0; node < nodes; ++node) {
    auto next = std::make_shared<NodeCursor>();
    next->boots.push_back({"boot", kNow, Milliseconds{1}, {}, {}, "run"});
    Accrual accrual{{"default", node_name(node)}, 0, std::move(next), {}, {}};
    accrual.deltas.push_back(
        delta({"default", Scope::node, node_name(node), "", "gpu"}, first, 24, 8'000'000'000 + node));
    NodeInfo info;
    info.key = accrual.node;
    info.zone = "DE";
    info.last_seen_at = kNow;
    info.last_sample_at = kNow;
    for (int d = 0; d < kDevices; ++d) {
      DeviceSample sample;
      sample.domain = "gpu";
      sample.index = d;
      sample.uuid = fmt::format("GPU-5c21a1b0-0f4e-4e0c-9d1e-{:06}{:06}", node, d);
      sample.vendor = "nvidia";
      sample.model = "H100";
      sample.power = Watts{300.0 + d};
      sample.source = "nvml";
      info.devices.push_back(std::move(sample));
    }
    info.agents.push_back({"agent", kNow, kDevices, 0});
    infos.push_back(std::make_shared<const NodeInfo>(std::move(info)));
    filler.add(std::move(accrual));
  }
  if (const auto noted = store.note_seen(infos); !noted) die(noted.error());
}

/// A month of tasks, two hours each, on a node of their own.
void fill_tasks(Store& store, int tasks) {
  Filler filler(store);
  const auto first = hour_of(kNow) - hours{30 * 24};
  constexpr int kInAccrual = 500;
  for (int from = 0, revision = 0; from < tasks; from += kInAccrual, ++revision) {
    Accrual accrual{{"default", "scheduler"},
                    static_cast<std::uint64_t>(revision),
                    std::make_shared<NodeCursor>(),
                    {},
                    {}};
    for (int task = from; task < std::min(tasks, from + kInAccrual); ++task)
      accrual.deltas.push_back(delta({"default", Scope::task, fmt::format("job-{:08}", task), "", "gpu"},
                                     first + hours{task % (30 * 24 - 2)}, 2, 1'000'000'000 + task));
    filler.add(std::move(accrual));
  }
}

/// Seven days of one node, a beat every 20 s.
void fill_curve(Store& store) {
  constexpr int kBeats = 7 * 24 * 180;
  Filler filler(store);
  const NodeKey node{"default", "curve"};
  for (int from = 0, revision = 0; from < kBeats; from += 180, ++revision) {
    Accrual accrual{node, static_cast<std::uint64_t>(revision), std::make_shared<NodeCursor>(), {}, {}};
    for (int beat = from; beat < from + 180; ++beat) {
      CurvePoint point{kNow - std::chrono::seconds{20 * (kBeats - beat)}, 0.3, {}};
      for (int d = 0; d < kDevices; ++d) {
        const std::int64_t power = 400'000 + (beat * 7919 + d * 104'729) % 300'000;
        point.devices.push_back({"gpu",
                                 d,
                                 Milliwatts{power},
                                 Milliwatts{power - 9'000},
                                 Milliwatts{power + 12'000},
                                 Milliwatts{700'000},
                                 Quality::measured,
                                 {"train-1"},
                                 {}});
      }
      accrual.curve.push_back(std::move(point));
    }
    accrual.deltas.push_back(delta({"default", Scope::node, "curve", "", "gpu"}, hour_of(kNow), 1, 1));
    filler.add(std::move(accrual));
  }
  NodeInfo info;
  info.key = node;
  info.last_seen_at = kNow;
  const SharedNode shared = std::make_shared<const NodeInfo>(std::move(info));
  if (const auto noted = store.note_seen({&shared, 1}); !noted) die(noted.error());
}

struct Bench {
  api::Api& api;
  std::string token;
  int repeats;
  std::string which;

  void measure(const std::string& name, const std::string& path,
               const std::vector<std::pair<std::string, std::string>>& query) const {
    if (name.find(which) == std::string::npos) return;
    net::Request request;
    request.method = "GET";
    request.path = request.raw_path = path;
    for (const auto& [key, value] : query) {
      request.query_items.emplace_back(key, value);
      request.query.insert_or_assign(key, value);
    }
    request.headers["authorization"] = "Bearer " + token;
    request.remote_address = "127.0.0.1";
    std::vector<double> took;
    std::size_t bytes = 0;
    for (int i = 0; i < repeats; ++i) {
      const auto began = std::chrono::steady_clock::now();
      const auto answer = api.handle(request);
      took.push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count());
      bytes = answer.body.size();
      if (answer.status != 200) die({ErrorCode::invalid_input, answer.body, ""});
    }
    const double first = took.front();
    std::sort(took.begin(), took.end());
    const auto at = [&](double share) {
      return took[static_cast<std::size_t>(share * static_cast<double>(took.size() - 1))];
    };
    fmt::print("{{\"query\":\"{}\",\"first_ms\":{:.1f},\"p50_ms\":{:.1f},\"p99_ms\":{:.1f},\"bytes\":{}}}\n",
               name, first, at(0.5), at(0.99), bytes);
  }
};

int run(const std::string& folder, int nodes, int tasks, int repeats, const std::string& which) {
  const auto open = [&] {
    auto store = store::open_sqlite_store({.path = folder + "/ledger.db"});
    if (!store) die(store.error());
    return *std::move(store);
  };
  {
    const auto store = open();
    if (store->nodes()->empty()) {
      fill_curve(*store);
      fill_nodes(*store, nodes);
      fill_tasks(*store, tasks);
    }
  }
  const auto store = open();  // folded into the tables, as most of a ledger is
  const FixedClock clock;
  Counter rng;
  Ledger ledger(*store, {});
  api::ApiOptions options;
  options.server_run = "bench";
  options.people = {1e9, 1e9};
  api::Api api(*store, ledger, clock, rng, options);
  auto token = api.access().create_token("bench", api::Role::ops, "", std::nullopt, "bench");
  if (!token) die(token.error());
  const Bench bench{api, token->secret, repeats, which};
  bench.measure("7 days x 8 devices x 20 s", "/api/v1/nodes/curve/power", {{"range", "7d"}});
  bench.measure(fmt::format("dashboard of {} nodes", nodes), "/api/v1/dashboard/stats", {{"range", "24h"}});
  bench.measure("list of nodes", "/api/v1/nodes", {{"limit", "200"}});
  bench.measure(fmt::format("30 days of {} tasks", tasks), "/api/v1/dashboard/stats", {{"range", "30d"}});
  return 0;
}

}  // namespace
}  // namespace tidewatt

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_query FOLDER [NODES] [TASKS] [REPEATS] [WHICH]\n");
    return 2;
  }
  const auto number = [&](int at, int otherwise) { return argc > at ? std::atoi(argv[at]) : otherwise; };
  return tidewatt::run(argv[1], number(2, 5000), number(3, 100'000), number(4, 100), argc > 5 ? argv[5] : "");
}
