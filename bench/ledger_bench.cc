// The integration core: device intervals a second on one core. Target: 20 M/s.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "tidewatt/ledger/integrate.h"

namespace tidewatt::ledger {
namespace {

constexpr Milliseconds kMaxGap{60'000};
constexpr std::size_t kIntervals = 4096;

struct Interval {
  UtcTime begin_at;
  std::optional<Microjoules> begin_counter;
  IntervalEnd end;
};

/// 20 s intervals of differing power; every 16th is longer than the gap limit, every 8th has no power.
std::vector<Interval> intervals(bool with_counter) {
  std::vector<Interval> made(kIntervals);
  UtcTime at{Milliseconds{1'800'000'000'000}};
  std::int64_t counter = 0;
  for (std::size_t i = 0; i < made.size(); ++i) {
    const auto n = static_cast<std::int64_t>(i);
    const Milliseconds length{i % 16 == 0 ? 90'000 : 20'000};
    const Milliwatts power{400'000 + n % 997};
    made[i].begin_at = at;
    at += length;
    made[i].end.at = at;
    if (i % 8 != 0) made[i].end.power = power;
    if (with_counter) {
      made[i].begin_counter = Microjoules{counter};
      counter += power.n * length.count();
      made[i].end.counter = Microjoules{counter};
      made[i].end.limit = Milliwatts{700'000};
      made[i].end.counter_comparable = true;
    }
  }
  return made;
}

void run(benchmark::State& state, bool with_counter) {
  const auto all = intervals(with_counter);
  for (auto _ : state) {
    std::int64_t sum = 0;
    for (const auto& one : all) {
      const auto got = integrate_device(one.begin_at, one.begin_counter, one.end, kMaxGap);
      if (got) sum += got->energy.n;
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kIntervals));
}

void device_intervals_by_power(benchmark::State& state) { run(state, false); }
void device_intervals_by_counter(benchmark::State& state) { run(state, true); }
BENCHMARK(device_intervals_by_power);
BENCHMARK(device_intervals_by_counter);

/// A whole beat of 8 devices, one task each, against its node's cursor: rules, attribution, hours, next
/// cursor.
void whole_beats(benchmark::State& state) {
  Beat beat;
  beat.node_id = "n1";
  beat.boot_id = "b";
  beat.agent_id = "a";
  for (int i = 0; i < 8; ++i) {
    DeviceSample device;
    device.domain = kDomainGpu;
    device.index = i;
    device.uuid = "GPU-" + std::to_string(i);
    device.power = Watts{412.5};
    device.source = "nvml";
    device.holders = {
        Holder{.task_id = "train-" + std::to_string(i), .compute_share = {}, .memory_share = {}}};
    beat.devices.push_back(device);
  }
  const Rules rules{};
  NodeCursor cursor;
  std::uint64_t seq = 0;
  const std::int64_t start = 1'800'000'000'000;
  for (auto _ : state) {
    ++seq;
    const Milliseconds at{start + static_cast<std::int64_t>(seq) * 20'000};
    beat.seq = seq;
    beat.sampled_at = UtcTime{at};
    beat.monotonic = at;
    const Receipt receipt{.at = UtcTime{at}, .monotonic = at, .server_run = "r"};
    Booking booked = book(cursor, beat, receipt, {}, rules);
    if (booked.verdict != Verdict::accepted) {
      state.SkipWithError(booked.reason.c_str());
      break;
    }
    benchmark::DoNotOptimize(booked.deltas.data());
    cursor = std::move(booked.next);
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["device_samples"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * 8, benchmark::Counter::kIsRate);
}
BENCHMARK(whole_beats);

}  // namespace
}  // namespace tidewatt::ledger
