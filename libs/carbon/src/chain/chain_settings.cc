#include "tidewatt/carbon/chain_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "tidewatt/carbon/signal_book.h"
#include "tidewatt/units/printable.h"
#include "tidewatt/units/text.h"

namespace tidewatt::carbon {
namespace {

constexpr std::size_t kLongestZone = 64;
constexpr std::size_t kMostProviders = 8;
constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kEicLength = 16;

struct Kind {
  std::string_view name;
  SignalKind kind = SignalKind::average;
  SignalBoundary boundary = SignalBoundary::unknown;
  SignalBasis basis = SignalBasis::unknown;
  std::string_view may_state;  ///< of "kind boundary basis": where the operator chooses, or only he knows
  std::string_view needs;      ///< options that must be given
  std::string_view takes;      ///< options that may be given
};

constexpr std::array kKinds{
    Kind{"electricitymaps", SignalKind::average, SignalBoundary::life_cycle, SignalBasis::consumption,
         "boundary basis", "", "url"},
    Kind{"watttime", SignalKind::marginal, SignalBoundary::co2_only, SignalBasis::unknown, "", "", "url"},
    Kind{"uk", SignalKind::average, SignalBoundary::co2_only, SignalBasis::consumption, "", "", "url"},
    Kind{"energycharts", SignalKind::average, SignalBoundary::unknown, SignalBasis::unknown, "", "", "url"},
    Kind{"rte", SignalKind::average, SignalBoundary::direct, SignalBasis::production, "", "", "url"},
    Kind{"greengrid", SignalKind::average, SignalBoundary::unknown, SignalBasis::consumption, "", "", "url"},
    Kind{"entsoe", SignalKind::average, SignalBoundary::life_cycle, SignalBasis::production, "", "", "url"},
    Kind{"peer", SignalKind::average, SignalBoundary::unknown, SignalBasis::unknown, "kind boundary basis",
         "url", ""},
    Kind{"csv", SignalKind::average, SignalBoundary::unknown, SignalBasis::unknown, "kind boundary basis",
         "file column", ""},
    Kind{"static", SignalKind::average, SignalBoundary::unknown, SignalBasis::unknown, "kind boundary basis",
         "g", ""},
    Kind{"onsite", SignalKind::average, SignalBoundary::unknown, SignalBasis::unknown, "boundary basis",
         "file grid", "solar_g wind_g"},
};

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const auto blank = words.find(' ');
    if (words.substr(0, blank) == word) return true;
    words = blank == std::string_view::npos ? std::string_view{} : words.substr(blank + 1);
  }
  return false;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto at = text.find(separator);
    if (const auto part = trim(text.substr(0, at)); !part.empty()) parts.push_back(part);
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

bool good_zone(std::string_view zone) {
  return !zone.empty() && zone.size() <= kLongestZone && std::all_of(zone.begin(), zone.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

template <class Value>
Result<Value> one_of(std::string_view option, std::string_view text, std::span<const Value> values) {
  std::string known;
  for (const Value value : values) {
    if (to_string(value) == text) return value;
    known += (known.empty() ? "" : ", ") + std::string{to_string(value)};
  }
  return fail(ErrorCode::invalid_input, fmt::format("{}={} is unknown", option, text), "known: " + known);
}

Status state(ProviderSettings& settings, const Kind& kind, std::string_view option, std::string_view value) {
  constexpr std::array kKindValues{SignalKind::average, SignalKind::marginal};
  constexpr std::array kBoundaries{SignalBoundary::life_cycle, SignalBoundary::direct,
                                   SignalBoundary::co2_only, SignalBoundary::unknown};
  constexpr std::array kBases{SignalBasis::consumption, SignalBasis::production, SignalBasis::unknown};
  const auto before = settings.identity;
  if (option == "kind") {
    TW_TRY(settings.identity.kind, one_of<SignalKind>(option, value, kKindValues));
  } else if (option == "boundary") {
    TW_TRY(settings.identity.boundary, one_of<SignalBoundary>(option, value, kBoundaries));
  } else {
    TW_TRY(settings.identity.basis, one_of<SignalBasis>(option, value, kBases));
  }
  if (settings.identity == before || has_word(kind.may_state, option)) return {};
  return fail(ErrorCode::invalid_input, fmt::format("{} gives {} only: {}={} isn't to be had there",
                                                    kind.name, describe(before), option, value));
}

Result<ProviderSettings> provider_of(std::string_view zone, std::string_view text) {
  const auto words = split(text, ' ');
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& one) {
    return !words.empty() && one.name == words.front();
  });
  if (kind == kKinds.end()) {
    std::string known;
    for (const auto& one : kKinds) known += (known.empty() ? "" : ", ") + std::string{one.name};
    return fail(ErrorCode::invalid_input,
                fmt::format("unknown provider \"{}\"", words.empty() ? std::string_view{} : words.front()),
                "known: " + known);
  }
  ProviderSettings out{std::string{kind->name},
                       std::string{zone},
                       {std::string{zone}, kind->kind, kind->boundary, kind->basis},
                       {}};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto equals = words[i].find('=');
    const auto option = words[i].substr(0, equals);
    const auto value = equals == std::string_view::npos ? std::string_view{} : words[i].substr(equals + 1);
    if (value.empty())
      return fail(ErrorCode::invalid_input,
                  fmt::format("{}: \"{}\" is no option=value", kind->name, words[i]));
    if (option == "zone") {
      if (!good_zone(value))
        return fail(ErrorCode::invalid_input, fmt::format("zone={}: letters, digits, - and _ only", value));
      out.zone = value;
    } else if (option == "kind" || option == "boundary" || option == "basis") {
      TW_TRY_STATUS(state(out, *kind, option, value));
    } else if (has_word(kind->needs, option) || has_word(kind->takes, option)) {
      out.options.insert_or_assign(std::string{option}, std::string{value});
    } else {
      return fail(ErrorCode::invalid_input, fmt::format("{} has no option \"{}\"", kind->name, option));
    }
  }
  for (const auto needed : split(kind->needs, ' '))
    if (!out.options.contains(needed))
      return fail(ErrorCode::invalid_input, fmt::format("{} needs {}=", kind->name, needed));
  if (kind->name == "entsoe" && out.zone.size() != kEicLength)
    return fail(ErrorCode::invalid_input,
                fmt::format("entsoe: \"{}\" is no EIC code of 16 characters", out.zone),
                "give the bidding zone's as zone=, like zone=10Y1001A1001A82H");
  for (const auto& [option, value] : out.options) {
    const auto number = parse_double(value);
    if ((option == "g" || option.ends_with("_g")) && (!number || *number < 0 || *number > 1e4))
      return fail(ErrorCode::invalid_input,
                  fmt::format("{}={} is no intensity in 0..10000 g/kWh", option, value));
    if (option == "url" && !value.starts_with("http://") && !value.starts_with("https://"))
      return fail(ErrorCode::invalid_input, fmt::format("url={} is no http:// or https:// address", value));
  }
  return out;
}

}  // namespace

Result<ChainSettings> parse_chain(std::string_view zone, std::string_view text) {
  if (!good_zone(zone))
    return fail(ErrorCode::invalid_input, fmt::format("zone \"{}\"", printable(zone, kLongestZone)),
                "a zone has letters, digits, - and _, 64 at most");
  if (text.size() > kLongestText)
    return fail(ErrorCode::invalid_input, "the chain has more than 4096 characters");
  if (!is_printable(text))
    return fail(ErrorCode::invalid_input,
                fmt::format("\"{}\" holds control characters", printable(text, kLongestZone)));
  ChainSettings chain{std::string{zone}, {}, {}};
  for (const auto part : split(text, ',')) {
    if (chain.providers.size() == kMostProviders)
      return fail(ErrorCode::invalid_input, "a chain of more than 8 providers");
    TW_TRY(auto provider, provider_of(zone, part));
    if (chain.providers.empty()) {
      chain.identity = provider.identity;
    } else if (!same_series(chain.identity, provider.identity)) {
      return fail(ErrorCode::invalid_input,
                  fmt::format("{} gives another series ({}) than {} ({})", provider.provider,
                              describe(provider.identity), chain.providers.front().provider,
                              describe(chain.identity)),
                  "series of different kind, boundary or basis can't stand in for one another: leave it out, "
                  "or state "
                  "kind=, boundary= and basis= where the provider can give them");
    }
    chain.providers.push_back(std::move(provider));
  }
  if (chain.providers.empty()) return fail(ErrorCode::invalid_input, "no provider is named");
  return chain;
}

}  // namespace tidewatt::carbon
