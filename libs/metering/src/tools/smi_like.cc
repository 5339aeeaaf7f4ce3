#include "tools/smi_like.h"

#include <fmt/format.h>

#include <array>

#include "tidewatt/units/text.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::array<std::string_view, 18> kFailures{
    "command not found", "has failed", "failed to", "error:",       "error code",         "permission denied",
    "no such file",      "not found",  "no device", "no supported", "unable to",          "couldn't",
    "could not",         "cannot",     "can't",     "not loaded",   "segmentation fault", "timed out"};
constexpr std::size_t kQuotedLine = 200;

}  // namespace

tl::unexpected<Error> unknown_form(std::string_view tool, std::string_view text, std::string_view expected) {
  const auto lines = lines_of(text);
  std::size_t first = 0;
  while (first < lines.size() && trim(lines[first]).empty()) ++first;
  if (first == lines.size())
    return fail(ErrorCode::invalid_input, fmt::format("{} printed nothing: its devices are unknown", tool),
                fmt::format("run {} by hand and look at its exit status", tool));
  for (std::size_t i = first; i < lines.size() && i < first + 10; ++i) {
    const auto line = lower(trim(lines[i]));
    for (const auto failure : kFailures)
      if (contains(line, failure))
        return fail(ErrorCode::invalid_input,
                    fmt::format("{} failed: {}", tool, trim(lines[i]).substr(0, kQuotedLine)),
                    "its devices are unknown until it works");
  }
  return layout_error(tool, first + 1, expected, trim(lines[first]));
}

Result<ToolReadings> parse_smi_like(const SmiForms& forms, std::string_view command, std::string_view text) {
  if (has_box_header(forms.box, text)) return parse_box_table(forms.box, text);
  if (has_csv_header(forms.csv, text)) return parse_csv_table(forms.csv, command, text);
  if (forms.is_device != nullptr && !blocks_of(text, forms.is_device).empty())
    return parse_sections(forms.box.tool, text, forms.is_device, forms.rules);
  if (!forms.csv.query_options.empty() && contains(text, ",")) {
    // CSV without names: the command says what was asked for.
    auto parsed = parse_csv_table(forms.csv, command, text);
    if (parsed) return parsed;
  }
  return unknown_form(forms.box.tool, text, forms.expected);
}

}  // namespace tidewatt::metering::tools
