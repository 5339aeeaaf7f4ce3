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
  std::vector<std::string> files;       ///< of the library: what is tried, in this order
};

const std::vector<Library>& libraries() {
  static const std::vector<Library> kAll{
      {"nvml",
       make_nvml,
       {"/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg"},
       "0x10de",
       {"libnvidia-ml.so.1"}},
      {"amdsmi",
       make_amd_smi,
       {},
       "0x1002",
       {"libamd_smi.so.26", "/opt/rocm/lib/libamd_smi.so.26", "libamd_smi.so.24",
        "/opt/rocm/lib/libamd_smi.so.24"}},
      {"rocm-smi-lib",
       make_rocm_smi,
       {},
       "0x1002",
       {"librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5", "librocm_smi64.so.1",
        "librocm_smi64.so", "/opt/rocm/lib/librocm_smi64.so"}},
      {"level-zero", make_level_zero, {}, "0x8086", {"libze_loader.so.1"}},
      {"hygon-smi-lib",
       make_hygon_smi,
       {},
       "0x1d94",
       {"/opt/hyhal/lib/librocm_smi64.so.2", "/opt/hyhal/lib/librocm_smi64.so",
        "/opt/dtk/rocm_smi/lib/librocm_smi64.so", "/opt/dtk/.hyhal/rocm_smi/lib/librocm_smi64.so",
        "librocm_smi64.so.2"}},
      {"dcmi",
       make_dcmi,
       {"/dev/davinci_manager"},
       "0x19e5",
       {"libdcmi.so", "/usr/local/dcmi/libdcmi.so", "/usr/local/Ascend/driver/lib64/driver/libdcmi.so"}},
      {"cndev",
       make_cndev,
       {"/dev/cambricon_ctl"},
       "0xcabc",
       {"libcndev.so", "/usr/local/neuware/lib64/libcndev.so", "/usr/lib/libcndev.so"}},
      {"mxsml",
       make_mxsml,
       {"/dev/mxcd"},
       "0x9999",
       {"libmxsml.so", "/opt/mxdriver/lib/libmxsml.so", "/opt/maca/lib/libmxsml.so",
        "/opt/mxn100/lib/libmxsml.so"}},
      {"efml", make_efml, {"/dev/gcuctl"}, "0x1e36", {"libefml.so", "/usr/lib/libefml.so"}},
      {"mtml", make_mtml, {"/dev/mtgpu.0"}, "0x1ed5", {"libmtml.so.2", "libmtml.so.1", "libmtml.so"}},
      {"hlml",
       make_hlml,
       {"/sys/class/habanalabs"},
       "0x1da3",
       {"libhlml.so.1", "libhlml.so", "/usr/lib/habanalabs/libhlml.so"}},
      {"xpuml",
       make_xpuml,
       {"/dev/xpuctrl"},
       "0x1d22",
       {"libxpuml.so.1", "libxpuml.so", "/usr/local/xpu/lib64/libxpuml.so", "/usr/local/xpu/so/libxpuml.so"}},
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

std::vector<std::string> library_files(std::string_view name) {
  const auto* library = find(name);
  return library == nullptr ? std::vector<std::string>{} : library->files;
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
