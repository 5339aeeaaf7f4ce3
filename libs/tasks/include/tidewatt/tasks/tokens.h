// Tokens per joule, or why there is no such figure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tidewatt/units/quantity.h"

namespace tidewatt::tasks {

struct TokenCounts {
  std::uint64_t prompt = 0;
  std::uint64_t completion = 0;
};

/// A figure or the reason that there is none; never both.
struct Efficiency {
  std::optional<double> value;
  std::string_view reason;  ///< a word for programs; empty when there is a value
};

struct TokenEfficiency {
  Efficiency tokens_per_joule;         ///< (prompt + completion) / joules of all the group's tasks
  Efficiency joules_per_output_token;  ///< joules / completion
};

/// Reasons, in the order they are looked for: task_has_no_group, no_usage_reported (nobody counted: that is
/// not "no tokens"), no_tokens (counted, and none; of output alone: no_output_tokens), energy_unknown,
/// no_energy.
/// @param usage   nullopt: no usage of the group was ever reported
/// @param energy  of all the group's tasks over the same time; nullopt: not known
TokenEfficiency token_efficiency(bool has_group, std::optional<TokenCounts> usage,
                                 std::optional<Joules> energy);

}  // namespace tidewatt::tasks
