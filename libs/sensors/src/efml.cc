#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "card_library.h"
#include "efml_abi.h"
#include "shared_library.h"

namespace tidewatt::sensors {
namespace {

using namespace efml;

class Efml final : public CardLibrary {
 public:
  explicit Efml(std::vector<std::string> names) : names_(std::move(names)) {}

  Status start() override {
    if (!library_) {
      TW_TRY(auto library, SharedLibrary::open("EFML", names_));
      library->need(api_.init, {"EfmlInit"});
      library->need(api_.shutdown, {"EfmlShutdown"});
      library->need(api_.count, {"EfmlGetDevCount"});
      library->need(api_.power, {"EfmlGetDevPwr"});
      library->find(api_.info, {"EfmlGetDevInfo"});
      library->find(api_.uuid, {"EfmlGetDevUuid"});
      library->find(api_.usage, {"EfmlGetDevDtuUsage"});
      library->find(api_.error_text, {"EfmlErrorString"});
      TW_TRY_STATUS(library->complete());
      library_ = std::move(library);
    }
    if (const auto code = api_.init(false); code != kSuccess)
      return fail(ErrorCode::unavailable, fmt::format("EFML doesn't start: {}", explain(code)),
                  "see whether efsmi works");
    return {};
  }
  void stop() override { api_.shutdown(); }

  Result<unsigned> count() override {
    std::uint32_t count = std::numeric_limits<std::uint32_t>::max();
    if (const auto code = api_.count(&count); code != kSuccess)
      return fail(ErrorCode::unavailable, explain(code));
    return count;
  }

  std::string bus_id(unsigned index) override {
    DeviceInfo info{};
    if (api_.info == nullptr || api_.info(index, &info) != kSuccess) return {};
    return fmt::format("{:04x}:{:02x}:{:02x}.{}", info.domain, info.bus, info.device, info.function);
  }

  void identify(unsigned index, Reading& reading) override {
    char text[2 * kTextSize] = {};
    if (api_.uuid != nullptr && api_.uuid(index, static_cast<char*>(text)) == kSuccess)
      reading.uuid = bounded(text);
    DeviceInfo info{};
    if (api_.info != nullptr && api_.info(index, &info) == kSuccess) reading.model = bounded(info.name);
  }

  Look measure(unsigned index, Reading& reading, std::optional<std::uint64_t>&) override {
    PowerInfo info{std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::quiet_NaN()};
    const auto code = api_.power(index, &info);
    if (code != kSuccess) {
      reading.reason = explain(code);
      if (code == kUninitialized || code == kDriverNotLoaded) return Look::stale;
      return code == kNoDevice ? Look::lost : Look::done;
    }
    reading.power_limit = metering::judge_limit(Watts{static_cast<double>(info.capability)});
    auto judged = metering::judge_power(Watts{static_cast<double>(info.consumption)}, reading.power_limit);
    reading.power = judged.power;
    reading.reason = std::move(judged.reason);
    float percent = -1;
    if (api_.usage != nullptr && api_.usage(index, &percent) == kSuccess && percent >= 0 && percent <= 100)
      put_percent(reading, static_cast<std::uint64_t>(std::lround(percent)));
    return Look::done;
  }

 private:
  [[nodiscard]] std::string explain(Return code) const {
    char text[2 * kTextSize] = {};
    if (api_.error_text != nullptr && api_.error_text(code, static_cast<char*>(text)) == kSuccess &&
        text[0] != '\0')
      return fmt::format("{} (EFML {})", bounded(text), code);
    return fmt::format("error {} of EFML", code);
  }

  std::vector<std::string> names_;
  std::unique_ptr<SharedLibrary> library_;
  Api api_;
};

}  // namespace

std::unique_ptr<Source> make_efml(std::shared_ptr<const FileSystem> files, std::shared_ptr<const Clock> clock,
                                  LibraryOptions options) {
  auto names = library_names_or(std::move(options.library), library_files("efml"));
  return make_card_source({"efml", "enflame", "0x1e36"}, std::make_unique<Efml>(std::move(names)),
                          std::move(files), std::move(clock));
}

}  // namespace tidewatt::sensors
