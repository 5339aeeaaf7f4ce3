#include "url.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tidewatt/net/client.h"

namespace tidewatt::net {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_visible(char c) { return c > 0x20 && c < 0x7f; }

std::optional<std::string> decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_value(text[i + 1]);
      const int low = hex_value(text[i + 2]);
      if (high < 0 || low < 0 || high + low == 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

/// Cuts "http://" or "https://" off, in any case of letters. nullopt when it is neither; else: is it TLS?
std::optional<bool> take_scheme(std::string_view& text) {
  const auto starts_with = [&](std::string_view scheme) {
    return text.size() >= scheme.size() &&
           std::equal(scheme.begin(), scheme.end(), text.begin(),
                      [](char a, char b) { return a == (b | 0x20) || a == b; });
  };
  for (const auto& [scheme, tls] :
       {std::pair<std::string_view, bool>{"http://", false}, {"https://", true}}) {
    if (!starts_with(scheme)) continue;
    text.remove_prefix(scheme.size());
    return tls;
  }
  return std::nullopt;
}

/// The URL as it may be shown: what stands before "@" can be a password.
std::string without_user(std::string_view url) {
  const auto scheme = url.find("://");
  const auto begin = scheme == std::string_view::npos ? 0 : scheme + 3;
  const auto authority = url.substr(begin, url.substr(begin).find_first_of("/?#"));
  const auto at = authority.rfind('@');
  if (at == std::string_view::npos) return std::string{url};
  return fmt::format("{}...{}", url.substr(0, begin), url.substr(begin + at));
}

}  // namespace

std::optional<std::string> percent_decode(std::string_view text) { return decode(text, false); }

std::optional<QueryItems> parse_query_items(std::string_view text) {
  QueryItems items;
  while (!text.empty()) {
    const auto end = std::min(text.find('&'), text.size());
    const auto pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    const auto equals = std::min(pair.find('='), pair.size());
    auto key = decode(pair.substr(0, equals), true);
    auto value = decode(pair.substr(std::min(equals + 1, pair.size())), true);
    if (!key || !value) return std::nullopt;
    items.emplace_back(std::move(*key), std::move(*value));
  }
  return items;
}

std::optional<Query> parse_query(std::string_view text) {
  auto items = parse_query_items(text);
  if (!items) return std::nullopt;
  Query query;
  for (auto& [key, value] : *items) query.insert_or_assign(std::move(key), std::move(value));
  return query;
}

std::optional<Target> parse_target(std::string_view text) {
  if (!std::all_of(text.begin(), text.end(), [](char c) { return is_visible(c) || (c & 0x80) != 0; }))
    return std::nullopt;
  if (text == "*") return Target{"*", "*", {}, {}};
  if (take_scheme(text)) text.remove_prefix(std::min(text.find_first_of("/?#"), text.size()));
  text = text.substr(0, text.find('#'));
  const auto question = std::min(text.find('?'), text.size());
  Target target;
  target.raw_path = text.substr(0, question);
  if (target.raw_path.empty()) target.raw_path = "/";
  if (target.raw_path.front() != '/') return std::nullopt;
  auto path = percent_decode(target.raw_path);
  auto items = parse_query_items(text.substr(std::min(question + 1, text.size())));
  if (!path || !items) return std::nullopt;
  target.path = std::move(*path);
  for (const auto& [key, value] : *items) target.query.insert_or_assign(key, value);
  target.query_items = std::move(*items);
  return target;
}

Result<Url> parse_url(std::string_view text) {
  const auto bad = [whole = without_user(text)](std::string_view why) {
    return fail(ErrorCode::invalid_input, fmt::format("not a URL to call: \"{}\": {}", whole, why),
                "write it as https://host:port/path");
  };
  if (!std::all_of(text.begin(), text.end(), is_visible))
    return bad("it holds a space or a control character");
  const auto tls = take_scheme(text);
  if (!tls) return bad("it starts with neither http:// nor https://");
  text = text.substr(0, text.find('#'));
  const auto authority_end = std::min(text.find_first_of("/?"), text.size());
  std::string_view authority = text.substr(0, authority_end);
  if (authority.find('@') != std::string_view::npos) return bad("user names in URLs are not supported");

  Url url;
  url.tls = *tls;
  url.port = *tls ? 443 : 80;
  url.target = text.substr(authority_end);
  if (url.target.empty() || url.target.front() == '?') url.target.insert(0, "/");
  std::string_view port;
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    if (close == std::string_view::npos) return bad("\"[\" without \"]\"");
    url.host = authority.substr(1, close - 1);
    authority.remove_prefix(close + 1);
    if (!authority.empty() && authority.front() != ':') return bad("after \"]\" only a port may stand");
    if (!authority.empty()) port = authority.substr(1);
  } else {
    const auto colon = std::min(authority.find(':'), authority.size());
    url.host = authority.substr(0, colon);
    if (colon < authority.size()) port = authority.substr(colon + 1);
  }
  if (url.host.empty()) return bad("it has no host");
  const bool is_ipv6 = url.host.find(':') != std::string::npos;
  const std::uint16_t usual_port = url.port;
  if (!port.empty()) {
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), url.port);
    if (error != std::errc{} || end != port.data() + port.size() || url.port == 0)
      return bad(fmt::format("port \"{}\" is not in 1..65535", port));
  }
  url.host_header = is_ipv6 ? fmt::format("[{}]", url.host) : url.host;
  if (url.port != usual_port) url.host_header += fmt::format(":{}", url.port);
  return url;
}

std::string server_url_problem(std::string_view text) {
  const auto url = parse_url(text);
  if (!url) return fmt::format("{}; {}", url.error().message, url.error().hint);
  if (text.find_first_of("?#") != std::string_view::npos)
    return fmt::format("\"{}\" is no server's URL: leave out what follows the path", text);
  return {};
}

}  // namespace tidewatt::net
