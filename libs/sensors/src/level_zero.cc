#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <vector>

#include "card_library.h"
#include "level_zero_abi.h"
#include "shared_library.h"

namespace tidewatt::sensors {
namespace {

using namespace level_zero;

constexpr double kWattsPerMilliwatt = 1e-3;
constexpr std::uint32_t kMostHandles = 256;
constexpr std::uint64_t kUnset = std::numeric_limits<std::uint64_t>::max();
/// A counter whose own clock stands for so many looks is frozen.
constexpr int kFrozenAfterLooks = 5;

struct GpuCard {
  Device device = nullptr;
  Power power = nullptr;  ///< of the whole card
  std::optional<EnergyCounter> last;
  int looks_without_news = 0;
  bool integrated = false;
};

class LevelZero final : public CardLibrary {
 public:
  explicit LevelZero(std::vector<std::string> names) : names_(std::move(names)) {}

  Status start() override {
    if (!library_) TW_TRY_STATUS(open());
    Return code = kUnsupportedFeature;
    sysman_ = api_.sysman_init != nullptr && api_.sysman_drivers != nullptr && api_.sysman_devices != nullptr;
    if (sysman_) code = api_.sysman_init(0);
    if (code != kSuccess && api_.core_init != nullptr && api_.core_drivers != nullptr &&
        api_.core_devices != nullptr) {
      // Older drivers: management rides on the compute interface, if this was said before it starts.
      ::setenv("ZES_ENABLE_SYSMAN", "1", 1);
      sysman_ = false;
      code = api_.core_init(kInitGpuOnly);
    }
    if (code != kSuccess)
      return fail(ErrorCode::unavailable, fmt::format("Level Zero doesn't start: {}", explain(code)),
                  "is Intel's compute driver installed, and /dev/dri readable?");
    return {};
  }
  void stop() override { cards_.clear(); }  // the interface has no end

  Result<unsigned> count() override {
    std::uint32_t count = kMostHandles;
    std::vector<Driver> drivers(kMostHandles);
    const auto code =
        sysman_ ? api_.sysman_drivers(&count, drivers.data()) : api_.core_drivers(&count, drivers.data());
    if (code != kSuccess) return fail(ErrorCode::unavailable, explain(code));
    std::vector<GpuCard> cards;
    for (std::uint32_t d = 0; d < std::min(count, kMostHandles); ++d) {
      std::uint32_t devices = kMostHandles;
      std::vector<Device> handles(kMostHandles);
      const auto listed = sysman_ ? api_.sysman_devices(drivers[d], &devices, handles.data())
                                  : api_.core_devices(drivers[d], &devices, handles.data());
      if (listed != kSuccess) continue;
      for (std::uint32_t i = 0; i < std::min(devices, kMostHandles); ++i)
        cards.push_back(card_of(handles[i]));
    }
    for (auto& card : cards)  // the same cards go on where they were
      for (const auto& old : cards_)
        if (old.device == card.device && old.power == card.power) card = old;
    cards_ = std::move(cards);
    return static_cast<unsigned>(cards_.size());
  }

  std::string bus_id(unsigned index) override {
    PciProperties pci{};
    pci.type = kPciProperties;
    if (api_.pci_properties == nullptr || api_.pci_properties(cards_.at(index).device, &pci) != kSuccess)
      return {};
    return fmt::format("{:04x}:{:02x}:{:02x}.{}", pci.domain, pci.bus, pci.device, pci.function);
  }

  void identify(unsigned index, Reading& reading) override {
    DeviceProperties properties{};
    properties.type = kDeviceProperties;
    properties.core.type = kCoreDeviceProperties;
    if (api_.device_properties == nullptr ||
        api_.device_properties(cards_.at(index).device, &properties) != kSuccess)
      return;
    cards_[index].integrated = (properties.core.flags & kIntegrated) != 0;
    reading.model = bounded(properties.core.name);
    const auto& id = properties.core.uuid;
    if (std::all_of(std::begin(id), std::end(id), [](std::uint8_t b) { return b == 0; })) return;
    for (const auto byte : id) reading.uuid += fmt::format("{:02x}", byte);
  }

  Look measure(unsigned index, Reading& reading, std::optional<std::uint64_t>& microjoules) override {
    if (index >= cards_.size()) {
      reading.reason = "Level Zero no longer lists this card";
      return Look::lost;
    }
    auto& card = cards_[index];
    if (card.integrated) {
      reading.reason = "a part of the CPU, whose package counter contains it";
      return Look::done;
    }
    if (card.power == nullptr) {
      reading.reason = "Level Zero tells no power domain of the whole card";
      return Look::done;
    }
    SustainedLimit limit{0, -1, 0};
    if (api_.limits != nullptr && api_.limits(card.power, &limit, nullptr, nullptr) == kSuccess &&
        limit.enabled != 0 && limit.power > 0)
      put_limit(reading, static_cast<std::uint64_t>(limit.power), kWattsPerMilliwatt);
    EnergyCounter now{kUnset, kUnset};
    const auto code = api_.energy(card.power, &now);
    if (code != kSuccess || now.energy == kUnset || now.timestamp == kUnset) {
      card.last.reset();
      reading.reason = code == kSuccess ? "sentinel: counter of all ones" : explain(code);
      return code == kDeviceLost ? Look::lost : code == kUninitialized ? Look::stale : Look::done;
    }
    return put_step(card, now, reading, microjoules);
  }

 private:
  Status open() {
    TW_TRY(auto library, SharedLibrary::open("Level Zero", names_));
    library->find(api_.sysman_init, {"zesInit"});
    library->find(api_.sysman_drivers, {"zesDriverGet"});
    library->find(api_.sysman_devices, {"zesDeviceGet"});
    library->find(api_.core_init, {"zeInit"});
    library->find(api_.core_drivers, {"zeDriverGet"});
    library->find(api_.core_devices, {"zeDeviceGet"});
    library->need(api_.power_domains, {"zesDeviceEnumPowerDomains"});
    library->need(api_.energy, {"zesPowerGetEnergyCounter"});
    library->need(api_.power_properties, {"zesPowerGetProperties"});
    library->find(api_.card_power, {"zesDeviceGetCardPowerDomain"});
    library->find(api_.device_properties, {"zesDeviceGetProperties"});
    library->find(api_.pci_properties, {"zesDevicePciGetProperties"});
    library->find(api_.limits, {"zesPowerGetLimits"});
    TW_TRY_STATUS(library->complete());
    library_ = std::move(library);
    return {};
  }

  [[nodiscard]] GpuCard card_of(Device device) const {
    GpuCard card;
    card.device = device;
    Power whole = nullptr;
    if (api_.card_power != nullptr && api_.card_power(device, &whole) == kSuccess && whole != nullptr) {
      card.power = whole;
      return card;
    }
    // Else the one domain of the device itself; those of its tiles are parts, and two may overlap.
    std::uint32_t count = kMostHandles;
    std::vector<Power> domains(kMostHandles);
    if (api_.power_domains(device, &count, domains.data()) != kSuccess) return card;
    for (std::uint32_t i = 0; i < std::min(count, kMostHandles); ++i) {
      PowerProperties properties{};
      properties.type = kPowerProperties;
      if (api_.power_properties(domains[i], &properties) != kSuccess || properties.on_subdevice != 0)
        continue;
      if (card.power == nullptr) card.power = domains[i];
    }
    return card;
  }

  // There is no call for power: it is the counter's step over that of its own clock.
  static Look put_step(GpuCard& card, const EnergyCounter& now, Reading& reading,
                       std::optional<std::uint64_t>& microjoules) {
    const auto last = card.last;
    if (last && now.timestamp == last->timestamp) {
      if (++card.looks_without_news < kFrozenAfterLooks) return Look::no_news;
      reading.reason = fmt::format("counter_frozen at {} uJ", now.energy);
      return Look::done;
    }
    card.last = now;
    card.looks_without_news = 0;
    microjoules = now.energy;
    if (!last || now.timestamp < last->timestamp || now.energy < last->energy) {
      reading.reason = "counter_baseline";
      return Look::done;
    }
    const Watts power{static_cast<double>(now.energy - last->energy) /
                      static_cast<double>(now.timestamp - last->timestamp)};
    auto judged = metering::judge_power(power, reading.power_limit);
    reading.power = judged.power;
    reading.reason = std::move(judged.reason);
    return Look::done;
  }

  static std::string explain(Return code) {
    switch (code) {
      case kDeviceLost:
        return "the device is lost (Level Zero 0x70000001)";
      case kLowPowerState:
        return "the device sleeps (Level Zero 0x70000007)";
      case kNoPermission:
        return "no permission (Level Zero 0x70010000)";
      case kUninitialized:
        return "no driver (Level Zero 0x78000001)";
      case kUnsupportedFeature:
        return "not supported (Level Zero 0x78000003)";
      default:
        return fmt::format("error {:#x} of Level Zero", code);
    }
  }

  std::vector<std::string> names_;
  std::unique_ptr<SharedLibrary> library_;
  Api api_;
  bool sysman_ = false;
  std::vector<GpuCard> cards_;
};

}  // namespace

std::unique_ptr<Source> make_level_zero(std::shared_ptr<const FileSystem> files,
                                        std::shared_ptr<const Clock> clock, LibraryOptions options) {
  auto names = library_names_or(std::move(options.library), library_files("level-zero"));
  return make_card_source({"level-zero", "intel", "0x8086"}, std::make_unique<LevelZero>(std::move(names)),
                          std::move(files), std::move(clock));
}

}  // namespace tidewatt::sensors
