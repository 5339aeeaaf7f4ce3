// The registry of problems: code, status, title. `detail` comes with the case and says what to do.
#include <algorithm>
#include <array>

#include "core.h"

namespace tidewatt::api {
namespace {

struct ProblemKind {
  std::string_view code;
  int status;
  std::string_view title;
};

constexpr std::array<ProblemKind, 15> kProblems{{
    {"invalid_request", 400, "The request can't be understood"},
    {"invalid_body", 400, "The body can't be understood"},
    {"not_signed_in", 401, "Not signed in"},
    {"invalid_token", 401, "The token is not valid"},
    {"forbidden", 403, "Not allowed for this role"},
    {"csrf", 403, "The CSRF header is missing"},
    {"not_found", 404, "No such thing"},
    {"method_not_allowed", 405, "Method not allowed"},
    {"conflict", 409, "Somebody else was first"},
    {"unsupported_media_type", 415, "Not a body of this kind"},
    {"rate_limited", 429, "Too many requests"},
    {"internal", 500, "An error of ours"},
    {"store_failed", 500, "The ledger's store failed"},
    {"unavailable", 503, "Not available now"},
    {"timed_out", 504, "Took too long"},
}};

/// Never leaves the server.
const std::string kInnerFailure = "x-inner-failure";

std::string_view code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_input:
      return "invalid_request";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::permission_denied:
      return "forbidden";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::timed_out:
      return "timed_out";
    case ErrorCode::conflict:
      return "conflict";
    case ErrorCode::io:
    case ErrorCode::corrupt:
      return "store_failed";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

}  // namespace

net::Response problem_answer(std::string_view code, std::string_view detail) {
  for (const auto& kind : kProblems) {
    if (kind.code != code) continue;
    Json body{{"type", "https://tidewatt.dev/problems/" + std::string{code}},
              {"title", kind.title},
              {"status", kind.status},
              {"detail", detail},
              {"code", code}};
    net::Response response;
    response.status = kind.status;
    response.headers["content-type"] = "application/problem+json";
    response.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (kind.status == 401) response.headers["www-authenticate"] = "Bearer";
    if (kind.status == 503) response.headers["retry-after"] = "2";
    return response;
  }
  return problem_answer("internal", detail);
}

net::Response problem_answer(const Error& error) {
  auto response = problem_answer(code_of(error.code), error.to_string());
  if (response.status >= 500) response.headers[kInnerFailure] = error.to_string();
  return response;
}

std::optional<std::string> conceal_inner_failure(net::Response& response, bool for_operator) {
  const auto marked = response.headers.find(kInnerFailure);
  if (marked == response.headers.end()) return std::nullopt;
  auto words = marked->second;
  response.headers.erase(marked);
  if (!for_operator) {
    const auto kind = std::find_if(kProblems.begin(), kProblems.end(),
                                   [&](const ProblemKind& known) { return known.status == response.status; });
    const auto told = problem_answer(
        kind == kProblems.end() ? "internal" : kind->code,
        "something that the server needs failed: try again later; an operator finds the reason in its log");
    response.body = told.body;
  }
  return words;
}

}  // namespace tidewatt::api
