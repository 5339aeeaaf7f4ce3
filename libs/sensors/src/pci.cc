#include "pci.h"

#include <fmt/format.h>

#include <algorithm>

#include "tidewatt/units/text.h"

namespace tidewatt::sensors {
namespace {

constexpr std::string_view kPciRoot = "/sys/bus/pci/devices";
constexpr std::size_t kMostPciBytes = 256;
constexpr std::string_view kHuawei = "0x19e5";  // its display controllers are the boards' consoles

std::string text(const FileSystem& files, const std::string& path) {
  const auto content = files.read_text(path, kMostPciBytes);
  return content ? std::string{trim(*content)} : std::string{};
}

}  // namespace

bool is_suspended(const FileSystem& files, const std::string& bus_id) {
  return text(files, fmt::format("{}/{}/power/runtime_status", kPciRoot, bus_id)) == "suspended";
}

std::vector<PciGpu> nvidia_gpus(const FileSystem& files) { return cards_on_bus(files, "0x10de"); }

std::vector<PciGpu> cards_on_bus(const FileSystem& files, std::string_view vendor) {
  std::vector<PciGpu> gpus;
  const auto devices = files.list(std::string{kPciRoot});
  if (!devices) return gpus;
  for (const auto& device : *devices) {
    const auto folder = fmt::format("{}/{}", kPciRoot, device);
    if (text(files, folder + "/vendor") != vendor) continue;
    const auto kind = text(files, folder + "/class");
    const bool display = kind.starts_with("0x03") && vendor != kHuawei;
    if (!display && !kind.starts_with("0x12")) continue;
    gpus.push_back({device, is_suspended(files, device)});
  }
  return gpus;
}

std::string sysfs_bus_id(std::string_view printed) {
  constexpr std::size_t kDomainDigits = 4;
  std::string id{trim(printed)};
  std::transform(id.begin(), id.end(), id.begin(),
                 [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; });
  // Eight domain digits in the library's spelling, four in sysfs unless the domain needs more.
  while (id.find(':') > kDomainDigits && id.find(':') != std::string::npos && id.front() == '0')
    id.erase(0, 1);
  return id;
}

}  // namespace tidewatt::sensors
