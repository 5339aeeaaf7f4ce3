// The journal of a service agent: a line with the setup, then one line of at most 2 kB per decision, from
// which every decision can be taken again, bit for bit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/continuum/brain.h"

namespace tidewatt::continuum {

inline constexpr std::size_t kLargestRecord = 2000;  ///< bytes of a decision's line

/// What was done after the decision before.
struct Acted {
  std::vector<std::size_t> did;                     ///< per knob, as for Brain::acted
  std::optional<std::vector<std::size_t>> blocked;  ///< a person rolled these levels back
  bool ok = true;                                   ///< false: something was tried, and failed
  std::string who = "engine";                       ///< "engine", "person" or "nobody"
};

/// What stands in a record beside the decision.
struct Context {
  UtcTime at;
  std::string mode;     ///< observe, suggest or auto
  std::string journal;  ///< the file
  std::optional<UtcTime> signal_as_of;
  bool cut_off = false;  ///< the signal is the last one known, not a fresh one
};

std::string setup_line(const Setup& setup, const std::optional<Counts>& counts, UtcTime at);
/// @param before  nullopt for the first decision of a journal
std::string decision_line(std::uint64_t number, const Context& context, const std::optional<Acted>& before,
                          const Senses& senses, const Decision& decision);

/// Whether a line is a decision of a service agent (and not one of `aif run --records`).
bool is_decision(std::string_view line);
/// The journal that a decision names. @error corrupt  a bit of the line was changed
Result<std::string> journal_of(std::string_view line);

struct Replayed {
  Brain brain;
  Setup setup;
  std::uint64_t decisions = 0;  ///< also the number of the next one
};
/// Takes every decision of a journal again; the brain is then where the journal ends. An unfinished last line
/// (a crash while it was written) is left out.
/// @error corrupt  a line was changed, or a decision comes out differently: names the line
Result<Replayed> replay(std::string_view journal);
/// Takes the decisions up to one again and compares it bit for bit. @return the decision in words
/// @error corrupt  record or journal was changed
Result<std::string> explain(std::string_view record, std::string_view journal);

}  // namespace tidewatt::continuum
