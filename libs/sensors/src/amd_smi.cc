#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "amd_energy.h"
#include "amd_smi_abi.h"
#include "card_library.h"
#include "shared_library.h"

namespace tidewatt::sensors {
namespace {

using namespace amd_smi;

constexpr std::uint32_t kMostHandles = 256;
constexpr std::uint32_t kUnset = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kUnsupported16 = 0xFFFF;

/// A version whose layout is known from its header. Others aren't opened: a wrong layout is a wrong figure.
struct Version {
  std::string name;
  bool wide;  ///< PowerInfo26
};

class AmdSmi final : public CardLibrary {
 public:
  explicit AmdSmi(std::vector<Version> versions) : versions_(std::move(versions)) {}

  Status start() override {
    if (!library_) TW_TRY_STATUS(open());
    if (const auto code = api_.init(kInitGpus); code != kSuccess)
      return fail(ErrorCode::unavailable, fmt::format("AMD SMI doesn't start: {}", explain(code)),
                  "is the amdgpu driver loaded, and /dev/kfd and /sys readable?");
    return {};
  }
  void stop() override {
    cards_.clear();
    api_.shut_down();
  }

  Result<unsigned> count() override {
    std::uint32_t sockets = kMostHandles;
    std::vector<Socket> socket_handles(kMostHandles);
    if (const auto code = api_.sockets(&sockets, socket_handles.data()); code != kSuccess)
      return fail(ErrorCode::unavailable, explain(code));
    cards_.clear();
    for (std::uint32_t s = 0; s < std::min(sockets, kMostHandles); ++s) {
      std::uint32_t processors = kMostHandles;
      std::vector<Processor> handles(kMostHandles);
      if (api_.processors(socket_handles[s], &processors, handles.data()) != kSuccess) continue;
      cards_.insert(cards_.end(), handles.begin(), handles.begin() + std::min(processors, kMostHandles));
    }
    return static_cast<unsigned>(cards_.size());
  }

  std::string bus_id(unsigned index) override {
    std::uint64_t bdf = std::numeric_limits<std::uint64_t>::max();
    if (api_.bdf == nullptr || api_.bdf(cards_.at(index), &bdf) != kSuccess || metering::is_blank(bdf))
      return {};
    return fmt::format("{:04x}:{:02x}:{:02x}.{}", domain_of(bdf), bus_of(bdf), device_of(bdf),
                       function_of(bdf));
  }

  void identify(unsigned index, Reading& reading) override {
    char text[256] = {};
    unsigned length = sizeof text;
    if (api_.uuid != nullptr && api_.uuid(cards_.at(index), &length, text) == kSuccess)
      reading.uuid = bounded(text);
  }

  Look measure(unsigned index, Reading& reading, std::optional<std::uint64_t>& microjoules) override {
    if (index >= cards_.size()) {
      reading.reason = "AMD SMI no longer lists this card";
      return Look::lost;
    }
    const auto card = cards_[index];
    const auto code = measure_power(card, reading);
    microjoules = energy(card);
    EngineUsage usage{};
    usage.gfx = kUnset;
    if (api_.activity != nullptr && api_.activity(card, &usage) == kSuccess) put_percent(reading, usage.gfx);
    if (code == kNotInit || code == kDriverNotLoaded) return Look::stale;
    return code == kNotFound ? Look::lost : Look::done;
  }

 private:
  Status open() {
    std::vector<std::string> names;
    names.reserve(versions_.size());
    for (const auto& version : versions_) names.push_back(version.name);
    TW_TRY(auto library, SharedLibrary::open("AMD SMI", names));
    library->need(api_.init, {"amdsmi_init"});
    library->need(api_.shut_down, {"amdsmi_shut_down"});
    library->need(api_.sockets, {"amdsmi_get_socket_handles"});
    library->need(api_.processors, {"amdsmi_get_processor_handles"});
    library->need(api_.power, {"amdsmi_get_power_info"});
    library->find(api_.energy, {"amdsmi_get_energy_count"});
    library->find(api_.bdf, {"amdsmi_get_gpu_device_bdf"});
    library->find(api_.uuid, {"amdsmi_get_gpu_device_uuid"});
    library->find(api_.activity, {"amdsmi_get_gpu_activity"});
    library->find(api_.status_text, {"amdsmi_status_code_to_string"});
    TW_TRY_STATUS(library->complete());
    for (const auto& version : versions_)
      if (version.name == library->name()) wide_ = version.wide;
    library_ = std::move(library);
    return {};
  }

  // The momentary power of newer cards, else the mean that older ones give. What a card lacks is all ones.
  Return measure_power(Processor card, Reading& reading) const {
    std::uint32_t current = kUnset;
    std::uint32_t average = kUnset;
    std::uint32_t limit = kUnset;
    Return code = kNotSupported;
    if (wide_) {
      PowerInfo26 info{};
      info.current_socket_power = info.average_socket_power = info.power_limit = kUnset;
      code = api_.power(card, &info);
      current = info.current_socket_power;
      average = info.average_socket_power;
      limit = info.power_limit;
    } else {
      PowerInfo24 info{};
      info.current_socket_power = info.average_socket_power = info.power_limit = kUnset;
      code = api_.power(card, &info);
      current = info.current_socket_power;
      average = info.average_socket_power;
      limit = info.power_limit;
    }
    if (code != kSuccess) {
      reading.reason = explain(code);
      return code;
    }
    constexpr double kWatts = 1;
    constexpr double kMicro = 1e-6;
    constexpr std::uint32_t kNoCardHasSuchALimit = 100'000;
    // Documented as watts; some releases write microwatts.
    put_limit(reading, limit, limit < kNoCardHasSuchALimit ? kWatts : kMicro);
    const bool has_current = current != kUnset && current != kUnsupported16 && current != 0;
    put_power(reading, has_current ? current : average, kWatts);
    return code;
  }

  [[nodiscard]] std::optional<std::uint64_t> energy(Processor card) const {
    std::uint64_t counter = std::numeric_limits<std::uint64_t>::max();
    float resolution = 0;
    std::uint64_t time = 0;
    if (api_.energy == nullptr || api_.energy(card, &counter, &resolution, &time) != kSuccess)
      return std::nullopt;
    return amd_microjoules(counter, resolution);
  }

  [[nodiscard]] std::string explain(Return code) const {
    const char* text = nullptr;
    if (api_.status_text != nullptr && api_.status_text(code, &text) == kSuccess && text != nullptr)
      return fmt::format("{} (AMD SMI {})", text, code);
    return fmt::format("error {} of AMD SMI", code);
  }

  std::vector<Version> versions_;
  std::unique_ptr<SharedLibrary> library_;
  Api api_;
  bool wide_ = false;
  std::vector<Processor> cards_;
};

}  // namespace

std::unique_ptr<Source> make_amd_smi(std::shared_ptr<const FileSystem> files,
                                     std::shared_ptr<const Clock> clock, LibraryOptions options) {
  // A file says its version by its name.
  std::vector<Version> versions;
  for (auto& name : library_names_or(std::move(options.library), library_files("amdsmi"))) {
    const bool newer = name.ends_with(".26");
    versions.push_back({std::move(name), newer});
  }
  return make_card_source({"amdsmi", "amd", "0x1002"}, std::make_unique<AmdSmi>(std::move(versions)),
                          std::move(files), std::move(clock));
}

}  // namespace tidewatt::sensors
