// bench_plan [SEEDS]: time and gap of planning, per size; means over the seeds. CPU seconds of one thread.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <random>
#include <string>

#include "tidewatt/planning/planner.h"
#include "tidewatt/units/text.h"

namespace {

using namespace tidewatt::planning;

struct Size {
  const char* name;
  std::size_t jobs, slots, sites;
  Minute slot;
  bool interruptible;
  double cap;  ///< times the mean power; 0: none
};

Problem problem_of(const Size& size, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  const auto uniform = [&] { return static_cast<double>(random() >> 11U) * 0x1.0p-53; };
  const auto pick = [&](std::size_t least, std::size_t most) {
    return least + random() % (most - least + 1);
  };
  Problem problem;
  problem.start = tidewatt::parse_rfc3339("2026-02-03T00:00:00Z").value_or(tidewatt::UtcTime{});
  problem.slot = size.slot;
  problem.slots = size.slots;
  for (std::size_t s = 0; s < size.sites; ++s) {
    Zone zone;
    zone.name = fmt::format("Z{}", s);
    const double phase = 6 * uniform();
    for (std::size_t k = 0; k < size.slots; ++k) {
      const double day = static_cast<double>(k) * static_cast<double>(size.slot) / 1440;
      zone.ci.push_back(
          std::max(10.0, 300 + 150 * std::sin(6.283185307 * day + phase) + 50 * (uniform() - 0.5)));
      zone.known.push_back(Known::known);
    }
    problem.zones.push_back(zone);
    Site site;
    site.id = fmt::format("s{}", s);
    site.zone = s;
    site.pue = {1.1};
    problem.sites.push_back(site);
  }
  double work = 0;
  for (std::size_t i = 0; i < size.jobs; ++i) {
    const auto length = pick(2, 24);
    const auto window = std::min(size.slots, pick(length + 6, length + 144));
    const auto begin = pick(0, size.slots - window);
    Job job;
    job.id = fmt::format("j{}", i);
    job.release = static_cast<Minute>(begin) * size.slot;
    job.deadline = static_cast<Minute>(begin + window) * size.slot;
    job.duration = static_cast<Minute>(length) * size.slot;
    job.power_kw = static_cast<double>(pick(1, 8));
    job.interruptible = size.interruptible;
    for (std::size_t s = 0; s < size.sites; ++s) job.sites.push_back(static_cast<int>(s));
    work += job.power_kw * static_cast<double>(length);
    problem.jobs.push_back(job);
  }
  if (size.cap > 0)
    for (auto& site : problem.sites)
      site.cap_kw = {size.cap * work / static_cast<double>(size.slots * size.sites)};
  return problem;
}

void measure(const Size& size, std::uint64_t seeds) {
  double seconds = 0, slowest = 0, gap = 0;
  std::uint64_t bounded = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto problem = problem_of(size, seed);
    const auto before = std::clock();
    const auto answer = plan(problem, nullptr);
    const double took = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    seconds += took;
    slowest = std::max(slowest, took);
    if (!answer.lower_bound_g || *answer.lower_bound_g <= 0) continue;
    gap += 100 * (answer.carbon_g / *answer.lower_bound_g - 1);
    ++bounded;
  }
  const auto n = static_cast<double>(seeds);
  fmt::print("{:<46} {:>8.3f} s mean {:>8.3f} s slowest   gap {:>7.3f} % mean of {} seeds\n", size.name,
             seconds / n, slowest, bounded > 0 ? gap / static_cast<double>(bounded) : 0.0, bounded);
}

}  // namespace

int main(int argc, char** argv) {
  const auto seeds = argc > 1 ? tidewatt::parse_uint64(argv[1]).value_or(1) : 20;
  for (const auto& size : {Size{"1,000 rigid x 168 slots x 4 sites", 1'000, 168, 4, 60, false, 0},
                           Size{"1,000 interruptible x 168 slots x 4 sites", 1'000, 168, 4, 60, true, 0},
                           Size{"200 rigid x 96 slots, cap", 200, 96, 1, 15, false, 2.5},
                           Size{"200 interruptible x 96 slots, cap", 200, 96, 1, 15, true, 2.5},
                           Size{"10,000 interruptible x 288 slots, cap", 10'000, 288, 1, 5, true, 2.2},
                           Size{"10,000 rigid x 288 slots, cap", 10'000, 288, 1, 5, false, 2.2},
                           Size{"100,000 rigid x 288 slots, no cap", 100'000, 288, 1, 5, false, 0}})
    measure(size, seeds);
  return 0;
}
