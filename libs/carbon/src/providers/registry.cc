#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "provider.h"
#include "tidewatt/carbon/provider_parsers.h"

namespace tidewatt::carbon {
namespace {

struct Entry {
  std::string_view name;
  Result<ParsedSignal> (*parse)(const providers::Request&);
};

constexpr std::array kProviders{
    Entry{"electricitymaps", providers::electricitymaps},
    Entry{"watttime", providers::watttime},
    Entry{"uk", providers::uk},
    Entry{"energycharts", providers::energycharts},
    Entry{"rte", providers::rte},
    Entry{"greengrid", providers::greengrid},
    Entry{"entsoe", providers::entsoe},
    Entry{"peer", providers::peer},
};

providers::Request request_of(std::string_view endpoint, std::string_view zone, std::string_view text) {
  if (const auto remark = endpoint.find(" ("); remark != std::string_view::npos)
    endpoint = endpoint.substr(0, remark);
  while (!endpoint.empty() && endpoint.back() == ' ') endpoint.remove_suffix(1);
  if (const auto scheme = endpoint.find("://"); scheme != std::string_view::npos) {
    endpoint.remove_prefix(scheme + 3);
    const auto slash = endpoint.find('/');
    endpoint = slash == std::string_view::npos ? std::string_view{} : endpoint.substr(slash);
  }
  while (!endpoint.empty() && endpoint.front() == '/') endpoint.remove_prefix(1);
  const auto mark = endpoint.find('?');
  return {endpoint.substr(0, mark),
          mark == std::string_view::npos ? std::string_view{} : endpoint.substr(mark + 1), zone, text};
}

}  // namespace

std::string_view to_string(SignalKind kind) { return kind == SignalKind::average ? "average" : "marginal"; }

std::string_view to_string(SignalQuality quality) {
  switch (quality) {
    case SignalQuality::measured:
      return "measured";
    case SignalQuality::estimated:
      return "estimated";
    case SignalQuality::forecast:
      return "forecast";
    case SignalQuality::heuristic:
      return "heuristic";
    case SignalQuality::fixed:
      return "static";
  }
  return "estimated";
}

std::string_view to_string(SignalBoundary boundary) {
  switch (boundary) {
    case SignalBoundary::life_cycle:
      return "life_cycle";
    case SignalBoundary::direct:
      return "direct";
    case SignalBoundary::co2_only:
      return "co2_only";
    case SignalBoundary::unknown:
      break;
  }
  return "unknown";
}

std::string_view to_string(SignalBasis basis) {
  switch (basis) {
    case SignalBasis::consumption:
      return "consumption";
    case SignalBasis::production:
      return "production";
    case SignalBasis::unknown:
      break;
  }
  return "unknown";
}

std::vector<std::string_view> known_providers() {
  std::vector<std::string_view> names;
  for (const auto& entry : kProviders) names.push_back(entry.name);
  return names;
}

Result<ParsedSignal> parse_provider_payload(std::string_view provider, std::string_view endpoint,
                                            std::string_view zone, std::string_view text) {
  const auto* entry = std::find_if(kProviders.begin(), kProviders.end(),
                                   [&](const Entry& candidate) { return candidate.name == provider; });
  if (entry == kProviders.end())
    return fail(ErrorCode::invalid_input,
                fmt::format("unknown provider \"{}\"", providers::one_line(provider)));
  if (text.size() > kLargestPayload)
    return fail(ErrorCode::invalid_input,
                fmt::format("the answer has {} bytes, at most {} are read", text.size(), kLargestPayload));
  TW_TRY(auto signal, entry->parse(request_of(endpoint, zone, text)));
  std::stable_sort(signal.points.begin(), signal.points.end(),
                   [](const SignalPoint& a, const SignalPoint& b) { return a.start < b.start; });
  return signal;
}

}  // namespace tidewatt::carbon
