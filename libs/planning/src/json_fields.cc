#include "json_fields.h"

#include <algorithm>
#include <cmath>

#include "tidewatt/units/text.h"

namespace tidewatt::planning {
namespace {

constexpr std::size_t kShownBytes = 60;

std::string kind_of(Element value) {
  switch (value.type()) {
    case simdjson::dom::element_type::ARRAY:
      return "a list";
    case simdjson::dom::element_type::OBJECT:
      return "an object";
    case simdjson::dom::element_type::STRING:
      return "a text";
    case simdjson::dom::element_type::BOOL:
      return "true or false";
    case simdjson::dom::element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

std::string not_a(std::string_view wanted, Element value) {
  return "must be " + std::string{wanted} + ", is " + kind_of(value);
}

}  // namespace

std::string shown(std::string_view text) {
  std::string result;
  for (const char c : text.substr(0, kShownBytes))
    result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  while (text.size() > kShownBytes && !result.empty() &&
         (static_cast<unsigned char>(result.back()) & 0xC0U) == 0x80U)
    result.pop_back();
  return text.size() > kShownBytes ? result + "..." : result;
}

std::string JsonPath::text() const {
  if (parent == nullptr) return "$";
  const auto before = parent->text();
  if (index) return before + "[" + std::to_string(*index) + "]";
  return before + "." + shown(key);
}

void Refusal::refuse(std::string_view word, const std::string& path, const std::string& what) {
  if (!error_) error_ = Error{ErrorCode::invalid_input, std::string{word} + ": " + path + ": " + what, ""};
}

double read_number(Element value, const JsonPath& path, Refusal& refusal, double least) {
  double number = 0;
  if (value.get(number) != simdjson::SUCCESS) {
    refusal.refuse("bad_type", path.text(), not_a("a number", value));
    return 0;
  }
  if (!std::isfinite(number) || number < least) {
    refusal.refuse("bad_value", path.text(), format_double(number) + " is below " + format_double(least));
    return 0;
  }
  return number;
}

std::int64_t read_integer(Element value, const JsonPath& path, Refusal& refusal, std::int64_t least,
                          std::int64_t most) {
  double number = 0;
  if (value.get(number) != simdjson::SUCCESS) {
    refusal.refuse("bad_type", path.text(), not_a("a whole number", value));
    return least;
  }
  if (number != std::floor(number)) {
    refusal.refuse("bad_value", path.text(), format_double(number) + " is no whole number");
    return least;
  }
  if (number < static_cast<double>(least) || number > static_cast<double>(most)) {
    refusal.refuse(
        "bad_value", path.text(),
        format_double(number) + " is not from " + std::to_string(least) + " to " + std::to_string(most));
    return least;
  }
  return static_cast<std::int64_t>(number);
}

std::string_view read_string(Element value, const JsonPath& path, Refusal& refusal) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) refusal.refuse("bad_type", path.text(), not_a("a text", value));
  return text;
}

std::optional<simdjson::dom::array> read_array(Element value, const JsonPath& path, Refusal& refusal,
                                               std::size_t most) {
  simdjson::dom::array list;
  if (value.get(list) != simdjson::SUCCESS) {
    refusal.refuse("bad_type", path.text(), not_a("a list", value));
    return std::nullopt;
  }
  // simdjson keeps sizes up to 2^24 - 1 only; more than that is too many for any list here.
  if (list.size() > most) {
    refusal.refuse("too_large", path.text(),
                   "has " + std::to_string(list.size()) + " entries, at most " + std::to_string(most));
    return std::nullopt;
  }
  return list;
}

JsonFields::JsonFields(Element value, const JsonPath& path, Refusal& refusal)
    : path_(path), refusal_(refusal) {
  simdjson::dom::object object;
  if (value.get(object) != simdjson::SUCCESS) {
    refusal_.refuse("bad_type", path_.text(), not_a("an object", value));
    return;
  }
  fields_.reserve(object.size());
  for (const auto field : object) fields_.push_back({field.key, field.value, false});
  if (fields_.size() > 1) {
    std::vector<std::string_view> keys;
    keys.reserve(fields_.size());
    for (const auto& field : fields_) keys.push_back(field.key);
    std::sort(keys.begin(), keys.end());
    const auto twice = std::adjacent_find(keys.begin(), keys.end());
    if (twice != keys.end()) refusal_.refuse("bad_json", at(*twice).text(), "stands there twice");
  }
}

std::optional<Element> JsonFields::find(std::string_view key) {
  for (auto& field : fields_)
    if (field.key == key) {
      field.asked = true;
      return field.value;
    }
  return std::nullopt;
}

std::optional<Element> JsonFields::find_not_null(std::string_view key) {
  const auto value = find(key);
  return value && value->is_null() ? std::nullopt : value;
}

std::optional<Element> JsonFields::require(std::string_view key) {
  auto value = find(key);
  if (!value) refuse("missing_key", key, "is required");
  return value;
}

double JsonFields::number(std::string_view key, double otherwise, double least) {
  const auto value = find(key);
  return value ? read_number(*value, at(key), refusal_, least) : otherwise;
}

std::int64_t JsonFields::integer(std::string_view key, std::int64_t otherwise, std::int64_t least,
                                 std::int64_t most) {
  const auto value = find(key);
  return value ? read_integer(*value, at(key), refusal_, least, most) : otherwise;
}

bool JsonFields::boolean(std::string_view key, bool otherwise) {
  const auto value = find(key);
  if (!value) return otherwise;
  bool result = otherwise;
  if (value->get(result) != simdjson::SUCCESS) refuse("bad_type", key, not_a("true or false", *value));
  return result;
}

std::string_view JsonFields::string(std::string_view key, std::string_view otherwise) {
  const auto value = find(key);
  return value ? read_string(*value, at(key), refusal_) : otherwise;
}

std::string_view JsonFields::required_string(std::string_view key) {
  const auto value = require(key);
  return value ? read_string(*value, at(key), refusal_) : std::string_view{};
}

double JsonFields::required_number(std::string_view key, double least) {
  const auto value = require(key);
  return value ? read_number(*value, at(key), refusal_, least) : 0;
}

std::int64_t JsonFields::required_integer(std::string_view key, std::int64_t least, std::int64_t most) {
  const auto value = require(key);
  return value ? read_integer(*value, at(key), refusal_, least, most) : least;
}

void JsonFields::refuse(std::string_view word, std::string_view key, const std::string& what) {
  refusal_.refuse(word, at(key).text(), what);
}

void JsonFields::no_others() {
  for (const auto& field : fields_)
    if (!field.asked && !field.key.starts_with("x_")) {
      refuse("unknown_key", field.key, "is no key of a plan file here; keys of your own begin with x_");
      return;
    }
}

}  // namespace tidewatt::planning
