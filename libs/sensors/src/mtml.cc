#include <fmt/format.h>

#include <limits>
#include <vector>

#include "card_library.h"
#include "mtml_abi.h"
#include "shared_library.h"

namespace tidewatt::sensors {
namespace {

using namespace mtml;

constexpr double kWattsPerMilliwatt = 1e-3;

struct Handles {
  Device device = nullptr;
  Gpu gpu = nullptr;
};

class Mtml final : public CardLibrary {
 public:
  explicit Mtml(std::vector<std::string> names) : names_(std::move(names)) {}

  Status start() override {
    if (!library_) {
      TW_TRY(auto library, SharedLibrary::open("MTML", names_));
      library->need(api_.init, {"mtmlLibraryInit"});
      library->need(api_.shut_down, {"mtmlLibraryShutDown"});
      library->need(api_.count, {"mtmlLibraryCountDevice"});
      library->need(api_.device, {"mtmlLibraryInitDeviceByIndex"});
      library->need(api_.power, {"mtmlDeviceGetPowerUsage"});
      library->find(api_.uuid, {"mtmlDeviceGetUUID"});
      library->find(api_.name, {"mtmlDeviceGetName"});
      library->find(api_.pci, {"mtmlDeviceGetPciInfo"});
      library->find(api_.gpu, {"mtmlDeviceInitGpu"});
      library->find(api_.utilization, {"mtmlGpuGetUtilization"});
      library->find(api_.temperature, {"mtmlGpuGetTemperature"});
      library->find(api_.error_text, {"mtmlErrorString"});
      TW_TRY_STATUS(library->complete());
      library_ = std::move(library);
    }
    if (const auto code = api_.init(&session_); code != kSuccess)
      return fail(ErrorCode::unavailable, fmt::format("MTML doesn't start: {}", explain(code)),
                  "see whether mthreads-gmi works");
    return {};
  }
  void stop() override {
    cards_.clear();
    api_.shut_down(session_);
    session_ = nullptr;
  }

  Result<unsigned> count() override {
    unsigned count = std::numeric_limits<unsigned>::max();
    if (const auto code = api_.count(session_, &count); code != kSuccess)
      return fail(ErrorCode::unavailable, explain(code));
    return count;
  }

  std::string bus_id(unsigned index) override {
    const auto device = handles(index).device;
    PciInfo info{};
    if (device == nullptr || api_.pci == nullptr || api_.pci(device, &info) != kSuccess) return {};
    return bounded(info.sbdf);
  }

  void identify(unsigned index, Reading& reading) override {
    const auto device = handles(index).device;
    if (device == nullptr) return;
    char text[128] = {};
    if (api_.uuid != nullptr && api_.uuid(device, static_cast<char*>(text), sizeof text) == kSuccess)
      reading.uuid = bounded(text);
    char name[128] = {};
    if (api_.name != nullptr && api_.name(device, static_cast<char*>(name), sizeof name) == kSuccess)
      reading.model = bounded(name);
  }

  Look measure(unsigned index, Reading& reading, std::optional<std::uint64_t>&) override {
    const auto card = handles(index);
    if (card.device == nullptr) {
      reading.reason = "MTML gives no access to this device";
      return Look::done;
    }
    unsigned milliwatts = std::numeric_limits<unsigned>::max();
    const auto code = api_.power(card.device, &milliwatts);
    if (code == kSuccess)
      put_power(reading, milliwatts, kWattsPerMilliwatt);
    else
      reading.reason = explain(code);
    if (card.gpu != nullptr) {
      unsigned value = std::numeric_limits<unsigned>::max();
      if (api_.utilization != nullptr && api_.utilization(card.gpu, &value) == kSuccess)
        put_percent(reading, value);
      value = std::numeric_limits<unsigned>::max();
      if (api_.temperature != nullptr && api_.temperature(card.gpu, &value) == kSuccess)
        put_temperature(reading, value);
    }
    if (code == kDriverNotLoaded) return Look::stale;
    return code == kNotFound ? Look::lost : Look::done;
  }

 private:
  // Each call of init for a device takes memory: once per card.
  Handles handles(unsigned index) {
    if (cards_.size() <= index) cards_.resize(index + 1);
    auto& card = cards_[index];
    if (card.device == nullptr && api_.device(session_, index, &card.device) != kSuccess)
      card.device = nullptr;
    if (card.device != nullptr && card.gpu == nullptr && api_.gpu != nullptr &&
        api_.gpu(card.device, &card.gpu) != kSuccess)
      card.gpu = nullptr;
    return card;
  }

  [[nodiscard]] std::string explain(Return code) const {
    const char* text = api_.error_text != nullptr ? api_.error_text(code) : nullptr;
    return fmt::format("{} (MTML {})", text != nullptr ? text : "error", code);
  }

  std::vector<std::string> names_;
  std::unique_ptr<SharedLibrary> library_;
  Api api_;
  Library session_ = nullptr;
  std::vector<Handles> cards_;
};

}  // namespace

std::unique_ptr<Source> make_mtml(std::shared_ptr<const FileSystem> files, std::shared_ptr<const Clock> clock,
                                  LibraryOptions options) {
  auto names = library_names_or(std::move(options.library), library_files("mtml"));
  return make_card_source({"mtml", "mthreads", "0x1ed5"}, std::make_unique<Mtml>(std::move(names)),
                          std::move(files), std::move(clock));
}

}  // namespace tidewatt::sensors
