// JSON as tools print it: warnings before it, numbers as strings, values with a unit beside.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/metering/tool_parsers.h"

namespace tidewatt::metering::tools {

/// True if a line begins with '{' or '['.
bool has_json(std::string_view text);

/// Whether its brackets are nested deeper than any tool prints them: what walks through a document recurses.
bool is_too_deep(std::string_view text);

/// The document that starts at the first line beginning with '{' or '['.
/// @error invalid_input  not well-formed, with the line
Result<nlohmann::json> json_in(std::string_view tool, std::string_view text);

/// Each document of a text: a tool in a loop prints one after another, between warnings and remarks.
/// @param[out] last_is_cut  the last one's brackets aren't closed
std::vector<std::string_view> json_documents(std::string_view text, bool& last_is_cut);

/// The readings of all documents as samples, see samples.h.
Result<ToolReadings> read_json_samples(std::string_view text,
                                       const std::function<Result<ToolReadings>(std::string_view)>& parse);

/// A value as the text form would print it: 10 -> "10", {"value":10,"unit":"W"} -> "10 W", " 37.0" -> "37.0".
std::string printed(const nlohmann::json& value);

/// Member of an object by name, blanks around names ignored, case too; nullptr = none.
const nlohmann::json* member(const nlohmann::json& object, std::string_view name);

}  // namespace tidewatt::metering::tools
