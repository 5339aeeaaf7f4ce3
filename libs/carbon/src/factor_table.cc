#include "tidewatt/carbon/factor_table.h"

#include <fmt/format.h>

#include <vector>

#include "tidewatt/units/printable.h"
#include "tidewatt/units/text.h"

namespace tidewatt::carbon {
namespace {

constexpr std::size_t kLongestZone = 64;
constexpr std::size_t kMostEntries = 10'000;
constexpr int kFirstYear = 1990;
constexpr int kLastYear = 2100;
constexpr std::string_view kForm = "write ZONE YEAR KG_PER_KWH [co2|co2e] [average] [direct]: SOURCE";

tl::unexpected<Error> refuse(std::string_view entry, const std::string& why) {
  return fail(ErrorCode::invalid_input, fmt::format("\"{}\": {}", entry.substr(0, 120), why),
              std::string{kForm});
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!(text = trim(text)).empty()) {
    const auto end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

/// "co2", "average", "direct" and so on, in any order.
bool take_word(std::string_view word, Factor& factor) {
  for (const auto gas : {Gas::co2, Gas::co2e})
    if (to_string(gas) == word) {
      factor.gas = gas;
      return true;
    }
  for (const auto kind : {FactorKind::average, FactorKind::residual, FactorKind::marginal,
                          FactorKind::fossil_only, FactorKind::ets_compliance, FactorKind::lifecycle_average})
    if (to_string(kind) == word) {
      factor.kind = kind;
      return true;
    }
  for (const auto boundary : {SignalBoundary::life_cycle, SignalBoundary::direct, SignalBoundary::co2_only,
                              SignalBoundary::unknown})
    if (to_string(boundary) == word) {
      factor.boundary = boundary;
      return true;
    }
  return false;
}

constexpr std::size_t kMostOfEntry = 80;

}  // namespace

Status FactorTable::add(std::string_view entry) {
  if (!is_printable(entry)) return refuse(printable(entry, kMostOfEntry), "it holds control characters");
  const auto colon = entry.find(": ");
  if (colon == std::string_view::npos || trim(entry.substr(colon + 1)).empty())
    return refuse(entry, "no source is stated");
  const auto words = words_of(entry.substr(0, colon));
  if (words.size() < 3) return refuse(entry, "a zone, a year and a value are needed");
  if (words[0].size() > kLongestZone) return refuse(entry, "the zone is too long");
  const auto year = parse_int64(words[1]);
  if (!year || *year < kFirstYear || *year > kLastYear)
    return refuse(entry, fmt::format("{} is no year", words[1]));
  const auto value = parse_double(words[2]);
  if (!value || !(*value > 0)) return refuse(entry, fmt::format("{} is no number above 0", words[2]));
  if (*value > kLargestPlausible.value())
    return refuse(entry, fmt::format("{} kg/kWh is more than any grid emits; was it in g/kWh?", words[2]));
  Factor factor;
  factor.value = KilogramsPerKwh{*value};
  factor.source = std::string{trim(entry.substr(colon + 1))};
  factor.configured = true;
  factor.year = static_cast<int>(*year);
  for (std::size_t i = 3; i < words.size(); ++i)
    if (!take_word(words[i], factor))
      return refuse(entry, fmt::format("\"{}\" is no gas, kind or boundary", words[i]));
  auto& years = zones_[std::string{words[0]}];
  if (years.size() >= kMostEntries) return refuse(entry, "too many entries of one zone");
  if (!years.emplace(*factor.year, std::move(factor)).second)
    return refuse(entry, fmt::format("{} of {} is there already", words[1], words[0]));
  return {};
}

const Factor* FactorTable::find(const std::string& zone, int year) const {
  const auto years = zones_.find(zone);
  if (years == zones_.end()) return nullptr;
  const auto factor = years->second.find(year);
  return factor == years->second.end() ? nullptr : &factor->second;
}

}  // namespace tidewatt::carbon
