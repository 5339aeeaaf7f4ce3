// ENTSO-E documents: quantities of generation, not intensities; what is told is where the series has gaps.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <pugixml.hpp>
#include <set>

#include "provider.h"

namespace tidewatt::carbon::providers {
namespace {

pugi::xml_node first(const pugi::xml_node& in, const char* name) {
  return in.find_node([&](const pugi::xml_node& node) { return std::strcmp(node.name(), name) == 0; });
}

void add_gaps(ParsedSignal& into, const pugi::xml_node& series,
              std::set<UtcRange, bool (*)(const UtcRange&, const UtcRange&)>& told) {
  std::vector<UtcRange> periods;
  for (const auto& period : series.children("Period")) {
    const auto interval = period.child("timeInterval");
    const auto start = parse_time(interval.child_value("start"));
    const auto end = parse_time(interval.child_value("end"));
    if (!start || !end || *end <= *start)
      skip(into, start, "a Period has no readable timeInterval");
    else
      periods.push_back({*start, *end});
  }
  std::sort(periods.begin(), periods.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < periods.size(); ++i) {
    periods[i].end = std::max(periods[i].end, periods[i - 1].end);
    const UtcRange gap{periods[i - 1].end, periods[i].begin};
    if (gap.begin < gap.end && told.insert(gap).second)
      skip(into, gap.begin, "no Period covers the time to " + format_rfc3339_short(gap.end));
  }
}

}  // namespace

Result<ParsedSignal> entsoe(const Request& request) {
  pugi::xml_document document;
  const auto read = document.load_buffer(request.text.data(), request.text.size());
  if (!read)
    return fail(ErrorCode::unavailable,
                fmt::format("the answer is not XML: \"{}\"", one_line(request.text.substr(0, 80))),
                "check the security token and ask again");
  const std::string_view root = document.document_element().name();
  if (root.find("Acknowledgement") != std::string_view::npos) {
    const auto reason = first(document, "Reason");
    return fail(ErrorCode::unavailable,
                fmt::format("the provider refused: {} {}", one_line(reason.child_value("code")),
                            one_line(reason.child_value("text"))));
  }
  ParsedSignal signal;
  std::set<UtcRange, bool (*)(const UtcRange&, const UtcRange&)> told{
      [](const UtcRange& a, const UtcRange& b) {
        return std::pair{a.begin, a.end} < std::pair{b.begin, b.end};
      }};
  if (root == "TimeSeries") {
    add_gaps(signal, document.document_element(), told);
    return signal;
  }
  if (root.find("MarketDocument") == std::string_view::npos &&
      root.find("Document") == std::string_view::npos)
    return unexpected_shape(fmt::format("the document is <{}>", root));
  for (const auto& series : document.document_element().children("TimeSeries"))
    add_gaps(signal, series, told);
  return signal;
}

}  // namespace tidewatt::carbon::providers
