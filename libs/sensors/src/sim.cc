#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "tidewatt/sensors/sources.h"
#include "tidewatt/units/exact.h"

namespace tidewatt::sensors {
namespace {

constexpr int kGroup = 4;  // cards of one job
constexpr std::int64_t kSlotSeconds = 2700;
constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kStartingSeconds = 60;
constexpr std::int64_t kCheckpointEvery = 300;
constexpr std::int64_t kCheckpointSeconds = 12;

std::uint64_t mix(std::uint64_t x) {  // splitmix64's finaliser
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

class Sim final : public Source {
 public:
  Sim(SimOptions options, const Clock& clock)
      : options_(std::move(options)), clock_(clock), last_(clock.mono_now()), node_seed_(mix(options_.seed)) {
    for (const char c : options_.node_id) node_seed_ = mix(node_seed_ ^ static_cast<unsigned char>(c));
    epoch_ = fmt::format("sim-{}", clock.utc_now().time_since_epoch().count());
  }

  [[nodiscard]] std::string name() const override { return "sim"; }

  Result<std::vector<Reading>> read() override {
    const auto now = clock_.mono_now();
    const auto second = std::chrono::floor<std::chrono::seconds>(clock_.utc_now()).time_since_epoch().count();
    const auto elapsed = std::max(now - last_, Milliseconds{0});
    last_ = now;
    std::vector<Reading> readings;
    double gpu_watts = 0;
    for (int gpu = 0; gpu < options_.gpus; ++gpu) {
      const auto load = load_of(gpu, second);
      const double watts = options_.gpu_limit.value() * (0.11 + 0.84 * load.level);
      gpu_watts += watts;
      auto reading = make("gpu", gpu, watts, now, elapsed, options_.energy_counter);
      reading.uuid = fmt::format("SIM-{}-{}", options_.node_id, gpu);
      reading.vendor = "simulated";
      reading.model = options_.model;
      reading.power_limit = options_.gpu_limit;
      reading.util = load.level;
      reading.memory_used_bytes =
          static_cast<std::int64_t>((load.level > 0 ? 48.0 : 0.5) * 1024 * 1024 * 1024);
      reading.holders = load.holders;
      Health health;
      health.temperature_c = std::round(31 + 44 * load.level);
      reading.health = health;
      if (draw(static_cast<std::uint64_t>(gpu) + 1000, second / kMinute) < options_.unknown_rate) {
        reading.power.reset();
        reading.energy_total.reset();
        reading.reason = "simulated sensor fault";
      }
      readings.push_back(std::move(reading));
    }
    add_node_meters(readings, gpu_watts, second, now, elapsed);
    return readings;
  }

 private:
  struct Load {
    double level = 0;  ///< 0..1
    std::vector<Holder> holders;
  };

  // Uniform in [0, 1), the same for the same stream and step.
  [[nodiscard]] double draw(std::uint64_t stream, std::int64_t step) const {
    const auto bits = mix(node_seed_ ^ mix(stream ^ mix(static_cast<std::uint64_t>(step))));
    return static_cast<double>(bits >> 11U) * 0x1.0p-53;
  }

  // 0 at night, 1 in the early afternoon.
  static double daylight(std::int64_t second) {
    constexpr double kPeakHour = 14;
    const double hours = static_cast<double>(second % kDay) / 3600.0;
    return 0.5 + 0.5 * std::cos((hours - kPeakHour) / 24.0 * 2 * std::numbers::pi);
  }

  [[nodiscard]] Load load_of(int gpu, std::int64_t second) const {
    const double jitter = 0.03 * (draw(static_cast<std::uint64_t>(gpu), second) - 0.5);
    if (options_.shared_card && gpu == options_.gpus - 1) return serving(second, jitter);
    const auto group = static_cast<std::uint64_t>(gpu / kGroup);
    const auto shifted = second + static_cast<std::int64_t>(draw(group + 100, 0) * kSlotSeconds);
    const auto slot = shifted / kSlotSeconds;
    const auto into = shifted % kSlotSeconds;
    const bool busy = draw(group + 200, slot) < 0.55 + 0.35 * daylight(second);
    const auto length = static_cast<std::int64_t>((0.6 + 0.4 * draw(group + 300, slot)) * kSlotSeconds);
    if (!busy || into >= length) return {};
    Load load;
    const bool starting = into < kStartingSeconds;
    const bool checkpoint = into % kCheckpointEvery >= kCheckpointEvery - kCheckpointSeconds;
    const double steady = 0.8 + 0.15 * draw(group + 400, slot);
    load.level = std::clamp((starting ? 0.3 : checkpoint ? 0.4 : steady) + jitter, 0.0, 1.0);
    load.holders.push_back({fmt::format("sim-train-{}-{}-{}", options_.node_id, group, slot), 1.0,
                            std::nullopt, starting ? HolderState::starting : HolderState::running});
    return load;
  }

  // Two models served from one card, day and night.
  [[nodiscard]] Load serving(std::int64_t second, double jitter) const {
    Load load;
    load.level = std::clamp(0.2 + 0.55 * daylight(second) + jitter, 0.0, 1.0);
    load.holders.push_back(
        {fmt::format("sim-chat-{}", options_.node_id), 0.7, std::nullopt, HolderState::running});
    load.holders.push_back(
        {fmt::format("sim-embed-{}", options_.node_id), 0.3, std::nullopt, HolderState::running});
    return load;
  }

  void add_node_meters(std::vector<Reading>& readings, double gpu_watts, std::int64_t second, SteadyTime now,
                       Milliseconds elapsed) {
    double cpu_watts = 0;
    for (int package = 0; options_.cpu_rails && package < 2; ++package) {
      const auto stream = static_cast<std::uint64_t>(package) + 500;
      const double watts = 85 + 90 * daylight(second) + 20 * draw(stream, second);
      const double dram = 12 + 6 * draw(stream + 10, second);
      cpu_watts += watts + dram;
      readings.push_back(make("cpu_package", package, watts, now, elapsed, true));
      readings.push_back(make("dram", package, dram, now, elapsed, true));
    }
    if (options_.platform_meter)  // fans and power supplies come on top
      readings.push_back(make("platform", 0, 1.08 * (gpu_watts + cpu_watts) + 180, now, elapsed, false));
  }

  Reading make(std::string domain, int index, double watts, SteadyTime now, Milliseconds elapsed,
               bool counts) {
    Reading reading;
    reading.domain = std::move(domain);
    reading.index = index;
    // Whole milliwatts, so that counter and power integral agree to the microjoule.
    const Milliwatts power{std::llround(watts * kPerKilo)};
    reading.power = to_watts(power);
    if (counts) {
      auto& total = totals_[fmt::format("{}{}", reading.domain, index)];
      total += Microjoules{power.n * elapsed.count()};
      reading.energy_total = to_joules(total);
      reading.counter_epoch = epoch_;
    }
    reading.source = name();
    reading.quality = Quality::simulated;
    reading.at = now;
    return reading;
  }

  SimOptions options_;
  const Clock& clock_;
  SteadyTime last_;
  std::uint64_t node_seed_;
  std::string epoch_;
  std::map<std::string, Microjoules> totals_;
};

}  // namespace

std::unique_ptr<Source> make_sim(SimOptions options, const Clock& clock) {
  return std::make_unique<Sim>(std::move(options), clock);
}

}  // namespace tidewatt::sensors
