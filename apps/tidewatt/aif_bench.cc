#include "aif_bench.h"

#include <time.h>

#include <algorithm>
#include <vector>

#include "heap_count.h"
#include "tidewatt/inference/choice.h"

namespace tidewatt::cli {
namespace {

double cpu_us() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

/// An agent on its round through the observations.
class Walk {
 public:
  Walk(const model_file::BenchFile& file,
       const std::vector<std::vector<inference::Observation>>& observations)
      : agent_(file.model, file.options),
        observations_(&observations),
        controls_(file.model.shape.factors()) {
    agent_.begin_episode();
  }
  void step() {
    agent_.observe((*observations_)[at_++ % observations_->size()]);
    agent_.plan();
    if (agent_.options().mode == inference::Mode::exact) {
      agent_.act(agent_.action(chooser_.choose(agent_.action_probabilities()).action));
      return;
    }
    for (std::size_t f = 0; f < controls_.size(); ++f) {
      const auto p = agent_.control_probabilities(f);
      controls_[f] = static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
    }
    agent_.act(controls_);
  }
  [[nodiscard]] double g_sum() const {
    double sum = 0;
    for (const double g : agent_.values()) sum += g;
    return sum;
  }

 private:
  inference::Agent agent_;
  const std::vector<std::vector<inference::Observation>>* observations_;
  inference::Chooser chooser_{0};
  std::vector<std::size_t> controls_;
  std::size_t at_ = 0;
};

std::vector<std::vector<inference::Observation>> all_observations(const model_file::BenchFile& file) {
  std::vector<std::vector<inference::Observation>> all;
  for (const auto& step : file.steps) all.push_back(step.observations());
  return all;
}

}  // namespace

AifTiming time_agent(const model_file::BenchFile& file, std::size_t steps) {
  constexpr double kReadableUs = 20;  // reading the CPU clock costs part of a microsecond
  const auto observations = all_observations(file);
  AifTiming timing;
  double least = 1e300;
  {
    Walk walk{file, observations};
    for (std::size_t i = 0; i < steps; ++i) {
      const double from = cpu_us();
      walk.step();
      if (i > 0 || steps == 1) least = std::min(least, cpu_us() - from);
      if (i == 0) timing.g_sum[0] = walk.g_sum();
    }
    timing.g_sum[1] = walk.g_sum();
  }
  const auto batch = static_cast<std::size_t>(std::max(1.0, kReadableUs / std::max(least, 0.1)));
  Walk walk{file, observations};
  walk.step();
  std::vector<double> per_step(steps);
  start_counting_allocations();
  for (auto& one : per_step) {
    const double from = cpu_us();
    for (std::size_t k = 0; k < batch; ++k) walk.step();
    one = (cpu_us() - from) / static_cast<double>(batch);
  }
  if (const auto count = stop_counting_allocations())
    timing.allocations_per_step = static_cast<double>(*count) / static_cast<double>(steps * batch);
  std::sort(per_step.begin(), per_step.end());
  timing.least_us = per_step.front();
  timing.median_us = per_step[per_step.size() / 2];
  return timing;
}

double time_fleet(const model_file::BenchFile& file, std::size_t agents, std::size_t rounds) {
  const auto observations = all_observations(file);
  std::vector<Walk> fleet;
  fleet.reserve(agents);
  for (std::size_t i = 0; i < agents; ++i) {
    fleet.emplace_back(file, observations);
    fleet.back().step();
  }
  const double from = cpu_us();
  for (std::size_t round = 0; round < rounds; ++round)
    for (auto& one : fleet) one.step();
  return (cpu_us() - from) / static_cast<double>(agents * rounds);
}

}  // namespace tidewatt::cli
