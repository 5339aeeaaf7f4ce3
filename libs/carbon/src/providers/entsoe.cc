// ENTSO-E documents: generation by source (A75) becomes the intensity of the mix; where a series has gaps is
// told.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <pugixml.hpp>
#include <set>

#include "tidewatt/units/text.h"

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

/// Life-cycle medians of IPCC AR5, WG III, Annex III, Table A.III.2 (2014), which knows one coal [gCO2e/kWh];
/// read from two copies of the table. Marine energy, which they leave out, has no factor here.
struct Source {
  std::string_view psr_type;
  double grams;
};
constexpr std::array kSources{Source{"B01", 230}, Source{"B02", 820}, Source{"B04", 490}, Source{"B05", 820},
                              Source{"B09", 38},  Source{"B11", 24},  Source{"B12", 24},  Source{"B14", 12},
                              Source{"B16", 48},  Source{"B18", 12},  Source{"B19", 11}};
/// What pumped storage gives was generated before, by the mix it was pumped with: in no mix.
constexpr std::string_view kPumpedStorage = "B10";
/// More than this of sources that the table doesn't know makes a slot unknown.
constexpr double kMostUnknown = 0.05;
constexpr std::int64_t kMostPositions = 366LL * 96;

std::optional<double> grams_of(std::string_view psr_type) {
  const auto* found = std::find_if(kSources.begin(), kSources.end(),
                                   [&](const Source& source) { return source.psr_type == psr_type; });
  return found == kSources.end() ? std::nullopt : std::optional{found->grams};
}

std::optional<Milliseconds> resolution_of(std::string_view text) {
  using std::chrono::minutes;
  if (text == "PT15M") return minutes{15};
  if (text == "PT30M") return minutes{30};
  if (text == "PT60M" || text == "PT1H") return minutes{60};
  return std::nullopt;
}

struct Slot {
  UtcTime end;
  std::map<std::string, double> by_source;
};
using Slots = std::map<UtcTime, Slot>;

/// One Period's values; a variable-sized block (A03) leaves out what repeats the value before.
void add_period(const pugi::xml_node& period, const std::string& psr_type, bool repeats, Slots& slots,
                ParsedSignal& into) {
  const auto interval = period.child("timeInterval");
  const auto start = parse_time(interval.child_value("start"));
  const auto end = parse_time(interval.child_value("end"));
  const auto step = resolution_of(period.child_value("resolution"));
  if (!start || !end || *end <= *start) return;  // told by add_gaps
  if (!step || (*end - *start) / *step > kMostPositions) {
    skip(into, start,
         fmt::format("resolution \"{}\" is unknown", one_line(period.child_value("resolution"))));
    return;
  }
  const auto count = (*end - *start) / *step;
  std::map<std::int64_t, double> told;
  for (const auto& point : period.children("Point")) {
    const auto position = parse_int64(point.child_value("position"));
    const auto quantity = parse_double(point.child_value("quantity"));
    if (position && *position >= 1 && *position <= count && quantity && std::isfinite(*quantity))
      told[*position] = *quantity;
  }
  std::optional<double> last;
  for (std::int64_t position = 1; position <= count; ++position) {
    const auto found = told.find(position);
    if (found != told.end()) last = found->second;
    if (!last || (found == told.end() && !repeats)) continue;
    const UtcTime begin = *start + (position - 1) * *step;
    auto& slot = slots[begin];
    slot.end = begin + *step;
    // What a plant uses itself is no generation.
    slot.by_source[psr_type] += std::max(0.0, *last);
  }
}

void add_mix(UtcTime begin, const Slot& slot, const std::set<std::string>& sources, std::string_view zone,
             ParsedSignal& into) {
  double all = 0;
  double known = 0;
  double grams = 0;
  for (const auto& source : sources) {
    const auto found = slot.by_source.find(source);
    if (found == slot.by_source.end()) return skip(into, begin, "no value for " + source);
    if (source == kPumpedStorage) continue;
    all += found->second;
    if (const auto factor = grams_of(source)) {
      known += found->second;
      grams += found->second * *factor;
    }
  }
  if (!(all > 0)) return skip(into, begin, "no generation");
  if (all - known > kMostUnknown * all)
    return skip(into, begin, "more than 5 % of the generation is of sources without a factor");
  SignalPoint point;
  point.start = begin;
  point.end = slot.end;
  point.intensity = CarbonIntensity{grams / known};
  point.quality = SignalQuality::estimated;
  point.series = {zone.empty() ? std::nullopt : std::optional{std::string{zone}}, SignalKind::average,
                  SignalBoundary::life_cycle, SignalBasis::production};
  into.points.push_back(std::move(point));
}

/// Generation by source, where the document is one.
Status add_generation(const pugi::xml_node& document, std::string_view zone, ParsedSignal& into) {
  Slots slots;
  std::set<std::string> sources;
  for (const auto& series : document.children("TimeSeries")) {
    const std::string psr_type = series.child("MktPSRType").child_value("psrType");
    const std::string domain = series.child_value("inBiddingZone_Domain.mRID");
    // A series of outBiddingZone is what plants consume.
    if (psr_type.empty() || domain.empty()) continue;
    TW_TRY_STATUS(check_zone(domain, zone));
    sources.insert(psr_type);
    const bool repeats = std::string_view{series.child_value("curveType")} == "A03";
    for (const auto& period : series.children("Period")) add_period(period, psr_type, repeats, slots, into);
  }
  for (const auto& [begin, slot] : slots) add_mix(begin, slot, sources, zone, into);
  return {};
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
  TW_TRY_STATUS(add_generation(document.document_element(), request.zone, signal));
  return signal;
}

}  // namespace tidewatt::carbon::providers
