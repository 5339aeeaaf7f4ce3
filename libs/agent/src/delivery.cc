#include "tidewatt/agent/delivery.h"

#include <fmt/format.h>

#include <algorithm>

#include "tidewatt/agent/backoff.h"
#include "tidewatt/wire/beat_json.h"

namespace tidewatt::agent {
namespace {

constexpr std::size_t kMaxShown = 200;

/// The start of a body, on one line, for a log.
std::string excerpt(std::string_view body) {
  std::string out(body.substr(0, kMaxShown));
  std::ranges::replace_if(out, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return out;
}

std::optional<std::string_view> header(const net::Response& response, std::string_view name) {
  const auto found = response.headers.find(name);
  if (found == response.headers.end()) return std::nullopt;
  return found->second;
}

void reject(Verdict& verdict, const std::string& reason, std::size_t at) {
  const auto same = std::ranges::find(verdict.rejections, reason, &Rejection::reason);
  if (same != verdict.rejections.end()) {
    ++same->beats;
  } else {
    verdict.rejections.push_back({reason, 1, at});
  }
}

Verdict judge_answers(const net::Response& response, std::size_t beats) {
  Verdict verdict;
  const auto answers = wire::answers_from_json(response.body);
  if (!answers || answers->size() != beats) {
    verdict.link = Link::misdirected;
    verdict.back_off = true;
    verdict.trouble =
        fmt::format("HTTP 200 without an answer per beat: \"{}\"; check the server's URL and version",
                    excerpt(response.body));
    return verdict;
  }
  verdict.link = Link::delivering;
  for (const auto& answer : *answers) {
    if (answer.status == "accepted") {
      ++verdict.accepted;
    } else if (answer.status == "duplicate") {
      ++verdict.duplicates;
    } else if (answer.status == "rejected") {
      reject(verdict, answer.reason, verdict.done);
    } else {
      // "retry", or a word of a newer server: kept. What follows is sent again with it, the server knows what
      // it has.
      verdict.back_off = true;
      break;
    }
    ++verdict.done;
  }
  return verdict;
}

/// A whole-body refusal. Only Tidewatt's own word costs a beat, never that of a proxy in between.
Verdict judge_refusal(const net::Response& response, std::size_t beats) {
  Verdict verdict;
  const auto type = header(response, "content-type");
  const bool ours = type && type->starts_with("application/problem+json");
  if (beats > 1) {
    verdict.link = Link::delivering;
    verdict.smaller_batches = true;
    verdict.back_off = !ours && response.status != 413;
  } else if (ours) {
    verdict.link = Link::delivering;
    verdict.done = 1;
    reject(verdict, fmt::format("HTTP {}: {}", response.status, excerpt(response.body)), 0);
  } else {
    verdict.link = Link::misdirected;
    verdict.back_off = true;
    verdict.trouble =
        fmt::format("HTTP {} from something that is no Tidewatt server: \"{}\"; check the server's URL",
                    response.status, excerpt(response.body));
  }
  return verdict;
}

}  // namespace

std::string_view to_string(Link link) {
  switch (link) {
    case Link::unknown:
      return "unknown";
    case Link::delivering:
      return "delivering";
    case Link::unreachable:
      return "unreachable";
    case Link::unauthorised:
      return "unauthorised";
    case Link::misdirected:
      return "misdirected";
  }
  return "unknown";
}

Verdict judge(const Result<net::Response>& answer, std::size_t beats, UtcTime now) {
  Verdict verdict;
  verdict.back_off = true;
  if (!answer) {
    verdict.trouble = answer.error().to_string();
    return verdict;
  }
  if (const auto after = header(*answer, "retry-after")) verdict.retry_after = parse_retry_after(*after, now);
  switch (answer->status) {
    case 200: {
      Verdict answered = judge_answers(*answer, beats);
      answered.retry_after = answered.back_off ? verdict.retry_after : std::nullopt;
      return answered;
    }
    case 401:
    case 403:
      verdict.link = Link::unauthorised;
      verdict.reread_token = true;
      verdict.trouble = fmt::format(
          "HTTP {}: {}", answer->status,
          answer->status == 401
              ? "the server doesn't know this token; write a valid agent token into the token file"
              : "this token may not send beats; give the agent a token of role agent");
      return verdict;
    case 400:
    case 413:
    case 415:
    case 422:
      return judge_refusal(*answer, beats);
    case 408:
    case 429:
      break;
    default:
      if (answer->status < 500) {
        verdict.link = Link::misdirected;
        verdict.trouble =
            fmt::format("HTTP {} from {}; check the server's URL", answer->status, "the beats' address");
        return verdict;
      }
  }
  verdict.trouble = fmt::format("HTTP {}: \"{}\"", answer->status, excerpt(answer->body));
  return verdict;
}

}  // namespace tidewatt::agent
