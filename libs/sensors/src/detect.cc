#include "tidewatt/sensors/detect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "pci.h"
#include "tidewatt/metering/node_total.h"
#include "tidewatt/metering/reason.h"
#include "tidewatt/sensors/libraries.h"
#include "tidewatt/sensors/node_meters.h"
#include "tidewatt/sensors/sources.h"
#include "tidewatt/units/text.h"

namespace tidewatt::sensors {
namespace {

constexpr std::array kLibraryFolders{"/usr/lib/x86_64-linux-gnu",
                                     "/usr/lib/aarch64-linux-gnu",
                                     "/usr/lib64",
                                     "/usr/lib",
                                     "/usr/local/lib",
                                     "/usr/local/lib64",
                                     "/usr/local/nvidia/lib64",
                                     "/usr/lib/wsl/lib"};
constexpr Milliseconds kBetweenCounters{200};
constexpr const char* kDriverVersion = "/proc/driver/nvidia/version";

std::string described(const Reading& reading) {
  const auto what = reading.model.empty() ? std::string{} : fmt::format(" ({})", reading.model);
  // A baseline is how every counter begins, not a fault.
  if (reading.power)
    return fmt::format("{} {}{}: {:.1f} W", reading.domain, reading.index, what, reading.power->value());
  if (reading.reason == "counter_baseline" || reading.reason.empty())
    return fmt::format("{} {}{}", reading.domain, reading.index, what);
  return fmt::format("{} {}{}: unknown: {}", reading.domain, reading.index, what,
                     metering::reason_in_words(reading.reason));
}

bool is_asleep(const Reading& reading) { return reading.reason.starts_with("suspended"); }

bool gives(const Reading& reading) {
  return reading.power || reading.energy_total || reading.reason == "counter_baseline";
}

/// What isn't installed is absent; all else is there and gives nothing.
void take_error(const Error& error, Detection& out) {
  out.summary = error.to_string();
  out.forbidden = error.code == ErrorCode::permission_denied;
  out.broken = !out.forbidden && error.code != ErrorCode::not_found;
  out.todo = error.hint;
}

/// "no RAPL: /sys/..." and "nvidia-smi: no such tool" behind the source's own name say it twice.
void drop_own_name(Detection& out) {
  std::string small;
  for (const char c : out.summary) small += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const auto& prefix : {fmt::format("no {}: ", out.source), fmt::format("{}: ", out.source)})
    if (small.starts_with(prefix)) {
      out.summary.erase(0, prefix.size());
      return;
    }
}

/// The first reason of a device that can't be read; empty when all can.
std::string why_unknown(const std::vector<Reading>& readings) {
  for (const auto& reading : readings)
    if (!gives(reading) && !is_asleep(reading)) return metering::reason_in_words(reading.reason);
  return {};
}

Detection from_readings(const std::string& source, const Result<std::vector<Reading>>& readings) {
  Detection out;
  out.source = source;
  if (!readings) {
    take_error(readings.error(), out);
    drop_own_name(out);
    return out;
  }
  std::map<std::string, int> counts;
  for (const auto& reading : *readings) {
    out.usable |= gives(reading);
    if (!gives(reading) && !is_asleep(reading) && !reading.reason.empty()) ++out.unknown;
    ++counts[reading.domain];
    out.devices.push_back(described(reading));
  }
  std::vector<std::string> parts;
  for (const auto& [domain, count] : counts) parts.push_back(fmt::format("{} x {}", count, domain));
  out.summary = fmt::format("{}", fmt::join(parts, ", "));
  if (out.usable && out.unknown > 0) {
    const auto reason = why_unknown(*readings);
    out.summary += fmt::format("; {} of {} can't be read, that part is unknown: {}", out.unknown,
                               readings->size(), reason);
    out.forbidden = reason.find("ermission denied") != std::string::npos;
  }
  if (out.usable || readings->empty()) return out;
  const auto why = metering::reason_in_words(readings->front().reason);
  out.summary += fmt::format("; none can be read: {}", why);
  out.forbidden = why.find("ermission denied") != std::string::npos;
  return out;
}

/// The first of a library's files that is there; empty when none is at its usual places.
std::string file_of(const std::string& library, const FileSystem& files) {
  for (const auto& name : library_files(library)) {
    if (name.starts_with('/')) {
      if (files.exists(name)) return name;
      continue;
    }
    for (const char* folder : kLibraryFolders)
      if (auto path = fmt::format("{}/{}", folder, name); files.exists(path)) return path;
  }
  return {};
}

/// Which file was looked for and which is there, then what it says when it is opened.
void look_through(const std::string& library, const FileSystem& files, const LibraryLook& open,
                  Detection& out) {
  const auto file = file_of(library, files);
  const auto names = fmt::format("{}", fmt::join(library_files(library), ", "));
  const auto place = file.empty() ? fmt::format("{} not at the usual places", names) : file + " found";
  if (!open) {
    out.summary = place + ", not opened: the agent does that";
    return;
  }
  const auto look = open(library);
  if (!look) {
    take_error(look.error(), out);
    out.summary = fmt::format("{}; {}", place, out.summary);
    return;
  }
  auto seen = from_readings(library, look);
  // What the loader found by LD_LIBRARY_PATH or its cache is opened all the same.
  out.summary = fmt::format("{} opened; {}", file.empty() ? names : file,
                            look->empty() ? "it counts no card" : seen.summary);
  out.usable = seen.usable;
  out.unknown = seen.unknown;
  out.forbidden = seen.forbidden;
  out.devices = std::move(seen.devices);
}

Detection detect_nvml(const FileSystem& files, const LibraryLook& open) {
  Detection out;
  out.source = "nvml";
  const auto file = file_of("nvml", files);
  const auto driver = files.read_text(kDriverVersion, 4096);
  const auto gpus = nvidia_gpus(files);
  for (const auto& gpu : gpus)
    out.devices.push_back(fmt::format("gpu {}{}", gpu.bus_id, gpu.suspended ? ", suspended" : ""));
  if (open && (!file.empty() || driver || !gpus.empty())) {
    look_through("nvml", files, open, out);
    if (out.usable || !driver)
      out.summary += driver
                         ? fmt::format("; {}", trim(std::string_view{*driver}.substr(0, driver->find('\n'))))
                         : fmt::format("; the driver isn't loaded: {}", driver.error().message);
    return out;
  }
  if (file.empty()) {
    out.summary =
        gpus.empty() ? "no NVIDIA card on the PCI bus, and libnvidia-ml.so.1 isn't at its usual places"
                     : fmt::format(
                           "{} NVIDIA cards on the PCI bus, but libnvidia-ml.so.1 isn't at its usual places: "
                           "install the driver, or mount the library into the container",
                           gpus.size());
    return out;
  }
  if (!driver) {
    out.summary = fmt::format("{} is there, but the driver isn't loaded: {}", file, driver.error().message);
    return out;
  }
  out.usable = true;
  out.summary = fmt::format("{}; {}", file, trim(std::string_view{*driver}.substr(0, driver->find('\n'))));
  return out;
}

/// Whether `auto` comes to run this tool: by the cards of the library that it stands in for.
bool auto_reads(const std::string& tool, const FileSystem& files) {
  static const std::map<std::string, std::string> kLibraryOf{
      {"amd-smi", "amdsmi"},         {"rocm-smi", "amdsmi"},
      {"xpu-smi", "level-zero"},     {"hy-smi", "hygon-smi-lib"},
      {"npu-smi", "dcmi"},           {"cnmon", "cndev"},
      {"mx-smi", "mxsml"},           {"efsmi", "efml"},
      {"mthreads-gmi", "mtml"},      {"hl-smi", "hlml"},
      {"kunlunxin-xpu-smi", "xpuml"}};
  const auto library = kLibraryOf.find(tool);
  return library == kLibraryOf.end() || has_cards_for(library->second, files);
}

void detect_other_vendors(const FileSystem& files, ProcessRunner& processes, const Clock& clock,
                          const LibraryLook& open, std::vector<Detection>& found) {
  for (const auto& name : library_names()) {
    if (name == "nvml" || !has_cards_for(name, files)) continue;
    Detection detection;
    detection.source = name;
    look_through(name, files, open, detection);
    found.push_back(std::move(detection));
  }
  for (const auto& name : tool_names()) {
    if (name == "nvidia-smi" || !has_tool(name, files)) continue;
    auto detection = from_readings(name, make_tool(name, files, processes, clock)->read());
    if (detection.usable && !auto_reads(name, files)) {
      detection.todo = fmt::format(
          "auto doesn't read it, for none of its cards is on the PCI bus: set sources: [auto, tool:{}]",
          name);
      detection.summary += fmt::format("; not by auto, only as tool:{}", name);
    }
    found.push_back(std::move(detection));
  }
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

std::vector<Detection> detect(const FileSystem& files, ProcessRunner& processes, const Clock& clock,
                              const LibraryLook& open, const Pause& pause) {
  std::vector<Detection> found;
  found.push_back(detect_nvml(files, open));
  found.push_back(from_readings("nvidia-smi", make_tool("nvidia-smi", files, processes, clock)->read()));
  detect_other_vendors(files, processes, clock, open, found);
  const auto rapl = make_rapl(files, clock);
  auto zones = rapl->read();
  if (pause && zones && !zones->empty()) {
    pause(kBetweenCounters);
    // A counter that stood still for so short a time is still a counter.
    if (const auto later = rapl->read(); later && later->size() == zones->size())
      for (std::size_t i = 0; i < zones->size(); ++i)
        if ((*later)[i].power) (*zones)[i] = (*later)[i];
  }
  found.push_back(from_readings("rapl", zones));
  found.back().notes = rapl->notes();
  found.push_back(from_readings("hwmon", make_hwmon(files, clock)->read()));
  found.push_back(from_readings("ipmi", make_ipmi(files, processes, clock, {})->read()));
  return found;
}

std::string hypervisor(const FileSystem& files) {
  constexpr std::array kFirms{"QEMU",        "KVM",     "VMware",        "VirtualBox",      "Xen",
                              "Bochs",       "Google",  "Amazon EC2",    "OpenStack",       "Parallels",
                              "oVirt",       "Nutanix", "Alibaba Cloud", "Virtual Machine", "Tencent Cloud",
                              "Huawei Cloud"};
  const auto info = files.read_text("/proc/cpuinfo");
  const auto flags = info ? info->find("\nflags") : std::string::npos;
  const bool flagged =
      flags != std::string::npos &&
      info->substr(flags, info->find('\n', flags + 1) - flags).find(" hypervisor") != std::string::npos;
  for (const char* file : {"/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name"})
    if (const auto text = files.read_text(file, 4096))
      for (const char* firm : kFirms)
        // Some of these firms make real machines as well.
        if (text->find(firm) != std::string::npos && (flagged || flags == std::string::npos))
          return std::string{trim(*text)};
  if (const auto type = files.read_text("/sys/hypervisor/type", 4096)) return std::string{trim(*type)};
  return flagged ? "a hypervisor" : "";
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
  for (const auto& detection : detections)
    if (detection.usable && detection.unknown > 0)
      out += fmt::format(" {} of {}'s devices can't be read: that part is unknown and in no total.",
                         detection.unknown, detection.source);
  if (!beside.empty()) out += fmt::format(" Shown beside it, never added: {}.", fmt::join(beside, "; "));
  return out;
}

}  // namespace tidewatt::sensors
