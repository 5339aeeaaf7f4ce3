#include "tidewatt/sensors/libraries.h"

#include <algorithm>
#include <array>

#include "library_sources.h"
#include "pci.h"

namespace tidewatt::sensors {
namespace {

struct Library {
  std::string_view name;
  MakeLibrary* make;
  std::vector<std::string_view> signs;  ///< of the driver, any of them
  std::string_view pci_vendor;          ///< as sysfs prints it
};

const std::vector<Library>& libraries() {
  static const std::vector<Library> kAll{
      {"nvml", make_nvml, {"/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg"}, "0x10de"},
      {"amdsmi", make_amd_smi, {}, "0x1002"},
      {"rocm-smi-lib", make_rocm_smi, {}, "0x1002"},
      {"level-zero", make_level_zero, {}, "0x8086"},
      {"hygon-smi-lib", make_hygon_smi, {}, "0x1d94"},
      {"dcmi", make_dcmi, {"/dev/davinci_manager"}, "0x19e5"},
      {"cndev", make_cndev, {"/dev/cambricon_ctl"}, "0xcabc"},
      {"mxsml", make_mxsml, {"/dev/mxcd"}, "0x9999"},
      {"efml", make_efml, {"/dev/gcuctl"}, "0x1e36"},
      {"mtml", make_mtml, {"/dev/mtgpu.0"}, "0x1ed5"},
      {"hlml", make_hlml, {"/sys/class/habanalabs"}, "0x1da3"},
      {"xpuml", make_xpuml, {"/dev/xpuctrl"}, "0x1d22"},
  };
  return kAll;
}

const Library* find(std::string_view name) {
  const auto& all = libraries();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Library& l) { return l.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string> library_names_or(std::string named, std::vector<std::string> usual) {
  if (named.empty()) return usual;
  return {std::move(named)};
}

const std::vector<std::string>& library_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    names.reserve(libraries().size());
    for (const auto& library : libraries()) names.emplace_back(library.name);
    return names;
  }();
  return kNames;
}

std::unique_ptr<Source> make_library(std::string_view name, std::shared_ptr<const FileSystem> files,
                                     std::shared_ptr<const Clock> clock, LibraryOptions options) {
  const auto* library = find(name);
  if (library == nullptr) return nullptr;
  return library->make(std::move(files), std::move(clock), std::move(options));
}

bool has_cards_for(std::string_view name, const FileSystem& files) {
  const auto* library = find(name);
  if (library == nullptr) return false;
  const bool driver = std::any_of(library->signs.begin(), library->signs.end(),
                                  [&](std::string_view sign) { return files.exists(std::string{sign}); });
  return driver || !cards_on_bus(files, library->pci_vendor).empty();
}

}  // namespace tidewatt::sensors
