#include "response_text.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "tidewatt/net/compress.h"

namespace tidewatt::net {
namespace {

constexpr std::size_t kWorthCompressing = 1024;

std::string_view trim(std::string_view text) {
  const auto begin = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Status";
  }
}

bool is_compressible(const Headers& headers) {
  const auto type = headers.find("content-type");
  if (type == headers.end()) return false;
  const std::string_view value = type->second;
  if (value.starts_with("text/")) return !value.starts_with("text/event-stream");
  for (const std::string_view part : {"json", "javascript", "xml", "wasm", "yaml"})
    if (value.find(part) != std::string_view::npos) return true;
  return false;
}

/// Is written by us, whatever the handler says.
bool is_ours(std::string_view name) {
  return name == "content-length" || name == "connection" || name == "transfer-encoding" || name == "date" ||
         name == "x-request-id";
}

}  // namespace

bool accepts_gzip(std::string_view accept_encoding) {
  bool any = false;
  while (!accept_encoding.empty()) {
    const auto end = std::min(accept_encoding.find(','), accept_encoding.size());
    const auto item = accept_encoding.substr(0, end);
    accept_encoding.remove_prefix(std::min(end + 1, accept_encoding.size()));
    const auto semicolon = std::min(item.find(';'), item.size());
    const auto name = trim(item.substr(0, semicolon));
    const auto weight = trim(item.substr(std::min(semicolon + 1, item.size())));
    const bool refused =
        weight.starts_with("q=0") && weight.find_first_not_of("0.", 2) == std::string_view::npos;
    if (name == "gzip") return !refused;
    if (name == "*") any = !refused;
  }
  return any;
}

void compress_when_wanted(Response& response, std::string_view accept_encoding) {
  if (response.body.size() <= kWorthCompressing || response.headers.contains("content-encoding") ||
      !is_compressible(response.headers))
    return;
  auto& vary = response.headers["vary"];
  vary += vary.empty() ? "Accept-Encoding" : ", Accept-Encoding";
  if (!accepts_gzip(accept_encoding)) return;
  response.body = gzip(response.body);
  response.headers["content-encoding"] = "gzip";
}

void stamp_problem(Response& response, std::string_view request_id) {
  const auto type = response.headers.find("content-type");
  if (type == response.headers.end() || type->second != "application/problem+json") return;
  if (!response.body.ends_with('}') || response.body.find("\"request_id\":") != std::string::npos) return;
  response.body.pop_back();
  response.body += fmt::format("{}\"request_id\":\"{}\"}}", response.body == "{" ? "" : ",", request_id);
}

bool has_body(int status) { return status >= 200 && status != 204 && status != 304; }

std::string head_text(const Response& response, const Envelope& envelope) {
  std::string text = fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_of(response.status));
  for (const auto& [name, value] : response.headers) {
    if (is_ours(name)) continue;
    text += name;
    text += ": ";
    for (const char c : value) text += c == '\r' || c == '\n' || c == '\0' ? ' ' : c;
    text += "\r\n";
  }
  if (has_body(response.status)) text += fmt::format("content-length: {}\r\n", response.body.size());
  text += fmt::format("date: {}\r\n", envelope.date);
  if (!envelope.request_id.empty()) text += fmt::format("x-request-id: {}\r\n", envelope.request_id);
  if (!envelope.keep_alive) {
    text += "connection: close\r\n";
  } else if (envelope.http_1_0) {
    text += "connection: keep-alive\r\n";
  }
  text += "\r\n";
  return text;
}

std::string http_date(std::int64_t unix_seconds) {
  static constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const time_t seconds = unix_seconds;
  tm at{};
  ::gmtime_r(&seconds, &at);
  return fmt::format(
      "{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kDays.at(static_cast<std::size_t>(at.tm_wday)), at.tm_mday,
      kMonths.at(static_cast<std::size_t>(at.tm_mon)), at.tm_year + 1900, at.tm_hour, at.tm_min, at.tm_sec);
}

}  // namespace tidewatt::net
