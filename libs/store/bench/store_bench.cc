// Accruals per second, durable, as the server sends them: batches of 100 nodes with 8 devices each.
//   store_bench FOLDER [nodes] [rounds] [threads] [checkpoint_bytes]
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "payload.h"
#include "tidewatt/store/sqlite.h"

namespace {

using namespace tidewatt;
using namespace tidewatt::ledger;
using namespace tidewatt::store::bench;

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](timeval t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int at, int standard) { return argc > at ? std::atoi(argv[at]) : standard; };
  const std::filesystem::path folder =
      argc > 1 ? argv[1] : std::filesystem::temp_directory_path() / "tidewatt-store-bench";
  const int nodes = number(2, 1'000);
  const int rounds = number(3, 100);
  const int threads = number(4, 4);
  std::filesystem::create_directories(folder);
  for (const auto* suffix : {"", "-wal", "-shm", ".lock"})
    std::filesystem::remove(folder / (std::string("bench.db") + suffix));
  store::SqliteOptions options{.path = (folder / "bench.db").string()};
  if (argc > 5) options.checkpoint_bytes = static_cast<std::size_t>(number(5, 0));
  auto store = store::open_sqlite_store(options);
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().to_string().c_str());
    return 1;
  }
  double seconds = 0;
  double cpu = 0;
  std::size_t beats = 0;
  std::size_t refused = 0;
  const int chunk = 20;  // rounds prepared at a time, outside the clock
  for (int begin = 0; begin < rounds; begin += chunk) {
    std::vector<std::vector<std::vector<Accrual>>> work(static_cast<std::size_t>(threads));
    for (int round = begin; round < std::min(begin + chunk, rounds); ++round)
      for (int node = 0; node < nodes; ++node) {
        auto& mine = work[static_cast<std::size_t>(node * threads / nodes)];
        if (mine.empty() || mine.back().size() == kBatch ||
            mine.back().back().expected_revision != static_cast<std::uint64_t>(round))
          mine.emplace_back();
        mine.back().push_back(make_accrual(node, round));
        ++beats;
      }
    const auto start = std::chrono::steady_clock::now();
    const auto cpu_start = cpu_seconds();
    std::vector<std::thread> running;
    std::vector<std::size_t> bad(static_cast<std::size_t>(threads));
    for (std::size_t t = 0; t < work.size(); ++t)
      running.emplace_back([&, t] {
        for (const auto& batch : work[t]) {
          for (const auto& accrual : batch)
            (void)(*store)->cursor(accrual.node);  // as the server does before booking
          const auto outcomes = (*store)->accrue(batch);
          if (!outcomes) std::fprintf(stderr, "%s\n", outcomes.error().to_string().c_str());
          for (const auto outcome : outcomes.value_or(std::vector<AccrueOutcome>{}))
            if (outcome != AccrueOutcome::applied) ++bad[t];
        }
      });
    for (auto& thread : running) thread.join();
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    cpu += cpu_seconds() - cpu_start;
    for (const auto n : bad) refused += n;
  }
  std::printf(
      "%zu beats of %d devices: %.0f beats/s, %.2f us CPU per beat, %.0f samples per CPU-second; refused "
      "%zu\n",
      beats, kDevices, static_cast<double>(beats) / seconds, cpu / static_cast<double>(beats) * 1e6,
      static_cast<double>(beats) * kDevices / cpu, refused);
  const auto query = [&](const char* name, auto&& ask) {
    const auto start = std::chrono::steady_clock::now();
    const auto size = ask();
    std::printf("%s: %zu in %.1f ms\n", name, size,
                std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  };
  query("accounts, one node",
        [&] { return (*store)->accounts({Scope::node, "", {"node-10000"}, ""})->size(); });
  query("accounts, all nodes", [&] { return (*store)->accounts({Scope::node, "", {}, ""})->size(); });
  query("sums, all nodes", [&] {
    const auto from = hour_of(UtcTime{Milliseconds{1'796'000'000'000}});
    return (*store)->sums({Scope::node, "", {}, ""}, from, from + std::chrono::hours{24})->size();
  });
  query("curve, one node", [&] {
    const UtcTime from{Milliseconds{1'796'000'000'000}};
    return (*store)
        ->curve({"default", "node-10000"}, {from, from + std::chrono::hours{24 * 8}}, 1'000'000)
        ->size();
  });
  Accrual week = make_accrual(nodes, 0);
  week.curve.clear();
  for (int i = 0; i < 7 * 24 * 180; ++i) week.curve.push_back(make_accrual(nodes, i).curve.front());
  (void)(*store)->accrue({&week, 1});
  const auto read_week = [&] {
    const UtcTime from{Milliseconds{1'796'000'000'000}};
    return (*store)->curve(week.node, {from, from + std::chrono::hours{24 * 8}}, 1'000'000)->size();
  };
  query("curve, 7 days, from memory", read_week);
  store->reset();
  store = store::open_sqlite_store(options);
  query("curve, 7 days, from tables", read_week);
  query("curve, 7 days, again", read_week);
  const auto start = std::chrono::steady_clock::now();
  const auto cpu_start = cpu_seconds();
  store->reset();
  std::printf("close: %.2f s, %.2f s CPU; file %.1f MB\n",
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
              cpu_seconds() - cpu_start,
              static_cast<double>(std::filesystem::file_size(options.path)) * 1e-6);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("peak memory %.1f MB (with the prepared payload)\n",
              static_cast<double>(usage.ru_maxrss) / 1024);
}
