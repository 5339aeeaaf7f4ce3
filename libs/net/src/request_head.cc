#include "request_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "url.h"

namespace tidewatt::net {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t kMaxRequestId = 128;

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

std::string lower(std::string_view text) {
  std::string out{text};
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return out;
}

bool is_sane_id(std::string_view id) {
  return !id.empty() && id.size() <= kMaxRequestId && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '.';
  });
}

Response bad_request(std::string_view detail) { return problem(400, "bad_request", "Bad request", detail); }

void copy_headers(const BeastRequest& message, Headers& headers) {
  for (const auto& field : message) {
    auto [place, is_new] = headers.try_emplace(lower(view(field.name_string())), view(field.value()));
    if (is_new) continue;
    place->second += place->first == "cookie" ? "; " : ", ";
    place->second += view(field.value());
  }
}

/// Where does the message end? Whatever two programs in a row could answer differently is refused.
std::optional<Response> check_framing(const BeastRequest& message, CheckedHead& head) {
  const auto lengths = message.count(http::field::content_length);
  const auto codings = message.count(http::field::transfer_encoding);
  if (lengths > 1) return bad_request("send one Content-Length only");
  if (lengths == 1 && codings != 0) return bad_request("send Content-Length or Transfer-Encoding, not both");
  if (codings > 1 || (codings == 1 && message.version() < 11))
    return bad_request("send one Transfer-Encoding only, and with HTTP/1.1");
  if (codings == 1) {
    if (lower(view(message[http::field::transfer_encoding])) != "chunked")
      return problem(501, "transfer_coding_unsupported", "Transfer coding unsupported",
                     "the only transfer coding supported is \"chunked\"");
    head.has_body = true;
  }
  if (lengths == 1) {
    const auto text = view(message[http::field::content_length]);
    std::uint64_t length = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    if (error != std::errc{} || end != text.data() + text.size())
      return bad_request("Content-Length is not a whole number of bytes");
    head.content_length = length;
    head.has_body = length > 0;
  }
  return std::nullopt;
}

std::optional<Encoding> encoding_of(const BeastRequest& message, const OwnEncodings& own_encodings,
                                    const std::string& path) {
  const auto name = view(message[http::field::content_encoding]);
  const auto own = own_encodings.find(path);
  if (own != own_encodings.end() && lower(name) == own->second) return Encoding::identity;
  return parse_encoding(name);
}

std::optional<Response> check_body_headers(const BeastRequest& message, std::size_t max_body_bytes,
                                           const OwnEncodings& own_encodings, CheckedHead& head) {
  const auto encoding = encoding_of(message, own_encodings, head.request.path);
  if (!encoding || message.count(http::field::content_encoding) > 1)
    return problem(415, "content_encoding_unsupported", "Content encoding unsupported",
                   "send the body as it is, or with Content-Encoding gzip or zstd");
  head.encoding = *encoding;
  if (head.content_length.value_or(0) > max_body_bytes)
    return problem(413, "body_too_large", "Body too large",
                   fmt::format("the body has {} bytes, the limit is {}: send several smaller requests",
                               *head.content_length, max_body_bytes));
  if (message.count(http::field::expect) > 0 && message.version() >= 11) {
    if (lower(view(message[http::field::expect])) != "100-continue")
      return problem(417, "expectation_failed", "Expectation failed",
                     "the only expectation known is 100-continue");
    head.expects_continue = head.has_body;
  }
  return std::nullopt;
}

}  // namespace

CheckedHead check_head(const BeastRequest& message, std::size_t max_body_bytes,
                       const OwnEncodings& own_encodings) {
  CheckedHead head;
  Request& request = head.request;
  copy_headers(message, request.headers);
  if (const auto id = request.header("x-request-id"); id && is_sane_id(*id)) request.request_id = *id;
  head.is_head = message.method() == http::verb::head;
  request.method = head.is_head ? "GET" : std::string{view(message.method_string())};

  if ((head.refusal = check_framing(message, head))) return head;
  const auto hosts = message.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && message.version() >= 11)) {
    head.refusal = bad_request("send one Host header");
    return head;
  }
  auto target = parse_target(view(message.target()));
  if (!target) {
    head.refusal = bad_request("the path or query is not properly percent-encoded");
    return head;
  }
  request.path = std::move(target->path);
  request.raw_path = std::move(target->raw_path);
  request.query = std::move(target->query);
  request.query_items = std::move(target->query_items);
  head.refusal = check_body_headers(message, max_body_bytes, own_encodings, head);
  return head;
}

}  // namespace tidewatt::net
