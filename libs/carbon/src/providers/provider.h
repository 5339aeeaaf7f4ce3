// What the providers' parsers share: one function each, listed in registry.cc.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/carbon/signal.h"

namespace tidewatt::carbon::providers {

using Json = nlohmann::json;

struct Request {
  std::string_view path;   ///< without host, leading slash, query and remarks
  std::string_view query;  ///< after the '?'
  std::string_view zone;   ///< asked for; may be empty
  std::string_view text;

  [[nodiscard]] bool has_segment(std::string_view name) const;
  [[nodiscard]] std::string_view parameter(std::string_view name) const;
};

Result<ParsedSignal> electricitymaps(const Request& request);
Result<ParsedSignal> watttime(const Request& request);
Result<ParsedSignal> uk(const Request& request);
Result<ParsedSignal> energycharts(const Request& request);
Result<ParsedSignal> rte(const Request& request);
Result<ParsedSignal> greengrid(const Request& request);
Result<ParsedSignal> entsoe(const Request& request);
Result<ParsedSignal> peer(const Request& request);

/// The answer as a JSON object. @error invalid_input not JSON; unavailable: the provider's own error
Result<Json> read_object(std::string_view text);
tl::unexpected<Error> unexpected_shape(std::string_view what);
/// Printable, on one line, at most 240 bytes.
std::string one_line(std::string_view text);

/// nullptr where `object` is none or has no such member.
const Json* member(const Json& object, const char* name);
std::optional<std::string> text_of(const Json& object, const char* name);
/// RFC 3339, seconds optional; nullopt where there is none or it names no time zone.
std::optional<UtcTime> time_of(const Json& object, const char* name);
std::optional<UtcTime> parse_time(std::string_view text);

/// A number that can be an intensity; else says why not in `reason`.
std::optional<double> usable_number(const Json* value, std::string& reason);
/// Adds a point, or what it was skipped for.
void add(ParsedSignal& into, const Json* value, SignalPoint point);
void skip(ParsedSignal& into, std::optional<UtcTime> start, std::string reason);
std::optional<std::string> zone_or(std::optional<std::string> named, std::string_view asked);
/// @error invalid_input when an answer names another zone than the one asked for
Status check_zone(const std::optional<std::string>& answered, std::string_view asked);

}  // namespace tidewatt::carbon::providers
