#include "tidewatt/net/http.h"

#include <nlohmann/json.hpp>

namespace tidewatt::net {
namespace {

std::optional<std::string_view> find(const Headers& map, std::string_view key) {
  const auto found = map.find(key);
  if (found == map.end()) return std::nullopt;
  return found->second;
}

}  // namespace

std::optional<std::string_view> Request::header(std::string_view lower_case_name) const {
  return find(headers, lower_case_name);
}

std::optional<std::string_view> Request::parameter(std::string_view name) const { return find(query, name); }

std::vector<std::string> Request::parameters(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : query_items)
    if (key == name) values.push_back(value);
  return values;
}

Response problem(int status, std::string_view code, std::string_view title, std::string_view detail) {
  nlohmann::ordered_json body;
  body["type"] = "https://tidewatt.dev/problems/" + std::string{code};
  body["title"] = title;
  body["status"] = status;
  body["detail"] = detail;
  body["code"] = code;
  // The detail may quote foreign bytes that aren't UTF-8.
  return Response{status,
                  {{"content-type", "application/problem+json"}},
                  body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)};
}

Response json_response(int status, std::string body) {
  return Response{status, {{"content-type", "application/json"}}, std::move(body)};
}

}  // namespace tidewatt::net
