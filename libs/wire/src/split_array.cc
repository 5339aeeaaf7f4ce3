#include "split_array.h"

#include "tidewatt/wire/beat_json.h"

#include "tidewatt/units/text.h"

namespace tidewatt::wire {

std::optional<std::vector<std::string_view>> split_array(std::string_view text, std::size_t most) {
  text = trim(text);
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  if (trim(text).empty()) return std::vector<std::string_view>{};

  std::vector<std::string_view> elements;
  std::size_t depth = 0;
  std::size_t begin = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
      continue;
    }
    if (c == '"')
      in_string = true;
    else if (c == '{' || c == '[')
      ++depth;
    else if (c == '}' || c == ']') {
      if (depth == 0) return std::nullopt;
      --depth;
    } else if (c == ',' && depth == 0) {
      if (elements.size() >= most) return std::nullopt;
      elements.push_back(trim(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  if (in_string || depth != 0) return std::nullopt;
  elements.push_back(trim(text.substr(begin)));
  if (elements.size() > most) return std::nullopt;
  return elements;
}

std::vector<std::string_view> beat_texts(std::string_view body) {
  const auto first = body.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && body[first] == '{') return {body};
  return split_array(body, kMaxBeats).value_or(std::vector<std::string_view>{});
}

}  // namespace tidewatt::wire
