#include "tools/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tidewatt/units/text.h"
#include "tools/samples.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

std::size_t json_begin(std::string_view text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = text.find('\n', begin);
    const auto line = text.substr(begin, end == std::string_view::npos ? end : end - begin);
    begin = end == std::string_view::npos ? text.size() : end + 1;
    const auto content = trim(line);
    // "[WARNING] ..." is a message, not a list.
    if (content.starts_with('{') || content == "[" || content.starts_with("[{") || content.starts_with("[ {"))
      return static_cast<std::size_t>(content.data() - text.data());
  }
  return std::string_view::npos;
}

// Up to the bracket that closes the first one; npos = none does.
std::size_t json_length(std::string_view text) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

}  // namespace

bool has_json(std::string_view text) { return json_begin(text) != std::string_view::npos; }

bool is_too_deep(std::string_view text) {
  constexpr std::size_t kDeepest = 64;
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\') ++i;
    if (c == '\n') in_string = false;  // a string of JSON ends on its line
    if (in_string) continue;
    if ((c == '{' || c == '[') && ++depth > kDeepest) return true;
    if ((c == '}' || c == ']') && depth > 0) --depth;
  }
  return false;
}

Result<nlohmann::json> json_in(std::string_view tool, std::string_view text) {
  const auto begin = json_begin(text);
  if (begin == std::string_view::npos) return layout_error(tool, 1, "JSON", text.substr(0, text.find('\n')));
  try {
    return nlohmann::json::parse(text.substr(begin));
  } catch (const nlohmann::json::parse_error& error) {
    const auto at = std::min(begin + error.byte, text.size());
    const auto line = 1 + static_cast<std::size_t>(
                              std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    return layout_error(tool, line, "well-formed JSON",
                        lines_of(text)[std::min(line, lines_of(text).size()) - 1]);
  } catch (const nlohmann::json::exception&) {
    return layout_error(tool, 1, "JSON with numbers that can be held", text.substr(begin, 40));
  }
}

std::vector<std::string_view> json_documents(std::string_view text, bool& last_is_cut) {
  std::vector<std::string_view> documents;
  last_is_cut = false;
  for (auto begin = json_begin(text); begin != std::string_view::npos; begin = json_begin(text)) {
    const auto length = json_length(text.substr(begin));
    documents.push_back(text.substr(begin, length));
    if (length == std::string_view::npos) {
      last_is_cut = true;
      break;
    }
    text.remove_prefix(begin + length);
  }
  return documents;
}

Result<ToolReadings> read_json_samples(std::string_view text,
                                       const std::function<Result<ToolReadings>(std::string_view)>& parse) {
  bool last_is_cut = false;
  const auto documents = json_documents(text, last_is_cut);
  if (documents.size() == 1 && last_is_cut) return parse(text);  // its error tells the line
  return read_samples(documents, last_is_cut, parse);
}

std::string printed(const nlohmann::json& value) {
  if (value.is_string()) return std::string{trim(value.get_ref<const std::string&>())};
  if (value.is_number() || value.is_boolean()) return value.dump();
  if (value.is_null()) return "null";
  if (value.is_object()) {
    const auto* number = member(value, "value");
    if (number == nullptr || number->is_structured()) return "object";
    const auto* unit = member(value, "unit");
    return printed(*number) +
           (unit != nullptr && unit->is_string() && !printed(*unit).empty() ? " " + printed(*unit) : "");
  }
  return "list";
}

const nlohmann::json* member(const nlohmann::json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  for (const auto& [key, value] : object.items())
    if (same_ignoring_case(trim(key), name)) return &value;
  return nullptr;
}

}  // namespace tidewatt::metering::tools
