#include "tidewatt/agent/relay.h"

#include <utility>
#include <vector>

namespace tidewatt::agent {
namespace {

constexpr std::string_view kBearer = "Bearer ";

/// Takes the same time whatever differs.
bool same_secret(std::string_view a, std::string_view b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i] ^ b[b.empty() ? 0 : i % b.size()]);
  return difference == 0 && !a.empty();
}

}  // namespace

Relay::Relay(Spool& spool, const Clock& clock, TokenSource token)
    : spool_(spool), clock_(clock), token_(std::move(token)) {}

std::optional<net::Response> Relay::refuse(const net::Request& request) const {
  if (request.method != "POST")
    return net::problem(405, "method_not_allowed", "Method not allowed", "beats are posted here");
  const auto token = token_();
  if (!token)
    return net::problem(503, "unavailable", "Not available", "the relay can't read its own token file");
  if (!*token) return std::nullopt;
  const auto shown = request.headers.find("authorization");
  const bool known = shown != request.headers.end() && shown->second.starts_with(kBearer) &&
                     same_secret(std::string_view{shown->second}.substr(kBearer.size()), **token);
  if (known) return std::nullopt;
  return net::problem(401, "unauthorized", "Unauthorized", "show the relay's token as bearer token");
}

net::Response Relay::take(const net::Request& request) {
  if (auto refused = refuse(request)) return std::move(*refused);
  const std::lock_guard lock(mutex_);
  auto beats = parser_.parse(request.body);
  if (!beats) return net::problem(400, "invalid_body", "Invalid body", beats.error().to_string());

  std::vector<wire::BeatAnswer> answers(beats->size(), {"accepted", ""});
  std::vector<std::string> payloads;
  const auto texts = wire::beat_texts(request.body);
  for (std::size_t i = 0; i < beats->size(); ++i) {
    auto& beat = (*beats)[i];
    if (!beat) {
      answers[i] = {"rejected", beat.error().to_string()};
      continue;
    }
    // A beat without a time was sampled now, not when it reaches the server.
    const bool as_it_came = beat->sampled_at && texts.size() == beats->size();
    if (!beat->sampled_at) beat->sampled_at = clock_.utc_now();
    payloads.push_back(as_it_came ? std::string{texts[i]} : wire::to_json(*beat));
  }
  const std::size_t beats_taken = payloads.size();
  if (!payloads.empty() && !spool_.append(std::move(payloads))) {
    // Kept in memory and sent from there, but who sent it keeps it too until a disk has it.
    for (auto& answer : answers)
      if (answer.status == "accepted") answer = {"retry", "the relay's disk takes nothing; send again later"};
  } else {
    taken_ += beats_taken;
  }
  return {200, {{"content-type", "application/json"}}, wire::answers_to_json(answers)};
}

}  // namespace tidewatt::agent
