// What can be turned: one knob behind one interface, whatever is underneath.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/file_system.h"
#include "tidewatt/base/result.h"

namespace tidewatt::popol {

class Actuator {
 public:
  virtual ~Actuator() = default;
  /// What is set now. @error corrupt  it is no number (cpu.max says "max"): nothing to go back to
  [[nodiscard]] virtual Result<double> read() const = 0;
  /// Whether `value` could be set: it exists, may be written, and is within bounds. Changes nothing.
  /// @return in words what would be done
  [[nodiscard]] virtual Result<std::string> dry_run(double value) const = 0;
  /// @error as dry_run, io
  virtual Status apply(double value) = 0;
};

enum class FileKind {
  rapl_power_w,       ///< target: a powercap zone, "intel-rapl:0"
  cpu_frequency_mhz,  ///< target: a cpufreq policy, "policy0"
  cgroup_cpus,        ///< target: a cgroup (v2) below its mount, "system.slice/shop.service": cpu.max
  cgroup_memory_mib,  ///< likewise: memory.high
  cgroup_freeze,      ///< likewise: 1 stops all of its processes, 0 lets them go on
};
std::optional<FileKind> file_kind(std::string_view name);

/// A knob that is a file of the kernel. @param root  "" for this machine, a folder in tests
/// @error invalid_input  a target that leaves its folder
Result<std::unique_ptr<Actuator>> make_file_actuator(std::shared_ptr<FileSystem> files, std::string root,
                                                     FileKind kind, const std::string& target);

/// Applies, and remembers what was there before. One at a time.
class Desk {
 public:
  explicit Desk(std::vector<std::unique_ptr<Actuator>> knobs)
      : knobs_(std::move(knobs)), before_(knobs_.size()) {}
  [[nodiscard]] std::size_t size() const { return knobs_.size(); }
  [[nodiscard]] const Actuator& knob(std::size_t i) const { return *knobs_[i]; }
  /// Dry run, then apply, then read back: a value that didn't stay is an error.
  Status apply(std::size_t knob, double value);
  /// Back to what was there before the first apply. Nothing was applied: nothing to do.
  Status revert(std::size_t knob);

 private:
  std::vector<std::unique_ptr<Actuator>> knobs_;
  std::vector<std::optional<double>> before_;
};

}  // namespace tidewatt::popol
