#include "tidewatt/tasks/tokens.h"

namespace tidewatt::tasks {

TokenEfficiency token_efficiency(bool has_group, std::optional<TokenCounts> usage,
                                 std::optional<Joules> energy) {
  const auto both = [](std::string_view reason) {
    return TokenEfficiency{{std::nullopt, reason}, {std::nullopt, reason}};
  };
  if (!has_group) return both("task_has_no_group");
  if (!usage) return both("no_usage_reported");
  // Each as a double: the sum of two counters may not fit.
  const double output = static_cast<double>(usage->completion);
  const double tokens = static_cast<double>(usage->prompt) + output;
  if (tokens == 0) return both("no_tokens");
  if (!energy) return both("energy_unknown");
  if (energy->value() <= 0) return both("no_energy");
  TokenEfficiency out;
  out.tokens_per_joule.value = tokens / energy->value();
  if (output > 0)
    out.joules_per_output_token.value = energy->value() / output;
  else
    out.joules_per_output_token.reason = "no_output_tokens";
  return out;
}

}  // namespace tidewatt::tasks
