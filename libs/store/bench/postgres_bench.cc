// Accruals per second into one PostgreSQL from several processes, durable, as servers send them: batches of
// 100 nodes with 8 devices each, made before the clock starts.
//   postgres_bench URL [nodes] [rounds] [processes] [threads a process] [share sent to every process,
//   percent]
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "payload.h"
#include "tidewatt/store/postgres.h"

namespace {

using namespace tidewatt;
using namespace tidewatt::ledger;
using namespace tidewatt::store::bench;
using std::chrono::steady_clock;

struct Figures {
  double seconds = 0;
  double cpu = 0;
  std::uint64_t applied = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t failed = 0;
  double slowest = 0;  ///< seconds one call took
};

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](timeval t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double since(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

/// Books `batches` in order, each until all of it is applied or found applied by another process.
void book(Store& store, std::vector<std::vector<Accrual>>& batches, Figures& figures) {
  for (auto& batch : batches) {
    for (int attempt = 0; attempt < 8 && !batch.empty(); ++attempt) {
      for (const auto& accrual : batch)
        (void)store.cursor(accrual.node);  // as the server does before booking
      const auto start = steady_clock::now();
      const auto outcomes = store.accrue(batch);
      figures.slowest = std::max(figures.slowest, since(start));
      if (!outcomes) {
        std::fprintf(stderr, "%s\n", outcomes.error().to_string().c_str());
        ++figures.failed;
        continue;
      }
      std::vector<Accrual> rest;
      for (std::size_t i = 0; i < batch.size(); ++i) {
        if ((*outcomes)[i] == AccrueOutcome::applied) {
          ++figures.applied;
          continue;
        }
        ++figures.conflicts;
        const auto current = store.cursor(batch[i].node);
        if (current && current->revision <= batch[i].expected_revision) rest.push_back(std::move(batch[i]));
      }
      batch = std::move(rest);
    }
  }
}

Figures run(const store::PostgresOptions& options, int first, int last, int rounds, int threads, int ready,
            int go) {
  Figures total;
  auto store = store::open_postgres_store(options);
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().to_string().c_str());
    std::exit(1);
  }
  std::vector<std::vector<std::vector<Accrual>>> work(static_cast<std::size_t>(threads));
  for (int t = 0; t < threads; ++t)
    for (int round = 0; round < rounds; ++round)
      for (int node = first + (last - first) * t / threads; node < first + (last - first) * (t + 1) / threads;
           ++node) {
        auto& mine = work[static_cast<std::size_t>(t)];
        if (mine.empty() || mine.back().size() == kBatch ||
            mine.back().back().expected_revision != static_cast<std::uint64_t>(round))
          mine.emplace_back();
        mine.back().push_back(make_accrual(node, round));
      }
  char signal = 1;
  if (::write(ready, &signal, 1) != 1 || ::read(go, &signal, 1) != 1) std::exit(1);
  const auto start = steady_clock::now();
  const auto cpu = cpu_seconds();
  std::vector<Figures> parts(work.size());
  std::vector<std::thread> running;
  for (std::size_t t = 0; t < work.size(); ++t)
    running.emplace_back([&, t] { book(**store, work[t], parts[t]); });
  for (auto& thread : running) thread.join();
  total.seconds = since(start);
  total.cpu = cpu_seconds() - cpu;
  for (const auto& part : parts) {
    total.applied += part.applied;
    total.conflicts += part.conflicts;
    total.failed += part.failed;
    total.slowest = std::max(total.slowest, part.slowest);
  }
  return total;
}

template <class Ask>
void query(const char* name, const Ask& ask) {
  const auto start = steady_clock::now();
  const auto size = ask();
  std::printf("%s: %zu in %.1f ms\n", name, size, since(start) * 1e3);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || !store::is_postgres_url(argv[1])) {
    std::fprintf(stderr,
                 "usage: postgres_bench postgresql://... [nodes] [rounds] [processes] [threads] [percent]\n");
    return 2;
  }
  const auto number = [&](int at, int standard) { return argc > at ? std::atoi(argv[at]) : standard; };
  const int nodes = number(2, 1'000);
  const int rounds = number(3, 100);
  const int processes = number(4, 2);
  const int threads = number(5, 2);
  const int both = number(6, 0);
  store::PostgresOptions options;
  options.url = argv[1];
  options.schema = fmt::format("bench_{}", ::getpid());
  options.timeout = Milliseconds{20'000};

  std::array<int, 2> ready{};
  std::array<int, 2> go{};
  std::array<int, 2> told{};
  if (::pipe(ready.data()) != 0 || ::pipe(go.data()) != 0 || ::pipe(told.data()) != 0) return 1;
  for (int p = 0; p < processes; ++p) {
    if (::fork() != 0) continue;
    // Own nodes, and a share of the next process's: those are sent twice.
    const int first = nodes * p / processes;
    const int last = nodes * (p + 1) / processes;
    const auto figures = run(options, first, std::min(nodes, last + (last - first) * both / 100), rounds,
                             threads, ready[1], go[0]);
    if (::write(told[1], &figures, sizeof figures) != sizeof figures) std::exit(1);
    std::exit(0);
  }
  std::string signals(static_cast<std::size_t>(processes), 1);
  for (auto& signal : signals)
    if (::read(ready[0], &signal, 1) != 1) return 1;
  if (::write(go[1], signals.data(), signals.size()) < 0) return 1;
  Figures total;
  for (int p = 0; p < processes; ++p) {
    Figures one;
    if (::read(told[0], &one, sizeof one) != sizeof one) return 1;
    total.seconds = std::max(total.seconds, one.seconds);
    total.cpu += one.cpu;
    total.applied += one.applied;
    total.conflicts += one.conflicts;
    total.failed += one.failed;
    total.slowest = std::max(total.slowest, one.slowest);
  }
  while (::wait(nullptr) > 0) {
  }
  const auto beats = static_cast<double>(total.applied);
  std::printf(
      "%d processes: %.0f beats of %d devices: %.0f beats/s, %.1f us CPU per beat in them; conflicts %llu, "
      "failed "
      "calls %llu, slowest call %.0f ms\n",
      processes, beats, kDevices, beats / total.seconds, total.cpu / beats * 1e6,
      static_cast<unsigned long long>(total.conflicts), static_cast<unsigned long long>(total.failed),
      total.slowest * 1e3);
  auto store = store::open_postgres_store(options);
  if (!store) return 1;
  const UtcTime from{Milliseconds{1'796'000'000'000}};
  const auto from_hour = hour_of(from);
  for (int round = 0; round < 2; ++round) {
    query("accounts, one node",
          [&] { return (*store)->accounts({Scope::node, "", {"node-10000"}, ""})->size(); });
    query("accounts, all nodes", [&] { return (*store)->accounts({Scope::node, "", {}, ""})->size(); });
    query("sums, all nodes", [&] {
      return (*store)->sums({Scope::node, "", {}, ""}, from_hour, from_hour + std::chrono::hours{24})->size();
    });
    query("curve, one node", [&] {
      return (*store)
          ->curve({"default", "node-10000"}, {from, from + std::chrono::hours{24 * 8}}, 1'000'000)
          ->size();
    });
  }
  WideMicrojoules sum;
  const auto devices = (*store)->accounts({Scope::device, "", {}, ""});
  if (!devices) return 1;
  for (const auto& account : *devices) sum += account.totals.energy;
  WideMicrojoules expected;
  for (int node = 0; node < nodes; ++node)
    for (int round = 0; round < rounds; ++round)
      for (const auto& delta : make_accrual(node, round).deltas)
        if (delta.key.scope == Scope::device) expected += delta.total().energy;
  std::printf("total %s uJ: %s\n", sum.to_string().c_str(), sum == expected ? "exact" : "WRONG");
  return sum == expected ? 0 : 1;
}
