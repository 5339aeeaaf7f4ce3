// Small pieces that all tool parsers share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/metering/tool_parsers.h"

namespace tidewatt::metering::tools {

/// Lines without LF and CR. A trailing newline gives no empty last line.
std::vector<std::string_view> lines_of(std::string_view text);
/// Trimmed cells between separators; "|a|b|" has the cells "", "a", "b", "".
std::vector<std::string_view> cells_of(std::string_view line, char separator);
/// Blank-separated words.
std::vector<std::string_view> words_of(std::string_view line);
bool contains(std::string_view text, std::string_view part);
/// ASCII only.
std::string lower(std::string_view text);
/// Equal but for the case of ASCII letters; without the copies that lower() makes.
bool same_ignoring_case(std::string_view a, std::string_view b);

/// Printable and short: what a log line or a JSON reason can carry.
std::string quotable(std::string_view text);

/// A printed quantity of watts.
struct PrintedPower {
  std::optional<Watts> watts;  ///< as printed, not yet judged
  std::string reason;          ///< "tool_prints_N/A": the token instead of a number
};
/// "36 W", "36.5W", "412000 mW", "0.4 kW", "36" in the default unit. Everything else is unknown and quoted.
/// @param default_unit  the tool's documented unit where the text has none
PrintedPower parse_watts(std::string_view text, std::string_view default_unit = "W");

/// Fills power, reason and limit from printed texts, most wanted first: the first that is a number is the
/// power; where none is, the reason tells what the most wanted one printed. An empty list gives
/// `none_reason`.
struct Candidate {
  std::string_view text;
  bool averaged = false;
  std::string_view unit = "W";
};
void set_power(ToolDevice& device, const std::vector<Candidate>& candidates, std::string_view none_reason);
void set_limit(ToolDevice& device, std::string_view text, std::string_view unit = "W");

/// True if a text that ends with this value may have lost digits of it: it is a bare number.
bool may_be_cut(std::string_view value);

/// True if the last line has no line end: every tool writes one, so that the text may have been cut off
/// there.
bool is_open(std::string_view text);

/// Begins the reason of a device that the text may end within: how many follow it nobody knows then.
inline constexpr std::string_view kTruncated = "truncated";

/// "efsmi: line 7: truncated: expected X, the text ends at 'Y'"
tl::unexpected<Error> truncation_error(std::string_view tool, std::string_view text,
                                       std::string_view expected);

/// Begins the reason of a part whose power is in a sibling's reading: not unknown, and not added again.
inline constexpr std::string_view kCountedOnSibling = "power_reported_once_per_card";

/// Adds the known powers up and counts the unknown ones, without those counted on a sibling. No total where a
/// device was cut off.
void add_up(ToolReadings& readings);

/// "nvidia-smi: line 3: expected X, got 'Y'"
tl::unexpected<Error> layout_error(std::string_view tool, std::size_t line_number, std::string_view expected,
                                   std::string_view got);

}  // namespace tidewatt::metering::tools
