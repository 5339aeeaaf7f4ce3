// How long the API takes to answer what pages ask, over a SQLite ledger of the size of a large cluster. No
// HTTP. Usage: bench_query FOLDER [NODES] [TASKS] [REPEATS] [WHICH] [TEAMS];
// the folder keeps the ledger, which is made once. WHICH is a part of the names of the queries to ask
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
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

/// The wall clock stands still, so that every run asks for the same hours.
class BenchClock final : public Clock {
 public:
  UtcTime utc_now() const override { return kNow; }
  SteadyTime mono_now() const override {
    return std::chrono::floor<Milliseconds>(std::chrono::steady_clock::now());
  }
};

double cpu_ms() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}
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

WideMeasures an_hour(std::int64_t microjoules) {
  WideMeasures measures;
  measures.energy = WideMicrojoules{Microjoules{microjoules}};
  measures.covered = Milliseconds{3'600'000};
  measures.samples = 180;
  return measures;
}

std::string node_name(int node) { return fmt::format("node-{:06}", node); }
std::string task_name(int task) { return fmt::format("job-{:08}", task); }

/// What the ledger is to hold, as one image: put into the tables in one transaction.
class Contents {
 public:
  Contents(int nodes, int tasks, int teams) : nodes_(nodes), tasks_(tasks), teams_(teams) {}

  Status feed(ImageSink& sink) const {
    for (int task = 0; task < tasks_; ++task) {
      TaskInfo info;
      info.task_id = task_name(task);
      info.team = fmt::format("team-{:02}", task % teams_);
      TW_TRY_STATUS(sink.add(info));
    }
    for (int node = 0; node < nodes_; ++node) TW_TRY_STATUS(sink.add(node_image(node)));
    TW_TRY_STATUS(each_account([&sink](const AccountKey& key, UtcHour first, int count, std::int64_t energy) {
      Account account{key, {}, start_of(first), start_of(first + hours{count}), 0};
      for (int i = 0; i < count; ++i) account.totals += an_hour(energy + i);
      return sink.add(account);
    }));
    return each_account(
        [&sink](const AccountKey& key, UtcHour first, int count, std::int64_t energy) -> Status {
          for (int i = 0; i < count; ++i)
            TW_TRY_STATUS(sink.add(HourlyRow{key, first + hours{i}, an_hour(energy + i)}));
          return {};
        });
  }

 private:
  static constexpr int kHours = 30 * 24;
  static UtcHour first_hour() { return hour_of(kNow) - hours{kHours - 1}; }

  /// A month of nodes, and of tasks of two hours, each on a device.
  template <class Take>
  Status each_account(const Take& take) const {
    for (int node = 0; node < nodes_; ++node)
      TW_TRY_STATUS(take(AccountKey{"default", Scope::node, node_name(node), "", "gpu"}, first_hour(), kHours,
                         8'000'000'000 + node));
    for (const auto scope : {Scope::task, Scope::task_device})
      for (int task = 0; task < tasks_; ++task)
        TW_TRY_STATUS(take(AccountKey{"default", scope, task_name(task),
                                      scope == Scope::task ? std::string{} : device_of(task), "gpu"},
                           first_hour() + hours{task % (kHours - 2)}, 2, 1'000'000'000 + task));
    return {};
  }
  [[nodiscard]] std::string device_of(int task) const {
    return fmt::format("{}/{}", node_name(task / kDevices % nodes_), task % kDevices);
  }
  static NodeImage node_image(int node) {
    NodeCursor cursor;
    cursor.boots.push_back({"boot", kNow, Milliseconds{1}, {}, {}, "run"});
    NodeInfo info;
    info.key = {"default", node_name(node)};
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
    NodeImage image{info.key, 1, encode(cursor), nullptr};
    image.info = std::make_shared<const NodeInfo>(std::move(info));
    return image;
  }

  int nodes_;
  int tasks_;
  int teams_;
};

AccountDelta now_more(AccountKey key) {
  AccountDelta made{std::move(key), {}, kNow, kNow};
  auto& row = made.at(hour_of(kNow));
  row.energy = Microjoules{7'000'000};
  row.covered = Milliseconds{20'000};
  row.samples = 1;
  return made;
}

/// A beat of every node that is in no table yet: each device is held by a task.
void book_now(Store& store, int nodes, int tasks) {
  std::vector<Accrual> accruals;
  for (int node = 0; node < nodes; ++node) {
    const auto cursor = store.cursor({"default", node_name(node)});
    if (!cursor) die(cursor.error());
    Accrual accrual{{"default", node_name(node)}, cursor->revision, cursor->cursor, {}, {}};
    accrual.deltas.push_back(now_more({"default", Scope::node, node_name(node), "", "gpu"}));
    for (int d = 0; d < kDevices && tasks > 0; ++d) {
      const auto task = task_name((node * kDevices + d) % tasks);
      accrual.deltas.push_back(now_more({"default", Scope::task, task, "", "gpu"}));
      accrual.deltas.push_back(
          now_more({"default", Scope::task_device, task, fmt::format("{}/{}", node_name(node), d), "gpu"}));
    }
    accruals.push_back(std::move(accrual));
    if (accruals.size() == 1000 || node + 1 == nodes) {
      if (const auto done = store.accrue(accruals); !done) die(done.error());
      accruals.clear();
    }
  }
}

/// Seven days of one node, a beat every 20 s.
void fill_curve(Store& store) {
  constexpr int kBeats = 7 * 24 * 180;
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
    accrual.deltas.push_back(now_more({"default", Scope::node, "curve", "", "gpu"}));
    if (const auto done = store.accrue({&accrual, 1}); !done) die(done.error());
  }
  NodeInfo info;
  info.key = node;
  info.zone = "DE";
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
               const std::vector<std::pair<std::string, std::string>>& query, Milliseconds pause = {}) const {
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
    std::vector<double> cpu;
    std::size_t bytes = 0;
    for (int i = 0; i < repeats; ++i) {
      const auto began = std::chrono::steady_clock::now();
      const double cpu_began = cpu_ms();
      const auto answer = api.handle(request);
      cpu.push_back(cpu_ms() - cpu_began);
      took.push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count());
      if (pause.count() > 0) std::this_thread::sleep_for(pause);
      bytes = answer.body.size();
      if (answer.status != 200) die({ErrorCode::invalid_input, answer.body, ""});
    }
    const double first = took.front();
    const double first_cpu = cpu.front();
    const auto at = [](std::vector<double>& all, double share) {
      std::sort(all.begin(), all.end());
      return all[static_cast<std::size_t>(share * static_cast<double>(all.size() - 1))];
    };
    fmt::print(
        "{{\"query\":\"{}\",\"first_ms\":{:.1f},\"p50_ms\":{:.1f},\"p99_ms\":{:.1f},\"first_cpu_ms\":{:.1f},"
        "\"p50_cpu_ms\":{:.1f},\"p99_cpu_ms\":{:.1f},\"bytes\":{}}}\n",
        name, first, at(took, 0.5), at(took, 0.99), first_cpu, at(cpu, 0.5), at(cpu, 0.99), bytes);
  }
};

int run(const std::string& folder, int nodes, int tasks, int repeats, const std::string& which, int teams) {
  const auto path = folder + "/ledger.db";
  const auto open = [&] {
    auto store = store::open_sqlite_store({.path = path});
    if (!store) die(store.error());
    return *std::move(store);
  };
  if (!std::filesystem::exists(path)) {
    const Contents contents{nodes, tasks, teams};
    const auto made =
        store::restore_sqlite({.path = path}, [&](ImageSink& sink) { return contents.feed(sink); });
    if (!made) die(made.error());
    fill_curve(*open());
  }
  const auto store = open();  // folded into the tables, as most of a ledger is
  book_now(*store, nodes, tasks);
  fmt::print("{{\"nodes\":{},\"tasks\":{},\"teams\":{},\"database_mib\":{}}}\n", nodes, tasks, teams,
             std::filesystem::file_size(path) >> 20U);
  const BenchClock clock;
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
  // A page asks every few seconds, so some answers fall together with a refresh in the background.
  bench.measure(fmt::format("dashboard of {} nodes", nodes), "/api/v1/dashboard/stats", {{"range", "24h"}},
                Milliseconds{200});
  bench.measure("list of nodes", "/api/v1/nodes", {{"limit", "200"}});
  bench.measure(fmt::format("30 days by team of {} tasks", tasks), "/api/v1/carbon/accounting",
                {{"scope", "team"}, {"range", "30d"}});
  bench.measure(fmt::format("30 days of {} tasks on the dashboard", tasks), "/api/v1/dashboard/stats",
                {{"range", "30d"}});
  return 0;
}

}  // namespace
}  // namespace tidewatt

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_query FOLDER [NODES] [TASKS] [REPEATS] [WHICH] [TEAMS]\n");
    return 2;
  }
  const auto number = [&](int at, int otherwise) { return argc > at ? std::atoi(argv[at]) : otherwise; };
  return tidewatt::run(argv[1], number(2, 5000), number(3, 100'000), number(4, 100), argc > 5 ? argv[5] : "",
                       number(6, 20));
}
