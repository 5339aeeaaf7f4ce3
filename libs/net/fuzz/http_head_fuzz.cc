// Heads of requests as they come from a socket: cut anywhere they read the same, and what is let through says
// in one way only where its body ends.
#include <boost/beast/http/parser.hpp>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "../src/head_scanner.h"
#include "../src/request_head.h"
#include "../src/url.h"

namespace {

using State = tidewatt::net::HeadScanner::State;

void check(bool holds) {
  if (!holds) std::abort();
}

void parse(std::string_view head) {
  constexpr std::size_t kMaxBody = 8U << 20U;
  boost::beast::http::request_parser<boost::beast::http::string_body> parser;
  parser.header_limit(16U << 10U);
  parser.body_limit(kMaxBody);
  boost::beast::error_code error;
  parser.put(boost::asio::buffer(head.data(), head.size()), error);
  if (error || !parser.is_header_done()) return;
  const auto& message = parser.get();
  const auto checked = tidewatt::net::check_head(message, kMaxBody);
  if (checked.refusal) return check(checked.refusal->status >= 400);
  check(message.count("Transfer-Encoding") == 0 || message.count("Content-Length") == 0);
  check(message.count("Host") == 1 || message.version() == 10);
  check(!checked.content_length || *checked.content_length <= kMaxBody);
  check(checked.request.path.starts_with('/') || checked.request.path == "*");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes{reinterpret_cast<const char*>(data) + 1, size - 1};
  constexpr std::size_t kMaxHead = 16U << 10U;
  tidewatt::net::HeadScanner whole{kMaxHead};
  const auto state = whole.scan(bytes);
  tidewatt::net::HeadScanner cut{kMaxHead};
  auto cut_state = cut.scan(bytes.substr(0, data[0] % (bytes.size() + 1)));
  if (cut_state == State::incomplete) cut_state = cut.scan(bytes);
  check(state == cut_state);
  if (state == State::malformed) check(!whole.reason().empty());
  if (state != State::complete) return 0;
  check(whole.size() == cut.size() && whole.size() <= bytes.size());
  parse(bytes.substr(0, whole.size()));
  return 0;
}
