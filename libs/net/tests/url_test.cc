#include "../src/url.h"

#include <gtest/gtest.h>

#include "tidewatt/net/client.h"

namespace tidewatt::net {
namespace {

TEST(PercentDecode, DecodesAndRefusesHalves) {
  EXPECT_EQ(percent_decode("a%2Fb%c3%A9+"), "a/b\xc3\xa9+");
  EXPECT_EQ(percent_decode(""), "");
  for (const auto* bad : {"%", "%2", "%zz", "%2g", "a%", "%00"}) EXPECT_FALSE(percent_decode(bad)) << bad;
}

TEST(ParseQuery, IsFormDecodedAndKeepsTheLastValue) {
  EXPECT_EQ(parse_query("a=1&b=x+y%2B&a=2&&flag&e="),
            (Query{{"a", "2"}, {"b", "x y+"}, {"flag", ""}, {"e", ""}}));
  EXPECT_EQ(parse_query(""), Query{});
  EXPECT_EQ(parse_query_items("a=1&b=x&a=2&a="), (QueryItems{{"a", "1"}, {"b", "x"}, {"a", "2"}, {"a", ""}}));
  EXPECT_EQ(parse_query("a=b=c"), (Query{{"a", "b=c"}}));
  EXPECT_FALSE(parse_query("a=%"));
}

TEST(ParseTarget, TakesOriginAndAbsoluteForm) {
  const auto origin = parse_target("/api/v1/tasks/a%2Fb/energy?range=24h#x");
  ASSERT_TRUE(origin);
  EXPECT_EQ(origin->path, "/api/v1/tasks/a/b/energy");
  EXPECT_EQ(origin->raw_path, "/api/v1/tasks/a%2Fb/energy");
  EXPECT_EQ(origin->query, (Query{{"range", "24h"}}));
  EXPECT_EQ(parse_target("HTTP://host:80/x?y=1")->path, "/x");
  EXPECT_EQ(parse_target("http://host?y=1")->query, (Query{{"y", "1"}}));
  EXPECT_EQ(parse_target("http://host")->path, "/");
  EXPECT_EQ(parse_target("*")->path, "*");
  for (const auto* bad : {"relative", "/a b", "/a\x01", "/%zz", "/?a=%", "host:80"})
    EXPECT_FALSE(parse_target(bad)) << bad;
}

TEST(ParseUrl, SplitsWhatAClientNeeds) {
  const auto url = parse_url("https://tidewatt.example:7310/api/v1/heartbeats?x=1#f");
  ASSERT_TRUE(url) << url.error().to_string();
  EXPECT_TRUE(url->tls);
  EXPECT_EQ(url->host, "tidewatt.example");
  EXPECT_EQ(url->port, 7310);
  EXPECT_EQ(url->target, "/api/v1/heartbeats?x=1");
  EXPECT_EQ(url->host_header, "tidewatt.example:7310");
}

TEST(ParseUrl, KnowsUsualPortsAndIpv6) {
  EXPECT_EQ(parse_url("http://h")->port, 80);
  EXPECT_EQ(parse_url("http://h?a")->target, "/?a");
  EXPECT_EQ(parse_url("HTTPS://h/")->port, 443);
  EXPECT_EQ(parse_url("https://h:443/")->host_header, "h");
  const auto six = parse_url("http://[::1]:8080/x");
  ASSERT_TRUE(six);
  EXPECT_EQ(six->host, "::1");
  EXPECT_EQ(six->port, 8080);
  EXPECT_EQ(six->host_header, "[::1]:8080");
}

TEST(ParseUrl, RefusesWhatItCantCallAndShowsIt) {
  for (const auto* bad :
       {"", "h", "ftp://h/", "http://", "http:///x", "http://h:0/", "http://h:65536/", "http://h:8x/",
        "http://h /", "http://h\r\nx: y/", "http://[::1/", "http://[::1]x/"}) {
    const auto url = parse_url(bad);
    ASSERT_FALSE(url) << bad;
    EXPECT_EQ(url.error().code, ErrorCode::invalid_input);
    EXPECT_NE(url.error().message.find(bad), std::string::npos) << url.error().message;
  }
}

TEST(ParseUrl, ShowsNoPassword) {
  const auto url = parse_url("http://user:secret@h/x");
  ASSERT_FALSE(url);
  EXPECT_EQ(url.error().to_string().find("secret"), std::string::npos);
  EXPECT_NE(url.error().message.find("http://...@h/x"), std::string::npos) << url.error().message;
}

TEST(ServerUrlProblem, TakesOnlyABaseOfPaths) {
  for (const auto* good : {"http://h", "https://h:7310", "https://h/tidewatt", "http://[::1]:7310"})
    EXPECT_EQ(server_url_problem(good), "") << good;
  for (const auto* bad : {"h:7310", "http://h:99999", "http://u:p@h", "http://h/?x=1", "http://h/#a", ""})
    EXPECT_NE(server_url_problem(bad), "") << bad;
}

}  // namespace
}  // namespace tidewatt::net
