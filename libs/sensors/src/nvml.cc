#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>

#include "card_counter.h"
#include "library_sources.h"
#include "nvml_api.h"
#include "nvml_processes.h"
#include "pci.h"
#include "tidewatt/metering/plausibility.h"
#include "tidewatt/sensors/libraries.h"

namespace tidewatt::sensors {
namespace {

constexpr double kWattsPerMilliwatt = 1e-3;
constexpr std::uint64_t kMicrojoulesPerMillijoule = 1000;
// Cards come and go rarely; a lost one makes us look at once.
constexpr Milliseconds kEnumerateAgain{300'000};
constexpr Milliseconds kPauseAfterFailure{10'000};
constexpr unsigned kMaxDevices = 1024;

struct Card {
  nvml::Device device = nullptr;  ///< nullptr: asleep since the beginning, not attached yet
  std::string uuid;
  std::string model;
  std::string bus_id;  ///< as sysfs spells it; empty = not known
  CardCounter counter;
  std::optional<metering::DeviceProcesses> processes;  ///< as last listed
};

class Nvml final : public Source {
 public:
  Nvml(std::shared_ptr<const FileSystem> files, std::shared_ptr<const Clock> clock, LibraryOptions options)
      : files_(std::move(files)),
        clock_(std::move(clock)),
        path_(options.library.empty() ? library_files("nvml").front() : std::move(options.library)),
        process_period_(options.process_period),
        run_(fmt::format("nvml-{}", clock_->utc_now().time_since_epoch().count())) {}
  ~Nvml() override { close(); }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  [[nodiscard]] std::string name() const override { return "nvml"; }

  Result<std::vector<Reading>> read() override {
    const auto now = clock_->mono_now();
    if (now < retry_at_) return tl::unexpected(last_error_);
    const auto on_bus = nvidia_gpus(*files_);
    const bool all_asleep = !on_bus.empty() && std::all_of(on_bus.begin(), on_bus.end(),
                                                           [](const PciGpu& g) { return g.suspended; });
    if (!running_ && all_asleep) return asleep(on_bus);  // even starting the library would wake them
    if (auto ready = prepare(on_bus, now); !ready) {
      last_error_ = ready.error();
      retry_at_ = clock_->mono_now() + kPauseAfterFailure;
      return tl::unexpected(last_error_);
    }
    std::vector<Reading> readings;
    readings.reserve(cards_.size());
    for (std::size_t i = 0; i < cards_.size(); ++i)
      readings.push_back(read_card(cards_[i], static_cast<int>(i)));
    if (stale_) {  // the driver went away under us: begin anew next time
      close();
      retry_at_ = clock_->mono_now() + kPauseAfterFailure;
      last_error_ =
          Error{ErrorCode::unavailable, "NVML: the driver went away", "waiting for it to come back"};
    }
    return readings;
  }

 private:
  void close() {
    if (running_) library_->api().shutdown();
    running_ = false;
    stale_ = false;
    cards_.clear();
    ++generation_;
  }

  Status prepare(const std::vector<PciGpu>& on_bus, SteadyTime now) {
    if (!library_) {
      TW_TRY(library_, nvml::Library::open(path_));
    }
    const auto& api = library_->api();
    if (!running_) {
      if (const auto code = api.init(); code != nvml::kSuccess)
        return fail(ErrorCode::unavailable, fmt::format("NVML doesn't start: {}", api.explain(code)),
                    code == nvml::kLibraryMismatch
                        ? "driver and library differ in version: reboot or reload the driver"
                        : "see whether nvidia-smi works");
      running_ = true;
      enumerated_at_.reset();
    }
    if (enumerated_at_ && !lost_ && now - *enumerated_at_ < kEnumerateAgain) return {};
    unsigned count = std::numeric_limits<unsigned>::max();
    if (const auto code = api.count(&count); code != nvml::kSuccess || count > kMaxDevices) {
      close();
      return fail(ErrorCode::unavailable,
                  fmt::format("NVML doesn't count its devices: {}", api.explain(code)));
    }
    // A lost card is no longer counted by some drivers; it stays listed as unknown.
    if (cards_.size() < count) cards_.resize(count);
    for (unsigned i = 0; i < count; ++i)
      if (cards_[i].device == nullptr) {
        if (count == on_bus.size()) {  // then both are in the order of PCI addresses
          cards_[i].bus_id = on_bus[i].bus_id;
          if (on_bus[i].suspended) continue;
        }
        attach(cards_[i], i);
      }
    enumerated_at_ = now;
    lost_ = false;
    return {};
  }

  void attach(Card& card, unsigned index) const {
    const auto& api = library_->api();
    nvml::Device device = nullptr;
    if (api.handle(index, &device) != nvml::kSuccess) return;
    card.device = device;
    std::array<char, 128> text{};
    if (api.uuid != nullptr && api.uuid(device, text.data(), text.size()) == nvml::kSuccess)
      card.uuid = bounded(text);
    text.fill('\0');
    if (api.name != nullptr && api.name(device, text.data(), text.size()) == nvml::kSuccess)
      card.model = bounded(text);
    nvml::PciInfo pci{};
    if (api.pci != nullptr && api.pci(device, &pci) == nvml::kSuccess)
      card.bus_id = sysfs_bus_id({pci.bus_id, ::strnlen(pci.bus_id, sizeof pci.bus_id)});
  }

  static std::string bounded(const std::array<char, 128>& text) {
    return {text.data(), ::strnlen(text.data(), text.size())};
  }

  Reading read_card(Card& card, int index) {
    Reading reading;
    reading.domain = kDomainGpu;
    reading.index = index;
    reading.vendor = "nvidia";
    reading.source = name();
    if (!card.bus_id.empty() && is_suspended(*files_, card.bus_id)) {
      reading.reason = "suspended: not woken to be measured";
    } else {
      if (card.device == nullptr) attach(card, static_cast<unsigned>(index));
      if (card.device == nullptr)
        reading.reason = "NVML gives no access to this device";
      else
        measure(card, reading);
    }
    reading.uuid = card.uuid;
    reading.model = card.model;
    reading.at = clock_->mono_now();
    return reading;
  }

  void measure(Card& card, Reading& reading) {
    const auto& api = library_->api();
    unsigned limit_mw = std::numeric_limits<unsigned>::max();
    if (api.limit != nullptr && api.limit(card.device, &limit_mw) == nvml::kSuccess &&
        !metering::is_blank(limit_mw))
      reading.power_limit = metering::judge_limit(Watts{limit_mw * kWattsPerMilliwatt});
    measure_power(card, reading);
    reading.at = clock_->mono_now();
    measure_energy(card, reading);
    nvml::Utilization util{std::numeric_limits<unsigned>::max(), 0};
    if (api.utilization != nullptr && api.utilization(card.device, &util) == nvml::kSuccess &&
        util.gpu <= 100)
      reading.util = util.gpu / 100.0;
    nvml::Memory memory{0, 0, std::numeric_limits<unsigned long long>::max()};
    if (api.memory != nullptr && api.memory(card.device, &memory) == nvml::kSuccess &&
        memory.used <= memory.total)
      reading.memory_used_bytes = static_cast<std::int64_t>(memory.used);
    Health health;
    unsigned celsius = std::numeric_limits<unsigned>::max();
    if (api.temperature != nullptr &&
        api.temperature(card.device, nvml::kTemperatureGpu, &celsius) == nvml::kSuccess && celsius < 300)
      health.temperature_c = celsius;
    unsigned long long reasons = std::numeric_limits<unsigned long long>::max();
    if (api.throttle != nullptr && api.throttle(card.device, &reasons) == nvml::kSuccess &&
        !metering::is_blank(reasons))
      health.throttle_reasons = reasons;
    if (health.temperature_c || health.throttle_reasons) reading.health = health;
    list_processes(card, memory.used <= memory.total && memory.total > 0
                             ? std::optional{static_cast<std::int64_t>(memory.total)}
                             : std::nullopt);
    reading.processes = card.processes;
  }

  void list_processes(Card& card, std::optional<std::int64_t> memory_total) {
    const auto now = clock_->mono_now();
    if (!process_period_ || (card.processes && now - card.processes->at < *process_period_)) return;
    card.processes = nvml::processes_of(library_->api(), card.device);
    if (!card.processes) return;
    card.processes->at = now;
    card.processes->memory_total = memory_total;
  }

  // The instantaneous field where the driver has it, else the plain call (a 1 s mean on most cards since
  // Ampere).
  void measure_power(const Card& card, Reading& reading) {
    const auto& api = library_->api();
    if (api.fields != nullptr) {
      nvml::FieldValue field{};
      field.field_id = nvml::kFieldPowerInstant;
      field.status = nvml::kNotSupported;
      field.value.ull = std::numeric_limits<unsigned long long>::max();
      const auto code = api.fields(card.device, 1, &field);
      note(code);
      if (code == nvml::kSuccess && field.status == nvml::kSuccess)
        if (const auto raw = unsigned_of(field)) {
          const auto judged = metering::judge_raw_power(*raw, kWattsPerMilliwatt, reading.power_limit);
          reading.power = judged.power;
          if (judged.power) return;
        }
    }
    unsigned milliwatts = std::numeric_limits<unsigned>::max();
    const auto code = api.power(card.device, &milliwatts);
    note(code);
    if (code != nvml::kSuccess) {
      reading.reason = api.explain(code);
      return;
    }
    auto judged = metering::judge_raw_power(milliwatts, kWattsPerMilliwatt, reading.power_limit);
    reading.power = judged.power;
    reading.reason = std::move(judged.reason);
  }

  static std::optional<std::uint64_t> unsigned_of(const nvml::FieldValue& field) {
    switch (field.value_type) {
      case nvml::kUint:
        return field.value.ui;
      case nvml::kUlong:
        return field.value.ul;
      case nvml::kUlonglong:
        return field.value.ull;
      default:
        return std::nullopt;
    }
  }

  // The library counts since the driver was loaded or, without persistence, since the card was last opened;
  // neither can be told from outside.
  void measure_energy(Card& card, Reading& reading) {
    const auto& api = library_->api();
    if (api.energy == nullptr) return;
    unsigned long long millijoules = std::numeric_limits<unsigned long long>::max();
    const auto code = api.energy(card.device, &millijoules);
    note(code);
    constexpr auto kMost = std::numeric_limits<std::uint64_t>::max() / kMicrojoulesPerMillijoule;
    if (code != nvml::kSuccess || metering::is_blank(millijoules) || millijoules > kMost) return;
    card.counter.put(reading, millijoules * kMicrojoulesPerMillijoule,
                     fmt::format("{}-{}", run_, generation_));
  }

  void note(nvml::Return code) {
    if (code == nvml::kGpuIsLost) lost_ = true;
    if (code == nvml::kUninitialized || code == nvml::kDriverNotLoaded) stale_ = true;
  }

  [[nodiscard]] std::vector<Reading> asleep(const std::vector<PciGpu>& on_bus) const {
    std::vector<Reading> readings;
    for (const auto& gpu : on_bus) {
      Reading reading;
      reading.domain = kDomainGpu;
      reading.index = static_cast<int>(readings.size());
      reading.vendor = "nvidia";
      reading.source = name();
      reading.reason = fmt::format("suspended ({}): not woken to be measured", gpu.bus_id);
      reading.at = clock_->mono_now();
      readings.push_back(std::move(reading));
    }
    return readings;
  }

  std::shared_ptr<const FileSystem> files_;
  std::shared_ptr<const Clock> clock_;
  std::string path_;
  std::optional<Milliseconds> process_period_;
  std::string run_;
  std::unique_ptr<nvml::Library> library_;
  std::vector<Card> cards_;
  std::optional<SteadyTime> enumerated_at_;
  SteadyTime retry_at_{SteadyTime::min()};
  Error last_error_;
  int generation_ = 0;
  bool running_ = false;
  bool lost_ = false;
  bool stale_ = false;
};

}  // namespace

std::unique_ptr<Source> make_nvml(std::shared_ptr<const FileSystem> files, std::shared_ptr<const Clock> clock,
                                  LibraryOptions options) {
  return std::make_unique<Nvml>(std::move(files), std::move(clock), std::move(options));
}

}  // namespace tidewatt::sensors
