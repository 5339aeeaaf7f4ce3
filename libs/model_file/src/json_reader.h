// JSON of strangers: bounded depth, finite numbers, every error names its field.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"

namespace tidewatt::model_file {

/// @error invalid_input  not well-formed, nested deeper than 32, or not an object
Result<nlohmann::json> parse_object(std::string_view text);

tl::unexpected<Error> bad(const std::string& field, const std::string& what);
/// A field's value as an error shows it, cut short.
std::string shown(const nlohmann::json& value);

/// A member; nullptr when missing or null.
const nlohmann::json* find(const nlohmann::json& object, const char* name);

Result<double> to_number(const nlohmann::json& value, const std::string& field);
Result<std::size_t> to_count(const nlohmann::json& value, const std::string& field, std::size_t most);
Result<std::vector<std::size_t>> to_counts(const nlohmann::json& value, const std::string& field,
                                           std::size_t most);
Result<std::vector<std::vector<std::size_t>>> to_lists(const nlohmann::json& value, const std::string& field);
Result<std::vector<double>> to_numbers(const nlohmann::json& value, const std::string& field);

/// {"shape":[...],"data":[...]} whose data fits its shape.
struct Array {
  std::vector<std::size_t> shape;
  std::vector<double> data;
};
Result<Array> to_array(const nlohmann::json& value, const std::string& field);

/// Optional members: `otherwise` when missing or null.
Result<double> number_or(const nlohmann::json& object, const char* name, double otherwise);
Result<bool> flag_or(const nlohmann::json& object, const char* name, bool otherwise);
Result<std::size_t> count_or(const nlohmann::json& object, const char* name, std::size_t otherwise,
                             std::size_t most);
Result<std::string> text_or(const nlohmann::json& object, const char* name, const std::string& otherwise);

}  // namespace tidewatt::model_file
