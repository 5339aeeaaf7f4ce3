// Ingest without HTTP: parse, book, make durable. Prints beats a second of wall clock and of CPU, so that a
// profiler sees nothing else. Usage: bench_ingest FOLDER [NODES] [ROUNDS]
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "tidewatt/ledger/ledger.h"
#include "tidewatt/store/sqlite.h"
#include "tidewatt/wire/beat_json.h"

namespace tidewatt {
namespace {

constexpr int kDevices = 8;
constexpr int kBeatsInBody = 100;
constexpr std::int64_t kPeriodMs = 20'000;
constexpr std::int64_t kStartMs = 1'796'000'000'000;

std::string beat(int node, int round) {
  auto json = fmt::format(
      R"({{"schema":"v1","cluster":"bench","node_id":"node-{0:06}","boot_id":"7f3a9d52-52b0-4e86-8b5f-0000{0:08}","agent_id":"agent-{0:06}","agent_version":"0.1.0","seq":{1},"sampled_at":"{2}","monotonic_ms":{3},"zone":"bench","cpu":{{"util":0.31,"cores":64}},"gpu_stats":[)",
      node, round + 1, format_rfc3339(UtcTime{Milliseconds{kStartMs + round * kPeriodMs}}),
      1'000'000 + round * kPeriodMs);
  for (int d = 0; d < kDevices; ++d) {
    const double watts = 300.0 + (node * 7919 + round * 104'729 + d * 1'299'709) % 400'000 / 1000.0;
    json += fmt::format(
        R"({}{{"index":{},"uuid":"GPU-5c21a1b0-0f4e-4e0c-9d1e-{:06}{:06}","vendor":"nvidia","model":"H100","metrics_available":["power","util"],"power_watts":{:.3f},"power_limit_watts":700,"util":0.97,"source":"nvml","quality":"measured","holders":[{{"task_id":"train-{}","state":"running"}}]}})",
        d == 0 ? "" : ",", d, node, d, watts, node / 8);
  }
  return json + "]}";
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

int run(const std::string& folder, int nodes, int rounds) {
  std::vector<std::string> bodies;
  for (int round = 0; round < rounds; ++round)
    for (int first = 0; first < nodes; first += kBeatsInBody) {
      std::string body = "[";
      for (int node = first; node < std::min(nodes, first + kBeatsInBody); ++node)
        body += (node == first ? "" : ",") + beat(node, round);
      bodies.push_back(body + "]");
    }
  auto store = store::open_sqlite_store({.path = folder + "/ledger.db"});
  if (!store) {
    fmt::print(stderr, "{}\n", store.error().to_string());
    return 1;
  }
  ledger::Ledger ledger(**store, {});
  wire::BeatParser parser;
  const auto cpu = cpu_seconds();
  const auto began = std::chrono::steady_clock::now();
  std::size_t accepted = 0;
  for (const auto& body : bodies) {
    auto parsed = parser.parse(body);
    if (!parsed) {
      fmt::print(stderr, "{}\n", parsed.error().to_string());
      return 1;
    }
    std::vector<ledger::ReceivedBeat> received;
    for (auto& one : *parsed) {
      const ledger::Receipt receipt{*one->sampled_at, one->monotonic, "run"};
      received.push_back({&*one, receipt});
    }
    for (const auto& result : ledger.book(received))
      accepted += result.outcome == ledger::BeatOutcome::accepted;
  }
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const double used = cpu_seconds() - cpu;
  const auto beats = static_cast<double>(nodes) * rounds;
  fmt::print(
      "{} of {} beats accepted; {:.0f} beats/s, {:.0f} beats per CPU second, {:.1f} us of CPU a beat\n",
      accepted, beats, beats / wall, beats / used, used / beats * 1e6);
  return static_cast<double>(accepted) == beats ? 0 : 1;
}

}  // namespace
}  // namespace tidewatt

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_ingest FOLDER [NODES] [ROUNDS]\n");
    return 2;
  }
  const auto number = [&](int at, int otherwise) { return argc > at ? std::atoi(argv[at]) : otherwise; };
  return tidewatt::run(argv[1], number(2, 500), number(3, 40));
}
