// An operator's rules for naming workloads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/attribution/cgroup_path.h"
#include "tidewatt/base/result.h"

namespace tidewatt::attribution {

/// Rules "[LABEL=]PATTERN -> NAME". The first that fits wins; without one a workload keeps its task id.
/// - PATTERN is compared with the whole task id, or with the value of LABEL (cgroup_path.h) where the
/// workload
///   has it. `*` stands for any characters, as few as possible; all else for itself.
/// - $1 ... $9 in NAME are what the stars stood for, $0 the whole value, ${label} a label's value.
/// - NAME "drop": the workload isn't told; its energy is nobody's.
class Relabel {
 public:
  static constexpr std::size_t kMaxRules = 64;

  /// @error invalid_input  with the rule and what is wrong with it
  static Result<Relabel> parse(const std::vector<std::string>& rules);

  /// @return the name; nullopt: dropped
  [[nodiscard]] std::optional<std::string> name_of(const Workload& workload) const;

 private:
  struct Rule {
    std::string label;  // empty = the task id
    std::string pattern;
    std::string name;
  };
  std::vector<Rule> rules_;
};

/// What the stars of `pattern` stand for in `text`; nullopt when it doesn't fit as a whole.
std::optional<std::vector<std::string_view>> match_stars(std::string_view pattern, std::string_view text);

}  // namespace tidewatt::attribution
