#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "amd_energy.h"
#include "card_library.h"
#include "rocm_smi_abi.h"
#include "shared_library.h"

namespace tidewatt::sensors {
namespace {

using namespace rocm_smi;

constexpr double kWattsPerMicrowatt = 1e-6;
constexpr double kCelsiusPerMillidegree = 1e-3;
constexpr std::uint64_t kUnset = std::numeric_limits<std::uint64_t>::max();

class RocmSmi final : public CardLibrary {
 public:
  RocmSmi(std::string what, std::vector<std::string> names)
      : what_(std::move(what)), names_(std::move(names)) {}

  Status start() override {
    if (!library_) {
      TW_TRY(auto library, SharedLibrary::open(what_, names_));
      library->need(api_.init, {"rsmi_init"});
      library->need(api_.shut_down, {"rsmi_shut_down"});
      library->need(api_.count, {"rsmi_num_monitor_devices"});
      library->need(api_.average_power, {"rsmi_dev_power_ave_get"});
      library->find(api_.power, {"rsmi_dev_power_get"});
      library->find(api_.socket_power, {"rsmi_dev_current_socket_power_get"});
      library->find(api_.power_cap, {"rsmi_dev_power_cap_get"});
      library->find(api_.energy, {"rsmi_dev_energy_count_get"});
      library->find(api_.unique_id, {"rsmi_dev_unique_id_get"});
      library->find(api_.name, {"rsmi_dev_name_get"});
      library->find(api_.pci_id, {"rsmi_dev_pci_id_get"});
      library->find(api_.busy, {"rsmi_dev_busy_percent_get"});
      library->find(api_.memory_used, {"rsmi_dev_memory_usage_get"});
      library->find(api_.temperature, {"rsmi_dev_temp_metric_get"});
      library->find(api_.status_text, {"rsmi_status_string"});
      TW_TRY_STATUS(library->complete());
      library_ = std::move(library);
    }
    if (const auto code = api_.init(0); code != kSuccess)
      return fail(ErrorCode::unavailable, fmt::format("{} doesn't start: {}", what_, explain(code)),
                  "is the amdgpu driver loaded, and /dev/kfd and /sys readable?");
    return {};
  }
  void stop() override { api_.shut_down(); }

  Result<unsigned> count() override {
    std::uint32_t count = std::numeric_limits<std::uint32_t>::max();
    if (const auto code = api_.count(&count); code != kSuccess)
      return fail(ErrorCode::unavailable, explain(code));
    return count;
  }

  std::string bus_id(unsigned index) override {
    std::uint64_t bdf = kUnset;
    if (api_.pci_id == nullptr || api_.pci_id(index, &bdf) != kSuccess || bdf == kUnset) return {};
    return fmt::format("{:04x}:{:02x}:{:02x}.{}", domain_of(bdf), bus_of(bdf), device_of(bdf),
                       function_of(bdf));
  }

  void identify(unsigned index, Reading& reading) override {
    std::uint64_t id = 0;
    if (api_.unique_id != nullptr && api_.unique_id(index, &id) == kSuccess && id != 0 && id != kUnset)
      reading.uuid = fmt::format("{:#x}", id);
    char text[256] = {};
    if (api_.name != nullptr && api_.name(index, text, sizeof text) == kSuccess)
      reading.model = bounded(text);
  }

  Look measure(unsigned index, Reading& reading, std::optional<std::uint64_t>& microjoules) override {
    std::uint64_t cap = kUnset;
    if (api_.power_cap != nullptr && api_.power_cap(index, 0, &cap) == kSuccess)
      put_limit(reading, cap, kWattsPerMicrowatt);
    measure_power(index, reading);
    microjoules = energy(index);
    std::uint32_t percent = std::numeric_limits<std::uint32_t>::max();
    if (api_.busy != nullptr && api_.busy(index, &percent) == kSuccess) put_percent(reading, percent);
    std::uint64_t used = kUnset;
    if (api_.memory_used != nullptr && api_.memory_used(index, kVram, &used) == kSuccess &&
        used <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      reading.memory_used_bytes = static_cast<std::int64_t>(used);
    if (api_.temperature != nullptr)
      for (const auto sensor : {kEdgeTemperature, kJunctionTemperature}) {
        std::int64_t millidegrees = std::numeric_limits<std::int64_t>::min();
        if (api_.temperature(index, sensor, kCurrentTemperature, &millidegrees) != kSuccess) continue;
        put_temperature(reading, static_cast<double>(millidegrees) * kCelsiusPerMillidegree);
        break;
      }
    return Look::done;
  }

 private:
  // The momentary socket power where the card has it, else the mean of a short time.
  void measure_power(unsigned index, Reading& reading) const {
    Return code = kNotSupported;
    std::uint64_t microwatts = kUnset;
    unsigned type = kInvalidPower;
    if (api_.power != nullptr) {
      code = api_.power(index, &microwatts, &type);
      if (code == kSuccess && type == kInvalidPower) code = kNotSupported;
    } else {
      if (api_.socket_power != nullptr) code = api_.socket_power(index, &microwatts);
      if (code != kSuccess) code = api_.average_power(index, 0, &microwatts);
    }
    if (code == kSuccess)
      put_power(reading, microwatts, kWattsPerMicrowatt);
    else
      reading.reason = explain(code);
  }

  [[nodiscard]] std::optional<std::uint64_t> energy(unsigned index) const {
    std::uint64_t counter = kUnset;
    float resolution = 0;
    std::uint64_t time = 0;
    if (api_.energy == nullptr || api_.energy(index, &counter, &resolution, &time) != kSuccess)
      return std::nullopt;
    return amd_microjoules(counter, resolution);
  }

  [[nodiscard]] std::string explain(Return code) const {
    const char* text = nullptr;
    if (api_.status_text != nullptr && api_.status_text(code, &text) == kSuccess && text != nullptr) {
      std::string line{text};
      return fmt::format("{} (ROCm SMI {})", line.substr(0, line.find('\n')), code);
    }
    return fmt::format("error {} of ROCm SMI", code);
  }

  std::string what_;
  std::vector<std::string> names_;
  std::unique_ptr<SharedLibrary> library_;
  Api api_;
};

}  // namespace

std::unique_ptr<Source> make_rocm_smi(std::shared_ptr<const FileSystem> files,
                                      std::shared_ptr<const Clock> clock, LibraryOptions options) {
  auto names = library_names_or(std::move(options.library), library_files("rocm-smi-lib"));
  return make_card_source({"rocm-smi-lib", "amd", "0x1002"},
                          std::make_unique<RocmSmi>("ROCm SMI", std::move(names)), std::move(files),
                          std::move(clock));
}

std::unique_ptr<Source> make_hygon_smi(std::shared_ptr<const FileSystem> files,
                                       std::shared_ptr<const Clock> clock, LibraryOptions options) {
  auto names = library_names_or(std::move(options.library), library_files("hygon-smi-lib"));
  return make_card_source({"hygon-smi-lib", "hygon", "0x1d94"},
                          std::make_unique<RocmSmi>("Hygon's ROCm SMI", std::move(names)), std::move(files),
                          std::move(clock));
}

}  // namespace tidewatt::sensors
