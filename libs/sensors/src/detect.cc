#include "tidewatt/sensors/detect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "pci.h"
#include "tidewatt/metering/node_total.h"
#include "tidewatt/sensors/libraries.h"
#include "tidewatt/sensors/node_meters.h"
#include "tidewatt/sensors/sources.h"
#include "tidewatt/units/text.h"

namespace tidewatt::sensors {
namespace {

constexpr std::array kNvmlPlaces{"/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
                                 "/usr/lib/aarch64-linux-gnu/libnvidia-ml.so.1",
                                 "/usr/lib64/libnvidia-ml.so.1",
                                 "/usr/lib/libnvidia-ml.so.1",
                                 "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
                                 "/usr/lib/wsl/lib/libnvidia-ml.so.1"};
constexpr const char* kDriverVersion = "/proc/driver/nvidia/version";

std::string described(const Reading& reading) {
  const auto what = reading.model.empty() ? std::string{} : fmt::format(" ({})", reading.model);
  // A baseline is how every counter begins, not a fault.
  if (reading.power || reading.reason == "counter_baseline" || reading.reason.empty())
    return fmt::format("{} {}{}", reading.domain, reading.index, what);
  return fmt::format("{} {}{}: unknown: {}", reading.domain, reading.index, what, reading.reason);
}

bool gives(const Reading& reading) {
  return reading.power || reading.energy_total || reading.reason == "counter_baseline";
}

Detection from_readings(const std::string& source, const Result<std::vector<Reading>>& readings) {
  Detection out;
  out.source = source;
  if (!readings) {
    out.summary = readings.error().to_string();
    return out;
  }
  std::map<std::string, int> counts;
  for (const auto& reading : *readings) {
    out.usable |= gives(reading);
    ++counts[reading.domain];
    out.devices.push_back(described(reading));
  }
  std::vector<std::string> parts;
  for (const auto& [domain, count] : counts) parts.push_back(fmt::format("{} x {}", count, domain));
  out.summary = fmt::format("{}", fmt::join(parts, ", "));
  if (out.usable || readings->empty()) return out;
  out.summary += fmt::format("; none can be read: {}", readings->front().reason);
  return out;
}

Detection detect_nvml(const FileSystem& files) {
  Detection out;
  out.source = "nvml";
  const auto place =
      std::find_if(kNvmlPlaces.begin(), kNvmlPlaces.end(), [&](const char* p) { return files.exists(p); });
  const auto driver = files.read_text(kDriverVersion, 4096);
  const auto gpus = nvidia_gpus(files);
  for (const auto& gpu : gpus)
    out.devices.push_back(fmt::format("gpu {}{}", gpu.bus_id, gpu.suspended ? ", suspended" : ""));
  if (place == kNvmlPlaces.end()) {
    out.summary =
        gpus.empty() ? "no NVIDIA card on the PCI bus and no libnvidia-ml.so.1"
                     : fmt::format(
                           "{} NVIDIA cards on the PCI bus, but libnvidia-ml.so.1 isn't at its usual places: "
                           "install the driver, or mount the library into the container",
                           gpus.size());
    return out;
  }
  if (!driver) {
    out.summary = fmt::format("{} is there, but the driver isn't loaded: {}", *place, driver.error().message);
    return out;
  }
  out.usable = true;
  out.summary = fmt::format("{}; {}", *place, trim(std::string_view{*driver}.substr(0, driver->find('\n'))));
  return out;
}

// Opening a library may wake cards and runs foreign code: that they are there must do.
void detect_other_vendors(const FileSystem& files, ProcessRunner& processes, const Clock& clock,
                          std::vector<Detection>& found) {
  for (const auto& name : library_names()) {
    if (name == "nvml" || !has_cards_for(name, files)) continue;
    Detection detection;
    detection.source = name;
    detection.summary = "its cards or driver are there; the library is opened by the agent only";
    found.push_back(std::move(detection));
  }
  for (const auto& name : tool_names())
    if (name != "nvidia-smi" && has_tool(name, files))
      found.push_back(from_readings(name, make_tool(name, files, processes, clock)->read()));
}

// Domains with a reading, and the source each comes from.
std::map<std::string, std::string> domains_of(const std::vector<Detection>& detections) {
  std::map<std::string, std::string> domains;
  for (const auto& detection : detections) {
    if (!detection.usable) continue;
    if (detection.source == "nvml") domains.try_emplace(std::string{kDomainGpu}, detection.source);
    for (const auto& device : detection.devices)
      if (device.find(": unknown: ") == std::string::npos)
        domains.try_emplace(device.substr(0, device.find(' ')), detection.source);
  }
  return domains;
}

// Why a domain that can be read is in no total.
std::string_view why_beside(std::string_view domain) {
  if (domain == metering::kDomainPsys) return "contains the packages";
  if (domain == metering::kDomainPdu || domain == kDomainPlatform) return "contains everything";
  return "may mirror other sources";
}

}  // namespace

std::vector<Detection> detect(const FileSystem& files, ProcessRunner& processes, const Clock& clock) {
  std::vector<Detection> found;
  found.push_back(detect_nvml(files));
  found.push_back(from_readings("nvidia-smi", make_tool("nvidia-smi", files, processes, clock)->read()));
  detect_other_vendors(files, processes, clock, found);
  found.push_back(from_readings("rapl", make_rapl(files, clock)->read()));
  found.push_back(from_readings("hwmon", make_hwmon(files, clock)->read()));
  found.push_back(from_readings("ipmi", make_ipmi(files, processes, clock, {})->read()));
  return found;
}

std::string total_in_words(const std::vector<Detection>& detections) {
  const auto sources = domains_of(detections);
  std::vector<std::string> domains;
  for (const auto& [domain, source] : sources) domains.push_back(domain);
  const auto total = metering::node_total(domains, metering::Wanted::attributable);
  const auto named = [&](const std::string& domain) {
    return fmt::format("{} ({})", domain, sources.at(domain));
  };
  std::vector<std::string> parts;
  for (const auto& part : total.parts)
    parts.push_back(named(part) +
                    (part == kDomainDram && total.parts.size() > 1 ? ", which no package contains" : ""));
  std::vector<std::string> beside;
  for (const auto& domain : domains)
    if (std::find(total.parts.begin(), total.parts.end(), domain) == total.parts.end())
      beside.push_back(fmt::format("{} {}", named(domain), why_beside(domain)));
  std::string out = "The node's total is unknown: no component can be read.";
  if (total.known && total.layer == metering::Layer::components)
    out = fmt::format("The node's total is {}.", fmt::join(parts, " + "));
  else if (total.known)
    out = fmt::format("The node's total is its whole-machine meter, {}: no component can be read.", parts[0]);
  if (!beside.empty()) out += fmt::format(" Shown beside it, never added: {}.", fmt::join(beside, "; "));
  return out;
}

}  // namespace tidewatt::sensors
