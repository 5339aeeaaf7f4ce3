#include <simdjson.h>

#include "json_text.h"
#include "tidewatt/wire/beat_json.h"

namespace tidewatt::wire {

std::string answers_to_json(const std::vector<BeatAnswer>& answers) {
  std::string out;
  out.reserve(32 + answers.size() * 24);
  out += "{\"results\":[";
  for (const auto& answer : answers) {
    if (&answer != &answers.front()) out += ',';
    ObjectWriter o(out);
    o.text("status", answer.status);
    o.text_if("reason", answer.reason);
  }
  out += "]}";
  return out;
}

Result<std::vector<BeatAnswer>> answers_from_json(std::string_view body) {
  simdjson::dom::parser parser;
  simdjson::dom::array results;
  if (body.empty() ||
      parser.parse(body.data(), body.size(), true)["results"].get(results) != simdjson::SUCCESS)
    return fail(ErrorCode::invalid_input, "the server's answer has no \"results\"",
                "is the URL that of a tidewatt server?");
  std::vector<BeatAnswer> answers;
  for (const auto result : results) {
    std::string_view status;
    std::string_view reason;
    if (result["status"].get(status) != simdjson::SUCCESS)
      return fail(ErrorCode::invalid_input, "an entry of the server's answer has no \"status\"");
    if (result["reason"].get(reason) != simdjson::SUCCESS) reason = {};
    answers.push_back({std::string(status), std::string(reason)});
  }
  return answers;
}

}  // namespace tidewatt::wire
