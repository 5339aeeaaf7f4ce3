// What the stores' benchmarks book: what integration makes of beats of 8 devices.
#pragma once

#include <string>
#include <utility>

#include "tidewatt/ledger/store.h"

namespace tidewatt::store::bench {

using namespace tidewatt::ledger;

constexpr int kDevices = 8;
constexpr std::size_t kBatch = 100;

/// What integration makes of a beat of a node whose devices are all held by one task.
inline Accrual make_accrual(int node, int round) {
  const auto id = "node-" + std::to_string(10'000 + node);
  const auto job = "job-" + std::to_string(500'000 + node / 2);
  const UtcTime at{Milliseconds{1'796'000'000'000 + round * 20'000LL}};
  Accrual a{{"default", id}, static_cast<std::uint64_t>(round), {}, {}, {}};
  NodeCursor next;
  CurvePoint point{at, 0.01 * (round % 100), {}};
  const auto add = [&](AccountKey key, std::int64_t energy) {
    AccountDelta delta{std::move(key), {}, at, at};
    auto& row = delta.at(hour_of(at));
    row.energy = row.counter = Microjoules{energy};
    row.covered = Milliseconds{20'000};
    row.samples = 1;
    a.deltas.push_back(std::move(delta));
  };
  for (int d = 0; d < kDevices; ++d) {
    const auto part = id + "/" + std::to_string(d);
    const std::int64_t power = 400'000 + (node * 7919 + round * 104'729 + d * 31) % 300'000;
    add({"default", Scope::device, part, "", "gpu"}, power * 20'000);
    add({"default", Scope::task_device, job, part, "gpu"}, power * 20'000);
    next.devices.push_back({"gpu",
                            d,
                            "GPU-5c21a1b0-0f4e-4e0c-9d1e-0c4b5a6f7d8" + std::to_string(d),
                            "agent-" + id,
                            at,
                            at,
                            Microjoules{power * 20'000 * (round + 1)},
                            "7f3a9d52-52b0-4e86-8b5f-2f2cdd0f8f11",
                            "1",
                            false,
                            {},
                            Milliwatts{700'000},
                            {job}});
    point.devices.push_back({"gpu",
                             d,
                             Milliwatts{power},
                             Milliwatts{power - 9'000},
                             Milliwatts{power + 12'000},
                             Milliwatts{700'000},
                             Quality::measured,
                             {job},
                             Health{61.0, 0, 0, std::nullopt}});
  }
  add({"default", Scope::node, id, "", "gpu"}, 1);
  add({"default", Scope::task, job, "", "gpu"}, 1);
  next.domains.push_back({"gpu", at, {{job, at}}});
  next.boots.push_back({"7f3a9d52-52b0-4e86-8b5f-2f2cdd0f8f11", at, Milliseconds{round * 20'000LL}, at,
                        Milliseconds{5}, "run-1"});
  next.seen.push_back({"7f3a9d52-52b0-4e86-8b5f-2f2cdd0f8f11",
                       "agent-" + id,
                       at,
                       {{1, static_cast<std::uint64_t>(round) + 1}}});
  a.curve.push_back(std::move(point));
  a.next = std::make_shared<const NodeCursor>(std::move(next));
  return a;
}

}  // namespace tidewatt::store::bench
