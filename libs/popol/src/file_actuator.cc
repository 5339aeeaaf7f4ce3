#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>

#include "tidewatt/popol/actuator.h"
#include "tidewatt/units/text.h"

namespace tidewatt::popol {
namespace {

constexpr double kCpuPeriod = 100'000;  // microseconds, as the kernel's default

struct Place {
  std::string file, least_file, most_file;  // bounds: empty = none
  double factor = 1;                        // of the file's number to the value
};

class FileActuator final : public Actuator {
 public:
  FileActuator(std::shared_ptr<FileSystem> files, FileKind kind, Place place)
      : files_(std::move(files)), kind_(kind), place_(std::move(place)) {}

  [[nodiscard]] Result<double> read() const override {
    TW_TRY(const auto text, files_->read_text(place_.file, 4096));
    auto first = trim(text);
    first = first.substr(0, first.find(' '));
    const auto number = parse_double(first);
    if (!number)
      return fail(ErrorCode::corrupt, fmt::format("{} says \"{}\"", place_.file, first.substr(0, 40)),
                  "set a number once, so that there is something to go back to");
    return *number / place_.factor;
  }

  [[nodiscard]] Result<std::string> dry_run(double value) const override {
    const double raw = std::round(value * place_.factor);
    if (!std::isfinite(raw) || raw < (kind_ == FileKind::cgroup_freeze ? 0 : 1) || raw > 1e15 ||
        (kind_ == FileKind::cgroup_freeze && raw > 1))
      return fail(ErrorCode::invalid_input, fmt::format("{} can't be {}", place_.file, format_double(value)),
                  "see docs/operate/continuum.md");
    if (!files_->exists(place_.file))
      return fail(ErrorCode::not_found, place_.file + " is not there", "this machine has no such knob");
    for (const auto& [file, low] : {std::pair{place_.least_file, true}, {place_.most_file, false}}) {
      if (file.empty()) continue;
      const auto text = files_->read_text(file, 4096);
      const auto bound = text ? parse_double(trim(*text)) : std::nullopt;
      if (bound && *bound > 0 && (low ? raw < *bound : raw > *bound))
        return fail(ErrorCode::invalid_input,
                    fmt::format("{} is beyond {} of {}", format_double(value),
                                format_double(*bound / place_.factor), file),
                    "choose levels within");
    }
    if (::access(place_.file.c_str(), W_OK) != 0)
      return fail(ErrorCode::permission_denied, place_.file + " may not be written",
                  "run as root, or delegate the cgroup");
    return fmt::format("write {} to {}", content(raw), place_.file);
  }

  Status apply(double value) override {
    TW_TRY(const auto unused, dry_run(value));
    (void)unused;
    const auto text = content(std::round(value * place_.factor));
    const int file = ::open(place_.file.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_TRUNC);
    if (file < 0) return fail(ErrorCode::io, fmt::format("{}: {}", place_.file, std::strerror(errno)));
    const auto written = ::write(file, text.data(), text.size());
    const int failure = errno;
    ::close(file);
    if (written != static_cast<ssize_t>(text.size()))
      return fail(ErrorCode::io, fmt::format("{}: {}", place_.file, std::strerror(failure)));
    return {};
  }

 private:
  [[nodiscard]] std::string content(double raw) const {
    return kind_ == FileKind::cgroup_cpus ? fmt::format("{:.0f} {:.0f}", raw, kCpuPeriod)
                                          : fmt::format("{:.0f}", raw);
  }
  std::shared_ptr<FileSystem> files_;
  FileKind kind_;
  Place place_;
};

bool leaves_its_folder(const std::string& target) {
  return target.empty() || target.front() == '/' || holds_control_characters(target) ||
         ("/" + target + "/").find("/../") != std::string::npos;
}

}  // namespace

std::optional<FileKind> file_kind(std::string_view name) {
  if (name == "rapl_power_w") return FileKind::rapl_power_w;
  if (name == "cpu_frequency_mhz") return FileKind::cpu_frequency_mhz;
  if (name == "cgroup_cpus") return FileKind::cgroup_cpus;
  if (name == "cgroup_memory_mib") return FileKind::cgroup_memory_mib;
  if (name == "cgroup_freeze") return FileKind::cgroup_freeze;
  return std::nullopt;
}

Result<std::unique_ptr<Actuator>> make_file_actuator(std::shared_ptr<FileSystem> files, std::string root,
                                                     FileKind kind, const std::string& target) {
  if (leaves_its_folder(target))
    return fail(ErrorCode::invalid_input, fmt::format("the target \"{}\" leaves its folder", target),
                "name it below its folder, without ..");
  constexpr double kMicro = 1e6, kKilo = 1e3, kMebi = 1048576;
  Place place;
  const auto cgroup = root + "/sys/fs/cgroup/" + target;
  switch (kind) {
    case FileKind::rapl_power_w: {
      const auto zone = root + "/sys/class/powercap/" + target;
      place = {zone + "/constraint_0_power_limit_uw", "", zone + "/constraint_0_max_power_uw", kMicro};
      break;
    }
    case FileKind::cpu_frequency_mhz: {
      const auto policy = root + "/sys/devices/system/cpu/cpufreq/" + target;
      place = {policy + "/scaling_max_freq", policy + "/cpuinfo_min_freq", policy + "/cpuinfo_max_freq",
               kKilo};
      break;
    }
    case FileKind::cgroup_cpus:
      place = {cgroup + "/cpu.max", "", "", kCpuPeriod};
      break;
    case FileKind::cgroup_memory_mib:
      place = {cgroup + "/memory.high", "", "", kMebi};
      break;
    case FileKind::cgroup_freeze:
      place = {cgroup + "/cgroup.freeze", "", "", 1};
      break;
  }
  return std::make_unique<FileActuator>(std::move(files), kind, std::move(place));
}

Status Desk::apply(std::size_t knob, double value) {
  auto& one = *knobs_.at(knob);
  TW_TRY(const auto was, one.read());
  TW_TRY(const auto unused, one.dry_run(value));
  (void)unused;
  TW_TRY_STATUS(one.apply(value));
  if (!before_[knob]) before_[knob] = was;
  TW_TRY(const auto now, one.read());
  if (std::abs(now - value) > 0.01 * std::max(1.0, std::abs(value)))
    return fail(ErrorCode::conflict,
                fmt::format("{} was set, {} is there", format_double(value), format_double(now)),
                "something else turns this knob, or it rounds: choose levels that it takes");
  return {};
}

Status Desk::revert(std::size_t knob) {
  if (!before_.at(knob)) return {};
  TW_TRY_STATUS(knobs_[knob]->apply(*before_[knob]));
  before_[knob].reset();
  return {};
}

}  // namespace tidewatt::popol
