#include "tidewatt/net/http.h"

#include <gtest/gtest.h>

#include "../src/response_text.h"
#include "tidewatt/net/compress.h"

namespace tidewatt::net {
namespace {

TEST(Request, FindsHeadersAndParameters) {
  Request request;
  request.headers["accept"] = "*/*";
  request.query["range"] = "24h";
  EXPECT_EQ(request.header("accept"), "*/*");
  EXPECT_EQ(request.header("authorization"), std::nullopt);
  EXPECT_EQ(request.parameter("range"), "24h");
  EXPECT_EQ(request.parameter("q"), std::nullopt);
}

TEST(Problem, IsJsonWithCodeAndDetail) {
  const auto answer = problem(404, "node_not_found", "No such node", "no node \"gpu-\xff\n\": see /nodes");
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.headers.at("content-type"), "application/problem+json");
  EXPECT_EQ(
      answer.body,
      "{\"type\":\"https://tidewatt.dev/problems/node_not_found\",\"title\":\"No such node\",\"status\":404,"
      "\"detail\":\"no node \\\"gpu-\xef\xbf\xbd\\n\\\": see /nodes\",\"code\":\"node_not_found\"}");
}

TEST(StampProblem, AddsTheRequestIdOnce) {
  auto answer = problem(400, "bad", "Bad", "x");
  stamp_problem(answer, "id-1");
  EXPECT_TRUE(answer.body.ends_with(",\"code\":\"bad\",\"request_id\":\"id-1\"}")) << answer.body;
  const auto once = answer.body;
  stamp_problem(answer, "id-2");
  EXPECT_EQ(answer.body, once);
  auto other = json_response(200, "{}");
  stamp_problem(other, "id-1");
  EXPECT_EQ(other.body, "{}");
}

TEST(AcceptsGzip, ReadsWeights) {
  for (const auto* yes : {"gzip", "br, gzip;q=0.5", "*", "gzip ; q=1.0", "deflate,gzip"})
    EXPECT_TRUE(accepts_gzip(yes)) << yes;
  for (const auto* no : {"", "br", "gzip;q=0", "gzip;q=0.000", "*;q=0", "identity", "gzip;q=0, *"})
    EXPECT_FALSE(accepts_gzip(no)) << no;
}

TEST(CompressWhenWanted, PacksLargeTextOnly) {
  auto large = json_response(200, std::string(2000, ' '));
  compress_when_wanted(large, "gzip");
  EXPECT_EQ(large.headers["content-encoding"], "gzip");
  EXPECT_EQ(large.headers["vary"], "Accept-Encoding");
  EXPECT_EQ(gunzip(large.body, 10'000, 1000), std::string(2000, ' '));

  auto unasked = json_response(200, std::string(2000, ' '));
  compress_when_wanted(unasked, "");
  EXPECT_EQ(unasked.body.size(), 2000U);
  auto small = json_response(200, std::string(1024, ' '));
  compress_when_wanted(small, "gzip");
  EXPECT_EQ(small.body.size(), 1024U);
  Response picture{200, {{"content-type", "image/png"}}, std::string(2000, ' ')};
  compress_when_wanted(picture, "gzip");
  EXPECT_EQ(picture.body.size(), 2000U);
  auto packed = json_response(200, std::string(2000, ' '));
  packed.headers["content-encoding"] = "br";
  compress_when_wanted(packed, "gzip");
  EXPECT_EQ(packed.body.size(), 2000U);
}

TEST(HeadText, KeepsAHandlerFromWritingHeadersOfItsOwnMaking) {
  Response answer{
      200, {{"x", "a\r\nset-cookie: evil\0"}, {"content-length", "999"}, {"connection", "upgrade"}}, "abc"};
  const auto text = head_text(answer, {true, false, "id", "D"});
  EXPECT_EQ(text,
            "HTTP/1.1 200 OK\r\nx: a  set-cookie: evil\r\ncontent-length: 3\r\ndate: D\r\nx-request-id: "
            "id\r\n\r\n");
}

TEST(HeadText, GivesNoLengthWhereNoBodyMayBe) {
  EXPECT_EQ(head_text({204, {}, ""}, {false, false, "", "D"}),
            "HTTP/1.1 204 No Content\r\ndate: D\r\nconnection: close\r\n\r\n");
  EXPECT_EQ(head_text({200, {}, ""}, {true, true, "", "D"}),
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\ndate: D\r\nconnection: keep-alive\r\n\r\n");
}

TEST(HttpDate, IsInEnglishAndGmt) { EXPECT_EQ(http_date(1795973400), "Sun, 29 Nov 2026 17:30:00 GMT"); }

}  // namespace
}  // namespace tidewatt::net
