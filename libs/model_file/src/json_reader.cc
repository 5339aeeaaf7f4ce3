#include "json_reader.h"

#include <fmt/format.h>

#include <cmath>

namespace tidewatt::model_file {
namespace {

constexpr int kDeepest = 32;
constexpr std::size_t kMostNumbers = std::size_t{1} << 24;

/// The deepest nesting of brackets outside strings.
int depth_of(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

Result<nlohmann::json> parse_object(std::string_view text) {
  if (depth_of(text) > kDeepest)
    return fail(ErrorCode::invalid_input, "nested deeper than 32 levels", "a model file has 8 at most");
  auto parsed = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
  if (parsed.is_discarded()) return fail(ErrorCode::invalid_input, "not well-formed JSON");
  if (!parsed.is_object()) return fail(ErrorCode::invalid_input, "not a JSON object");
  return parsed;
}

tl::unexpected<Error> bad(const std::string& field, const std::string& what) {
  return fail(ErrorCode::invalid_input, field + ": " + what);
}

std::string shown(const nlohmann::json& value) {
  auto text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > 40) text = text.substr(0, 37) + "...";
  return text;
}

const nlohmann::json* find(const nlohmann::json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

Result<double> to_number(const nlohmann::json& value, const std::string& field) {
  if (!value.is_number()) return bad(field, shown(value) + " is not a number");
  const auto number = value.get<double>();
  if (!std::isfinite(number)) return bad(field, shown(value) + " is not finite");
  return number;
}

Result<std::size_t> to_count(const nlohmann::json& value, const std::string& field, std::size_t most) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() <= most) return value.get<std::size_t>();
  if (value.is_number_float()) {  // 2.0 is a count too
    const auto number = value.get<double>();
    if (number >= 0 && number <= static_cast<double>(most) && number == std::floor(number))
      return static_cast<std::size_t>(number);
  }
  return bad(field, fmt::format("{} is not a whole number from 0 to {}", shown(value), most));
}

Result<std::vector<std::size_t>> to_counts(const nlohmann::json& value, const std::string& field,
                                           std::size_t most) {
  if (!value.is_array()) return bad(field, shown(value) + " is not a list");
  std::vector<std::size_t> counts;
  for (const auto& one : value) {
    TW_TRY(const auto count, to_count(one, field, most));
    counts.push_back(count);
  }
  return counts;
}

Result<std::vector<std::vector<std::size_t>>> to_lists(const nlohmann::json& value,
                                                       const std::string& field) {
  if (!value.is_array()) return bad(field, shown(value) + " is not a list of lists");
  std::vector<std::vector<std::size_t>> lists;
  for (const auto& one : value) {
    TW_TRY(auto list, to_counts(one, field, 65535));
    lists.push_back(std::move(list));
  }
  return lists;
}

Result<std::vector<double>> to_numbers(const nlohmann::json& value, const std::string& field) {
  if (!value.is_array()) return bad(field, shown(value) + " is not a list");
  std::vector<double> numbers;
  numbers.reserve(value.size());
  for (const auto& one : value) {
    TW_TRY(const auto number, to_number(one, field));
    numbers.push_back(number);
  }
  return numbers;
}

Result<Array> to_array(const nlohmann::json& value, const std::string& field) {
  const auto* shape = find(value, "shape");
  const auto* data = find(value, "data");
  if (shape == nullptr || data == nullptr) return bad(field, shown(value) + " has no shape or data");
  Array array;
  TW_TRY(array.shape, to_counts(*shape, field + ".shape", 1U << 24));
  TW_TRY(array.data, to_numbers(*data, field + ".data"));
  if (array.shape.size() > 66) return bad(field + ".shape", "more than 66 axes");
  std::size_t product = 1;
  for (const auto n : array.shape) {
    if (n != 0 && product > kMostNumbers / n) return bad(field + ".shape", "more than 16 million numbers");
    product *= n;
  }
  if (product != array.data.size())
    return bad(field, fmt::format("{} numbers, its shape asks for {}", array.data.size(), product));
  return array;
}

Result<double> number_or(const nlohmann::json& object, const char* name, double otherwise) {
  const auto* value = find(object, name);
  return value == nullptr ? Result<double>{otherwise} : to_number(*value, name);
}

Result<bool> flag_or(const nlohmann::json& object, const char* name, bool otherwise) {
  const auto* value = find(object, name);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) return bad(name, shown(*value) + " is neither true nor false");
  return value->get<bool>();
}

Result<std::size_t> count_or(const nlohmann::json& object, const char* name, std::size_t otherwise,
                             std::size_t most) {
  const auto* value = find(object, name);
  return value == nullptr ? Result<std::size_t>{otherwise} : to_count(*value, name, most);
}

Result<std::string> text_or(const nlohmann::json& object, const char* name, const std::string& otherwise) {
  const auto* value = find(object, name);
  if (value == nullptr) return otherwise;
  if (!value->is_string()) return bad(name, shown(*value) + " is not a text");
  return value->get<std::string>();
}

}  // namespace tidewatt::model_file
