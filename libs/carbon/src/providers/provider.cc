#include "provider.h"

#include <fmt/format.h>

#include <cmath>

#include "tidewatt/carbon/provider_parsers.h"

namespace tidewatt::carbon::providers {

constexpr std::string_view kWrongZone = "the answer is for zone";
namespace {

std::string words(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) return value.empty() ? std::string{} : words(value.front());
  if (value.is_object()) {
    std::string all;
    for (const auto* name : {"code", "message", "msg", "loc"})
      if (const auto* part = member(value, name); part != nullptr && !part->is_object())
        all += (all.empty() ? "" : ": ") +
               (part->is_array() ? part->dump(-1, ' ', false, Json::error_handler_t::replace) : words(*part));
    return all;
  }
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<std::string> provider_error(const Json& answer) {
  for (const auto* name : {"error", "errors", "detail", "error_code"}) {
    const auto* error = member(answer, name);
    if (error == nullptr || error->is_null() || (error->is_boolean() && !error->get<bool>())) continue;
    auto text = words(*error);
    for (const auto* more : {"message", "msg"})
      if (const auto extra = text_of(answer, more)) text += ": " + *extra;
    return text.empty() ? std::string{"an error without a text"} : text;
  }
  if (answer.contains("data") || answer.contains("history") || answer.contains("forecast"))
    return std::nullopt;
  return text_of(answer, "message");
}

}  // namespace

bool Request::has_segment(std::string_view name) const {
  for (auto rest = path; !rest.empty();) {
    const auto slash = rest.find('/');
    if (rest.substr(0, slash) == name) return true;
    rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
  }
  return false;
}

std::string_view Request::parameter(std::string_view name) const {
  for (auto rest = query; !rest.empty();) {
    const auto ampersand = rest.find('&');
    const auto pair = rest.substr(0, ampersand);
    const auto equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == name) return pair.substr(equals + 1);
    rest = ampersand == std::string_view::npos ? std::string_view{} : rest.substr(ampersand + 1);
  }
  return {};
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text.substr(0, 240)) {
    const bool blank = static_cast<unsigned char>(c) <= ' ' || c == 0x7f;
    if (blank && (line.empty() || line.back() == ' ')) continue;
    line += blank ? ' ' : c;
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

tl::unexpected<Error> unexpected_shape(std::string_view what) {
  return fail(ErrorCode::invalid_input, "not an answer of this endpoint: " + one_line(what),
              "check --provider and --endpoint");
}

Result<Json> read_object(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return fail(ErrorCode::unavailable, "the answer is empty", "check the access token");
  auto answer = Json::parse(text, nullptr, false);
  if (answer.is_discarded())
    return fail(ErrorCode::unavailable,
                fmt::format("the answer is not JSON: \"{}\"", one_line(text.substr(0, 80))),
                "ask the provider again; check the access token");
  if (!answer.is_object()) return unexpected_shape("the JSON is no object");
  if (const auto error = provider_error(answer))
    return fail(ErrorCode::unavailable, "the provider refused: " + one_line(*error));
  return answer;
}

const Json* member(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::optional<std::string> text_of(const Json& object, const char* name) {
  const auto* value = member(object, name);
  if (value == nullptr || !value->is_string() || value->get_ref<const std::string&>().empty())
    return std::nullopt;
  return value->get<std::string>();
}

std::optional<UtcTime> parse_time(std::string_view text) {
  constexpr std::size_t kMinutesEnd = 16;
  std::string full{text};
  if (full.size() > kMinutesEnd && full[kMinutesEnd] != ':') full.insert(kMinutesEnd, ":00");
  return parse_rfc3339(full);
}

std::optional<UtcTime> time_of(const Json& object, const char* name) {
  const auto text = text_of(object, name);
  return text ? parse_time(*text) : std::nullopt;
}

std::optional<double> usable_number(const Json* value, std::string& reason) {
  if (value == nullptr || value->is_null())
    reason = "no value";
  else if (!value->is_number())
    reason = "the value is no number";
  else if (const auto number = value->get<double>(); !std::isfinite(number) || number < 0)
    reason = fmt::format("{} can't be an intensity", number);
  else
    return number;
  return std::nullopt;
}

void add(ParsedSignal& into, const Json* value, SignalPoint point) {
  std::string reason;
  const auto number = usable_number(value, reason);
  if (!number) return skip(into, point.start, std::move(reason));
  if (point.end <= point.start) return skip(into, point.start, "the slot ends before it starts");
  point.intensity = CarbonIntensity{*number};
  into.points.push_back(std::move(point));
}

void skip(ParsedSignal& into, std::optional<UtcTime> start, std::string reason) {
  into.skipped.push_back({start, std::move(reason)});
}

std::optional<std::string> zone_or(std::optional<std::string> named, std::string_view asked) {
  if (named || asked.empty()) return named;
  return std::string{asked};
}

Status check_zone(const std::optional<std::string>& answered, std::string_view asked) {
  if (!answered || asked.empty() || *answered == asked) return {};
  return fail(ErrorCode::invalid_input,
              fmt::format("{} \"{}\", asked was \"{}\"", kWrongZone, one_line(*answered), asked),
              "name the zone in the request, not a location");
}

}  // namespace tidewatt::carbon::providers

bool tidewatt::carbon::is_wrong_zone(const Error& error) {
  return error.message.starts_with(providers::kWrongZone);
}
