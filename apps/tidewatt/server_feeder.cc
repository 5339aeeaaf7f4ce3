#include "server_feeder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tidewatt/base/log.h"
#include "tidewatt/wire/beat_json.h"

namespace tidewatt::cli {
namespace {
constexpr std::size_t kBatch = 200;
constexpr Milliseconds kBackOff{500};
}  // namespace

Feeder::Feeder(std::string url, std::string agent_token, std::string ops_token,
               std::function<bool(Milliseconds)> wait)
    : url_(std::move(url)),
      agent_token_(std::move(agent_token)),
      ops_token_(std::move(ops_token)),
      wait_(std::move(wait)),
      client_(net::make_http_client({})) {}

bool Feeder::post(const std::vector<Beat>& beats) {
  for (std::size_t begin = 0; begin < beats.size(); begin += kBatch) {
    std::vector<std::string> texts;
    for (std::size_t i = begin; i < std::min(begin + kBatch, beats.size()); ++i)
      texts.push_back(wire::to_json(beats[i]));
    // A beat that was taken before the answer got lost is a duplicate the next time, so the whole batch can
    // be resent.
    while (post_once(texts) == Sent::again)
      if (wait_(kBackOff)) return false;
  }
  return !wait_(Milliseconds{0});
}

Feeder::Sent Feeder::post_once(const std::vector<std::string>& texts) {
  net::ClientRequest request;
  request.method = "POST";
  request.url = url_ + "/api/v1/heartbeats";
  request.headers["authorization"] = "Bearer " + agent_token_;
  request.headers["content-type"] = "application/json";
  request.body = wire::join_array(texts);
  const auto response = client_->send(request);
  if (!response || response->status != 200) {
    if (!std::exchange(failing_, true))
      log::warning("beats were not taken, trying again",
                   {{"why", response ? fmt::format("status {} {}", response->status, response->body)
                                     : response.error().to_string()}});
    return Sent::again;
  }
  if (std::exchange(failing_, false)) log::info("beats are taken again");
  const auto answers = wire::answers_from_json(response->body);
  if (!answers || answers->size() != texts.size()) return Sent::again;
  if (std::any_of(answers->begin(), answers->end(),
                  [](const auto& answer) { return answer.status == "retry"; }))
    return Sent::again;
  for (const auto& answer : *answers) {
    if (answer.status == "accepted") ++counts_.accepted;
    if (answer.status == "duplicate") ++counts_.duplicate;
    if (answer.status != "rejected") continue;
    ++counts_.rejected;
    counts_.last_reason = answer.reason;
  }
  return Sent::all;
}

Result<std::string> Feeder::get(const std::string& path_and_query) {
  net::ClientRequest request;
  request.url = url_ + path_and_query;
  request.headers["authorization"] = "Bearer " + ops_token_;
  TW_TRY(auto response, client_->send(request));
  if (response.status != 200)
    return fail(ErrorCode::unavailable, fmt::format("{}: status {}", path_and_query, response.status));
  return std::move(response.body);
}

Status Feeder::send(const std::string& method, const std::string& path, const std::string& body) {
  net::ClientRequest request;
  request.method = method;
  request.url = url_ + path;
  request.headers["authorization"] = "Bearer " + ops_token_;
  request.headers["content-type"] = "application/json";
  request.body = body;
  TW_TRY(const auto response, client_->send(request));
  if (response.status / 100 != 2)
    return fail(ErrorCode::unavailable,
                fmt::format("{} {}: status {} {}", method, path, response.status, response.body));
  return {};
}

}  // namespace tidewatt::cli
