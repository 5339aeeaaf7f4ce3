#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "card_library.h"
#include "dcmi_abi.h"
#include "shared_library.h"

namespace tidewatt::sensors {
namespace {

using namespace dcmi;

constexpr double kWattsPerTenth = 0.1;
constexpr int kMostDevices = 16;
/// What the library prints as "no value": its default, and the largest number.
constexpr int kNoValue = std::numeric_limits<int>::max();

/// One NPU; a card carries one, two or four.
struct Place {
  int card = 0;
  int device = 0;
};

class Dcmi final : public CardLibrary {
 public:
  explicit Dcmi(std::vector<std::string> names) : names_(std::move(names)) {}

  Status start() override {
    if (!library_) {
      TW_TRY(auto library, SharedLibrary::open("DCMI", names_));
      library->need(api_.init, {"dcmi_init"});
      library->need(api_.cards, {"dcmi_get_card_list"});
      library->need(api_.devices, {"dcmi_get_device_num_in_card"});
      library->need(api_.power, {"dcmi_get_device_power_info"});
      library->find(api_.type, {"dcmi_get_device_type"});
      library->find(api_.chip, {"dcmi_get_device_chip_info"});
      library->find(api_.pcie, {"dcmi_get_device_pcie_info_v2"});
      library->find(api_.die, {"dcmi_get_device_die_v2"});
      library->find(api_.temperature, {"dcmi_get_device_temperature"});
      library->find(api_.usage, {"dcmi_get_device_utilization_rate"});
      TW_TRY_STATUS(library->complete());
      library_ = std::move(library);
    }
    if (const auto code = api_.init(); code != kSuccess)
      return fail(ErrorCode::unavailable, fmt::format("DCMI doesn't start: {}", explain(code)),
                  "run as root or in the group HwHiAiUser; in a container mount /dev/davinci_manager, "
                  "/dev/devmm_svm and /dev/hisi_hdc");
    return {};
  }
  void stop() override {}  // the interface has no end

  Result<unsigned> count() override {
    std::array<int, kMostCards> list{};
    int count = -1;
    if (const auto code = api_.cards(&count, list.data(), kMostCards); code != kSuccess || count < 0)
      return fail(ErrorCode::unavailable, explain(code));
    std::vector<Place> places;
    for (int c = 0; c < std::min(count, kMostCards); ++c) {
      const int card = list.at(static_cast<std::size_t>(c));
      int devices = 0;
      if (api_.devices(card, &devices) != kSuccess) continue;
      for (int device = 0; device < std::min(devices, kMostDevices); ++device) {
        int unit = kNpu;  // a card's microcontroller is counted among its devices: its power is the board's
        if (api_.type != nullptr && api_.type(card, device, &unit) == kSuccess && unit != kNpu) continue;
        places.push_back({card, device});
      }
    }
    places_ = std::move(places);
    return static_cast<unsigned>(places_.size());
  }

  std::string bus_id(unsigned index) override {
    const auto at = places_.at(index);
    PcieInfo info{};
    if (api_.pcie == nullptr || api_.pcie(at.card, at.device, &info) != kSuccess) return {};
    return fmt::format("{:04x}:{:02x}:{:02x}.{}", info.domain, info.bus, info.device, info.function);
  }

  void identify(unsigned index, Reading& reading) override {
    const auto at = places_.at(index);
    DieId die{};
    if (api_.die != nullptr && api_.die(at.card, at.device, kVdie, &die) == kSuccess &&
        std::any_of(std::begin(die.words), std::end(die.words), [](unsigned word) { return word != 0; }))
      reading.uuid = fmt::format("{:08X}-{:08X}-{:08X}-{:08X}-{:08X}", die.words[0], die.words[1],
                                 die.words[2], die.words[3], die.words[4]);
    ChipInfo chip{};
    if (api_.chip == nullptr || api_.chip(at.card, at.device, &chip) != kSuccess) return;
    for (const auto c : chip.name) {
      if (c == 0) break;
      reading.model += static_cast<char>(c);
    }
  }

  Look measure(unsigned index, Reading& reading, std::optional<std::uint64_t>&) override {
    if (index >= places_.size()) {
      reading.reason = "DCMI no longer lists this device";
      return Look::lost;
    }
    const auto at = places_[index];
    int tenths = kNoValue;
    const auto code = api_.power(at.card, at.device, &tenths);
    if (code != kSuccess)
      reading.reason = explain(code);
    else if (tenths == kNoValue || tenths < 0)
      reading.reason = at.device > 0 ? "no value of its own: counted on the card's first die"
                                     : fmt::format("sentinel: {}", tenths);
    else
      put_power(reading, static_cast<std::uint64_t>(tenths), kWattsPerTenth);
    unsigned percent = std::numeric_limits<unsigned>::max();
    if (api_.usage != nullptr && api_.usage(at.card, at.device, kUsageAicore, &percent) == kSuccess)
      put_percent(reading, percent);
    int celsius = std::numeric_limits<int>::min();
    if (api_.temperature != nullptr && api_.temperature(at.card, at.device, &celsius) == kSuccess)
      put_temperature(reading, celsius);
    return code == kDeviceNotExist ? Look::lost : Look::done;
  }

 private:
  static std::string explain(Return code) {
    switch (code) {
      case kDeviceNotExist:
        return "the device doesn't exist (DCMI -8008)";
      case kNotReady:
        return "not ready (DCMI -8012)";
      case kNotSupported:
        return "not supported (DCMI -8255)";
      default:
        return fmt::format("error {} of DCMI", code);
    }
  }

  std::vector<std::string> names_;
  std::unique_ptr<SharedLibrary> library_;
  Api api_;
  std::vector<Place> places_;
};

}  // namespace

std::unique_ptr<Source> make_dcmi(std::shared_ptr<const FileSystem> files, std::shared_ptr<const Clock> clock,
                                  LibraryOptions options) {
  auto names = library_names_or(std::move(options.library), library_files("dcmi"));
  return make_card_source({"dcmi", "huawei", "0x19e5"}, std::make_unique<Dcmi>(std::move(names)),
                          std::move(files), std::move(clock));
}

}  // namespace tidewatt::sensors
