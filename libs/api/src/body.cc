#include "body.h"

#include <fmt/format.h>

#include <algorithm>

#include "tidewatt/units/text.h"

namespace tidewatt::api {
namespace {
constexpr std::size_t kLongestText = 1024;
constexpr std::size_t kLongestStoredName = 256;
}  // namespace

Result<Body> Body::parse(const net::Request& request, std::initializer_list<std::string_view> keys) {
  Body body;
  body.object_ = Json::parse(request.body, nullptr, false);
  if (!body.object_.is_object())
    return fail(ErrorCode::invalid_input, "the body is no JSON object",
                "send one with Content-Type: application/json");
  for (const auto& [key, value] : body.object_.items()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    std::string known;
    for (const auto name : keys) known += (known.empty() ? "" : ", ") + std::string{name};
    return fail(ErrorCode::invalid_input, fmt::format("unknown key \"{}\"", key), "known: " + known);
  }
  return body;
}

Result<Body> Body::parse_optional(const net::Request& request, std::initializer_list<std::string_view> keys) {
  if (!request.body.empty()) return parse(request, keys);
  Body body;
  body.object_ = Json::object();
  return body;
}

Result<std::string> Body::text(std::string_view key) const {
  const auto found = object_.find(key);
  if (found == object_.end() || found->is_null()) return std::string{};
  if (!found->is_string())
    return fail(ErrorCode::invalid_input, fmt::format("\"{}\" is no text", key), "put it in quotes");
  auto text = found->get<std::string>();
  if (text.size() > kLongestText)
    return fail(ErrorCode::invalid_input, fmt::format("\"{}\" is {} bytes long", key, text.size()),
                "1024 are allowed");
  return text;
}

Status check_name(std::string_view what, std::string_view text) {
  if (text.size() > kLongestStoredName)
    return fail(ErrorCode::invalid_input, fmt::format("\"{}\" is {} bytes long", what, text.size()),
                fmt::format("{} are allowed", kLongestStoredName));
  if (holds_control_characters(text))
    return fail(ErrorCode::invalid_input, fmt::format("\"{}\" holds control characters", what),
                "give a name of one line that can be printed");
  return {};
}

Result<std::string> Body::name(std::string_view key) const {
  TW_TRY(auto name, text(key));
  TW_TRY_STATUS(check_name(key, name));
  return name;
}

Result<std::optional<UtcTime>> Body::time(std::string_view key) const {
  TW_TRY(const auto text, this->text(key));
  if (text.empty()) return std::optional<UtcTime>{};
  if (const auto at = parse_rfc3339(text)) return at;
  return fail(ErrorCode::invalid_input, fmt::format("\"{}\": {} is no time", key, text),
              "give RFC 3339 like 2026-11-29T08:00:00Z");
}

Result<std::optional<std::int64_t>> Body::whole_number(std::string_view key, std::int64_t least,
                                                       std::int64_t most) const {
  const auto found = object_.find(key);
  if (found == object_.end() || found->is_null()) return std::optional<std::int64_t>{};
  const bool whole =
      found->is_number_integer() &&
      !(found->is_number_unsigned() && found->get<std::uint64_t>() > static_cast<std::uint64_t>(most));
  if (const auto value = whole ? found->get<std::int64_t>() : least - 1; value >= least && value <= most)
    return value;
  return fail(ErrorCode::invalid_input,
              fmt::format("\"{}\": {} is not allowed", key, found->dump().substr(0, 40)),
              fmt::format("give a whole number from {} to {}", least, most));
}

namespace {

Result<std::optional<double>> number_within(const Json& object, std::string_view key, double least,
                                            double most) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::optional<double>{};
  if (found->is_number())
    if (const auto value = found->get<double>(); value >= least && value <= most) return value;
  return fail(ErrorCode::invalid_input,
              fmt::format("\"{}\": {} is not allowed", key, found->dump().substr(0, 40)),
              fmt::format("give a number from {} to {}", least, most));
}

}  // namespace

Result<std::optional<double>> Body::amount(std::string_view key, double most) const {
  return number_within(object_, key, 0, most);
}
Result<std::optional<double>> Body::signed_amount(std::string_view key, double most) const {
  return number_within(object_, key, -most, most);
}

Result<bool> Body::flag(std::string_view key) const {
  const auto found = object_.find(key);
  if (found == object_.end() || found->is_null()) return false;
  if (found->is_boolean()) return found->get<bool>();
  return fail(ErrorCode::invalid_input, fmt::format("\"{}\" is neither true nor false", key),
              "give one of them, without quotes");
}

}  // namespace tidewatt::api
