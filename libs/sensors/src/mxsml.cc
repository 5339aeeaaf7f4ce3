#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "card_library.h"
#include "mxsml_abi.h"
#include "shared_library.h"

namespace tidewatt::sensors {
namespace {

using namespace mxsml;

constexpr double kWattsPerMilliwatt = 1e-3;
constexpr double kCelsiusPerHundredth = 1e-2;
constexpr std::int64_t kBytesPerKib = 1024;

class MxSml final : public CardLibrary {
 public:
  explicit MxSml(std::vector<std::string> names) : names_(std::move(names)) {}

  Status start() override {
    if (!library_) {
      TW_TRY(auto library, SharedLibrary::open("MX-SML", names_));
      library->need(api_.init, {"mxSmlInit"});
      library->need(api_.count, {"mxSmlGetDeviceCount"});
      library->need(api_.device, {"mxSmlGetDeviceInfo"});
      library->need(api_.power, {"mxSmlGetBoardPowerInfo"});
      library->find(api_.limit, {"mxSmlGetBoardPowerLimit"});
      library->find(api_.temperature, {"mxSmlGetTemperatureInfo"});
      library->find(api_.usage, {"mxSmlGetDeviceIpUsage"});
      library->find(api_.memory, {"mxSmlGetMemoryInfo"});
      library->find(api_.error_text, {"mxSmlGetErrorString"});
      TW_TRY_STATUS(library->complete());
      library_ = std::move(library);
    }
    if (const auto code = api_.init(); code != kSuccess)
      return fail(ErrorCode::unavailable, fmt::format("MX-SML doesn't start: {}", explain(code)),
                  "see whether mx-smi works");
    return {};
  }
  void stop() override {}  // the interface has no end
  Result<unsigned> count() override { return api_.count(); }

  std::string bus_id(unsigned index) override {
    const auto info = device(index);
    return info ? bounded(info->bdf) : std::string{};
  }

  void identify(unsigned index, Reading& reading) override {
    const auto info = device(index);
    if (!info) return;
    reading.uuid = bounded(info->uuid);
    reading.model = bounded(info->name);
  }

  Look measure(unsigned index, Reading& reading, std::optional<std::uint64_t>&) override {
    const auto info = device(index);
    if (info && info->mode == kVirtualFunction) {
      reading.reason = "a virtual function has no power of its own";
      return Look::done;
    }
    unsigned milliwatts = std::numeric_limits<unsigned>::max();
    if (api_.limit != nullptr && api_.limit(index, &milliwatts) == kSuccess)
      put_limit(reading, milliwatts, kWattsPerMilliwatt);
    const auto code = measure_power(index, reading);
    int percent = -1;
    const auto part = info && info->brand == kBrandN ? kUsageDla : kUsageXcore;
    if (api_.usage != nullptr && api_.usage(index, part, &percent) == kSuccess && percent >= 0)
      put_percent(reading, static_cast<std::uint64_t>(percent));
    MemoryInfo memory{};
    memory.used = -1;
    if (api_.memory != nullptr && api_.memory(index, &memory) == kSuccess && memory.used >= 0 &&
        memory.used <= memory.total)
      reading.memory_used_bytes = memory.used * kBytesPerKib;
    int hundredths = std::numeric_limits<int>::min();
    if (api_.temperature != nullptr && api_.temperature(index, kHotspot, &hundredths) == kSuccess)
      put_temperature(reading, hundredths * kCelsiusPerHundredth);
    return code == kNoDevice || code == kInvalidDevice ? Look::lost : Look::done;
  }

 private:
  [[nodiscard]] std::optional<DeviceInfo> device(unsigned index) const {
    DeviceInfo info{};
    if (api_.device(index, &info) != kSuccess) return std::nullopt;
    return info;
  }

  // The board draws from all of its supplies together.
  Return measure_power(unsigned index, Reading& reading) const {
    Way ways[kMostWays] = {};
    for (auto& way : ways) way.power = std::numeric_limits<unsigned>::max();
    unsigned count = kMostWays;
    const auto code = api_.power(index, &count, static_cast<Way*>(ways));
    if (code != kSuccess) {
      reading.reason = explain(code);
      return code;
    }
    std::uint64_t milliwatts = 0;
    for (unsigned i = 0; i < std::min(count, kMostWays); ++i) {
      if (metering::is_blank(ways[i].power)) {
        reading.reason = fmt::format("sentinel: {:#x} on supply {}", ways[i].power, i);
        return code;
      }
      milliwatts += ways[i].power;
    }
    if (count == 0 || count > kMostWays)
      reading.reason = fmt::format("MX-SML tells {} supplies", count);
    else
      put_power(reading, milliwatts, kWattsPerMilliwatt);
    return code;
  }

  [[nodiscard]] std::string explain(Return code) const {
    const char* text = api_.error_text != nullptr ? api_.error_text(code) : nullptr;
    return fmt::format("{} (MX-SML {})", text != nullptr ? text : "error", code);
  }

  std::vector<std::string> names_;
  std::unique_ptr<SharedLibrary> library_;
  Api api_;
};

}  // namespace

std::unique_ptr<Source> make_mxsml(std::shared_ptr<const FileSystem> files,
                                   std::shared_ptr<const Clock> clock, LibraryOptions options) {
  auto names = library_names_or(std::move(options.library), library_files("mxsml"));
  return make_card_source({"mxsml", "metax", "0x9999"}, std::make_unique<MxSml>(std::move(names)),
                          std::move(files), std::move(clock));
}

}  // namespace tidewatt::sensors
