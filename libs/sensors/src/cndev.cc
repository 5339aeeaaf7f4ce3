#include <fmt/format.h>

#include <limits>

#include "card_library.h"
#include "cndev_abi.h"
#include "shared_library.h"

namespace tidewatt::sensors {
namespace {

using namespace cndev;

class Cndev final : public CardLibrary {
 public:
  explicit Cndev(std::vector<std::string> names) : names_(std::move(names)) {}

  Status start() override {
    if (!library_) {
      TW_TRY(auto library, SharedLibrary::open("CNDev", names_));
      library->need(api_.init, {"cndevInit"});
      library->need(api_.release, {"cndevRelease"});
      library->need(api_.count, {"cndevGetDeviceCount"});
      library->need(api_.power, {"cndevGetPowerInfo"});
      library->find(api_.handle, {"cndevGetDeviceHandleByIndex"});
      library->find(api_.uuid, {"cndevGetUUID"});
      library->find(api_.pcie, {"cndevGetPCIeInfo"});
      library->find(api_.name, {"cndevGetCardNameStringByDevId"});
      library->find(api_.error_text, {"cndevGetErrorString"});
      TW_TRY_STATUS(library->complete());
      library_ = std::move(library);
    }
    if (const auto code = api_.init(0); code != kSuccess)
      return fail(ErrorCode::unavailable, fmt::format("CNDev doesn't start: {}", explain(code)),
                  "see whether cnmon works");
    return {};
  }
  void stop() override { api_.release(); }

  Result<unsigned> count() override {
    CardInfo info{kVersion, std::numeric_limits<unsigned>::max()};
    if (const auto code = api_.count(&info); code != kSuccess)
      return fail(ErrorCode::unavailable, explain(code));
    return info.number;
  }

  std::string bus_id(unsigned index) override {
    PcieInfo info{};
    info.version = kVersion;
    if (api_.pcie == nullptr || api_.pcie(&info, handle(index)) != kSuccess) return {};
    return fmt::format("{:04x}:{:02x}:{:02x}.{}", info.domain, info.bus, info.device, info.function);
  }

  void identify(unsigned index, Reading& reading) override {
    Uuid uuid{};
    uuid.version = kVersion;
    if (api_.uuid != nullptr && api_.uuid(&uuid, handle(index)) == kSuccess)
      for (const auto c : uuid.text) {
        if (c == 0) break;
        reading.uuid += static_cast<char>(c);
      }
    const char* name = api_.name != nullptr ? api_.name(handle(index)) : nullptr;
    if (name != nullptr) reading.model = name;
  }

  Look measure(unsigned index, Reading& reading, std::optional<std::uint64_t>&) override {
    constexpr double kWatts = 1;
    PowerInfo info{};
    info.version = kVersion;
    info.usage = info.cap = -1;
    const auto code = api_.power(&info, handle(index));
    if (code != kSuccess) {
      reading.reason = explain(code);
      if (code == kNoDriver || code == kUninitialized) return Look::stale;
      return code == kInvalidDevice ? Look::lost : Look::done;
    }
    if (info.cap > 0) put_limit(reading, static_cast<std::uint64_t>(info.cap), kWatts);
    // Whole watts: how many digits the field of decimals has isn't documented.
    if (info.usage < 0)
      reading.reason = fmt::format("sentinel: {}", info.usage);
    else
      put_power(reading, static_cast<std::uint64_t>(info.usage), kWatts);
    return Look::done;
  }

 private:
  [[nodiscard]] Device handle(unsigned index) const {
    Device device = static_cast<Device>(index);
    if (api_.handle != nullptr && api_.handle(static_cast<int>(index), &device) != kSuccess)
      device = static_cast<Device>(index);
    return device;
  }
  [[nodiscard]] std::string explain(Return code) const {
    const char* text = api_.error_text != nullptr ? api_.error_text(code) : nullptr;
    return fmt::format("{} (CNDev {})", text != nullptr ? text : "error", code);
  }

  std::vector<std::string> names_;
  std::unique_ptr<SharedLibrary> library_;
  Api api_;
};

}  // namespace

std::unique_ptr<Source> make_cndev(std::shared_ptr<const FileSystem> files,
                                   std::shared_ptr<const Clock> clock, LibraryOptions options) {
  auto names = library_names_or(std::move(options.library), library_files("cndev"));
  return make_card_source({"cndev", "cambricon", "0xcabc"}, std::make_unique<Cndev>(std::move(names)),
                          std::move(files), std::move(clock));
}

}  // namespace tidewatt::sensors
