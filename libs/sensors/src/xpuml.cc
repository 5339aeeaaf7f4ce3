#include <fmt/format.h>

#include <limits>
#include <vector>

#include "card_library.h"
#include "shared_library.h"
#include "xpuml_abi.h"

namespace tidewatt::sensors {
namespace {

using namespace xpuml;

constexpr double kWattsPerMilliwatt = 1e-3;

class Xpuml final : public CardLibrary {
 public:
  explicit Xpuml(std::vector<std::string> names) : names_(std::move(names)) {}

  Status start() override {
    if (!library_) {
      TW_TRY(auto library, SharedLibrary::open("XPUML", names_));
      library->need(api_.init, {"xpumlInit"});
      library->need(api_.shutdown, {"xpumlShutdown"});
      library->need(api_.count, {"xpumlDeviceGetCount"});
      library->need(api_.device, {"xpumlDeviceGetHandleByIndex"});
      library->need(api_.power, {"xpumlDeviceGetPowerUsage"});
      library->find(api_.name, {"xpumlDeviceGetName"});
      library->find(api_.pci, {"xpumlDeviceGetPciInfo"});
      library->find(api_.attributes, {"xpumlDeviceGetAttributes"});
      library->find(api_.utilization, {"xpumlDeviceGetUtilizationRates"});
      library->find(api_.memory, {"xpumlDeviceGetMemoryInfo"});
      TW_TRY_STATUS(library->complete());
      library_ = std::move(library);
    }
    if (const auto code = api_.init(); code != kSuccess)
      return fail(ErrorCode::unavailable, fmt::format("XPUML doesn't start: {}", explain(code)),
                  "see whether xpu-smi works");
    return {};
  }
  void stop() override {
    serials_.clear();
    api_.shutdown();
  }

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

  // The library has no uuid; a board's serial number and the device's address in it tell devices apart.
  void identify(unsigned index, Reading& reading) override {
    if (serials_.size() <= index) serials_.resize(index + 1);
    const auto device = handle(index);
    if (device == nullptr) return;
    char name[128] = {};
    if (api_.name != nullptr && api_.name(device, static_cast<char*>(name), sizeof name) == kSuccess)
      reading.model = bounded(name);
    Attributes attributes{};
    if (api_.attributes == nullptr || api_.attributes(device, &attributes) != kSuccess ||
        (attributes.serial[0] == 0 && attributes.serial[1] == 0))
      return;
    serials_[index] = fmt::format("{:016x}{:016x}", attributes.serial[0], attributes.serial[1]);
    reading.uuid = fmt::format("{}-{}", serials_[index], bus_id(index));
  }

  Look measure(unsigned index, Reading& reading, std::optional<std::uint64_t>&) override {
    const auto device = handle(index);
    if (device == nullptr) {
      reading.reason = "XPUML gives no access to this device";
      return Look::done;
    }
    measure_power(device, index, reading);
    Utilization utilization{};
    utilization.xpu = std::numeric_limits<unsigned>::max();
    if (api_.utilization != nullptr && api_.utilization(device, &utilization) == kSuccess)
      put_percent(reading, utilization.xpu);
    Memory memory{};
    memory.used = std::numeric_limits<unsigned long long>::max();
    if (api_.memory != nullptr && api_.memory(device, &memory) == kSuccess && memory.used <= memory.total)
      reading.memory_used_bytes = static_cast<std::int64_t>(memory.used);
    return Look::done;
  }

 private:
  // Two devices of one board may share its sensor: the board's power is told once, with its first device.
  void measure_power(Device device, unsigned index, Reading& reading) const {
    for (unsigned other = 0; other < index && index < serials_.size(); ++other)
      if (!serials_[index].empty() && serials_[other] == serials_[index]) {
        reading.reason = fmt::format("on one board with gpu {}, whose power is the board's", other);
        return;
      }
    unsigned milliwatts = std::numeric_limits<unsigned>::max();
    if (const auto code = api_.power(device, &milliwatts); code != kSuccess)
      reading.reason = explain(code);
    else
      put_power(reading, milliwatts, kWattsPerMilliwatt);
  }
  [[nodiscard]] Device handle(unsigned index) const {
    Device device = nullptr;
    return api_.device(index, &device) == kSuccess ? device : nullptr;
  }
  static std::string explain(Return code) { return fmt::format("error {} of XPUML", code); }

  std::vector<std::string> names_;
  std::unique_ptr<SharedLibrary> library_;
  Api api_;
  std::vector<std::string> serials_;  ///< of the boards, by device; empty = not told
};

}  // namespace

std::unique_ptr<Source> make_xpuml(std::shared_ptr<const FileSystem> files,
                                   std::shared_ptr<const Clock> clock, LibraryOptions options) {
  auto names = library_names_or(std::move(options.library), library_files("xpuml"));
  return make_card_source({"xpuml", "kunlunxin", "0x1d22"}, std::make_unique<Xpuml>(std::move(names)),
                          std::move(files), std::move(clock));
}

}  // namespace tidewatt::sensors
