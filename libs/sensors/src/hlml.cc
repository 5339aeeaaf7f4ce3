#include <fmt/format.h>

#include <limits>

#include "card_library.h"
#include "hlml_abi.h"
#include "shared_library.h"

namespace tidewatt::sensors {
namespace {

using namespace hlml;

constexpr double kWattsPerMilliwatt = 1e-3;
constexpr std::uint64_t kMicrojoulesPerMillijoule = 1000;

class Hlml final : public CardLibrary {
 public:
  explicit Hlml(std::vector<std::string> names) : names_(std::move(names)) {}

  Status start() override {
    if (!library_) {
      TW_TRY(auto library, SharedLibrary::open("HL-ML", names_));
      library->need(api_.init, {"hlml_init"});
      library->need(api_.shutdown, {"hlml_shutdown"});
      library->need(api_.count, {"hlml_device_get_count"});
      library->need(api_.device, {"hlml_device_get_handle_by_index"});
      library->need(api_.power, {"hlml_device_get_power_usage"});
      library->find(api_.limit, {"hlml_device_get_power_management_default_limit"});
      library->find(api_.energy, {"hlml_device_get_total_energy_consumption"});
      library->find(api_.uuid, {"hlml_device_get_uuid"});
      library->find(api_.name, {"hlml_device_get_name"});
      library->find(api_.pci, {"hlml_device_get_pci_info"});
      library->find(api_.utilization, {"hlml_device_get_utilization_rates"});
      library->find(api_.memory, {"hlml_device_get_memory_info"});
      library->find(api_.temperature, {"hlml_device_get_temperature"});
      TW_TRY_STATUS(library->complete());
      library_ = std::move(library);
    }
    if (const auto code = api_.init(); code != kSuccess)
      return fail(ErrorCode::unavailable, fmt::format("HL-ML doesn't start: {}", explain(code)),
                  "see whether hl-smi works");
    return {};
  }
  void stop() override { api_.shutdown(); }

  Result<unsigned> count() override {
    unsigned count = std::numeric_limits<unsigned>::max();
    if (const auto code = api_.count(&count); code != kSuccess)
      return fail(ErrorCode::unavailable, explain(code));
    return count;
  }

  std::string bus_id(unsigned index) override {
    PciInfo info{};
    const auto device = handle(index);
    if (device == nullptr || api_.pci == nullptr || api_.pci(device, &info) != kSuccess) return {};
    return bounded(info.bus_id);
  }

  void identify(unsigned index, Reading& reading) override {
    const auto device = handle(index);
    if (device == nullptr) return;
    char uuid[128] = {};
    if (api_.uuid != nullptr && api_.uuid(device, static_cast<char*>(uuid), sizeof uuid) == kSuccess)
      reading.uuid = bounded(uuid);
    char name[128] = {};
    if (api_.name != nullptr && api_.name(device, static_cast<char*>(name), sizeof name) == kSuccess)
      reading.model = bounded(name);
  }

  Look measure(unsigned index, Reading& reading, std::optional<std::uint64_t>& microjoules) override {
    constexpr auto kUnset = std::numeric_limits<unsigned>::max();
    const auto device = handle(index);
    if (device == nullptr) {
      reading.reason = "HL-ML gives no access to this device";
      return Look::done;
    }
    unsigned milliwatts = kUnset;
    if (api_.limit != nullptr && api_.limit(device, &milliwatts) == kSuccess)
      put_limit(reading, milliwatts, kWattsPerMilliwatt);
    milliwatts = kUnset;
    const auto code = api_.power(device, &milliwatts);
    if (code == kSuccess)
      put_power(reading, milliwatts, kWattsPerMilliwatt);
    else
      reading.reason = explain(code);
    unsigned long long millijoules = std::numeric_limits<unsigned long long>::max();
    if (api_.energy != nullptr && api_.energy(device, &millijoules) == kSuccess &&
        !metering::is_blank(millijoules) &&
        millijoules < std::numeric_limits<std::uint64_t>::max() / kMicrojoulesPerMillijoule)
      microjoules = millijoules * kMicrojoulesPerMillijoule;
    Utilization utilization{kUnset};
    if (api_.utilization != nullptr && api_.utilization(device, &utilization) == kSuccess)
      put_percent(reading, utilization.aip);
    Memory memory{0, 0, std::numeric_limits<unsigned long long>::max()};
    if (api_.memory != nullptr && api_.memory(device, &memory) == kSuccess && memory.used <= memory.total)
      reading.memory_used_bytes = static_cast<std::int64_t>(memory.used);
    unsigned celsius = kUnset;
    if (api_.temperature != nullptr && api_.temperature(device, kTemperatureOnChip, &celsius) == kSuccess)
      put_temperature(reading, celsius);
    if (code == kUninitialized || code == kDriverNotLoaded) return Look::stale;
    return code == kLost ? Look::lost : Look::done;
  }

 private:
  [[nodiscard]] Device handle(unsigned index) const {
    Device device = nullptr;
    return api_.device(index, &device) == kSuccess ? device : nullptr;
  }
  static std::string explain(Return code) {
    switch (code) {
      case kNotSupported:
        return "not supported (HL-ML 3)";
      case kDriverNotLoaded:
        return "the driver isn't loaded (HL-ML 9)";
      case kLost:
        return "the device is lost (HL-ML 15)";
      default:
        return fmt::format("error {} of HL-ML", code);
    }
  }

  std::vector<std::string> names_;
  std::unique_ptr<SharedLibrary> library_;
  Api api_;
};

}  // namespace

std::unique_ptr<Source> make_hlml(std::shared_ptr<const FileSystem> files, std::shared_ptr<const Clock> clock,
                                  LibraryOptions options) {
  auto names = library_names_or(std::move(options.library), library_files("hlml"));
  return make_card_source({"hlml", "habana", "0x1da3"}, std::make_unique<Hlml>(std::move(names)),
                          std::move(files), std::move(clock));
}

}  // namespace tidewatt::sensors
