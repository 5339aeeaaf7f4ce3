#include "tidewatt/agent/delivery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidewatt::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr UtcTime kNow{std::chrono::seconds{1'800'000'000}};

Verdict of(int status, std::string body, std::size_t beats, net::Headers headers = {}) {
  return judge(net::Response{status, std::move(headers), std::move(body)}, beats, kNow);
}

std::string results(std::initializer_list<const char*> statuses) {
  std::string body = R"({"results":[)";
  for (const char* status : statuses) {
    if (body.back() == '}') body += ',';
    body += std::string(R"({"status":")") + status + R"(","reason":"why"})";
  }
  return body + "]}";
}

TEST(Judge, AcceptedAndDuplicateAreDone) {
  const auto v = of(200, results({"accepted", "duplicate", "accepted"}), 3);
  EXPECT_EQ(v.link, Link::delivering);
  EXPECT_EQ(v.done, 3U);
  EXPECT_EQ(v.accepted, 2U);
  EXPECT_EQ(v.duplicates, 1U);
  EXPECT_FALSE(v.back_off);
}

TEST(Judge, RejectedIsDroppedWithItsReasonAndItsNeighboursStand) {
  const auto v = of(200, results({"accepted", "rejected", "rejected", "accepted"}), 4);
  EXPECT_EQ(v.done, 4U);
  EXPECT_EQ(v.accepted, 2U);
  ASSERT_EQ(v.rejections.size(), 1U) << "one line per reason";
  EXPECT_EQ(v.rejections[0].beats, 2U);
  EXPECT_EQ(v.rejections[0].first, 1U);
  EXPECT_EQ(v.rejections[0].reason, "why");
  EXPECT_FALSE(v.back_off);
}

TEST(Judge, RetryKeepsThatBeatAndAllAfterIt) {
  const auto v = of(200, results({"accepted", "retry", "rejected"}), 3, {{"retry-after", "3"}});
  EXPECT_EQ(v.done, 1U);
  EXPECT_THAT(v.rejections, IsEmpty()) << "judged when it is sent again, once";
  EXPECT_TRUE(v.back_off);
  EXPECT_EQ(v.retry_after, Milliseconds{3000});
  EXPECT_EQ(v.link, Link::delivering);
}

TEST(Judge, AnUnknownAnswerKeepsTheBeat) {
  const auto v = of(200, results({"quarantined"}), 1);
  EXPECT_EQ(v.done, 0U);
  EXPECT_TRUE(v.back_off);
}

TEST(Judge, AnAnswerThatIsNotPerBeatLosesNothing) {
  for (const char* body : {"", "<html>captive portal</html>", "{}", R"({"results":[]})",
                           R"({"results":[{"status":"accepted"}]})"}) {
    const auto v = of(200, body, 2);
    EXPECT_EQ(v.done, 0U) << body;
    EXPECT_TRUE(v.back_off) << body;
    EXPECT_EQ(v.link, Link::misdirected) << body;
  }
}

TEST(Judge, NoAnswerMeansLater) {
  const auto v = judge(fail(ErrorCode::unavailable, "connection refused"), 5, kNow);
  EXPECT_EQ(v.done, 0U);
  EXPECT_TRUE(v.back_off);
  EXPECT_EQ(v.link, Link::unreachable);
  EXPECT_THAT(v.trouble, HasSubstr("connection refused"));
}

TEST(Judge, BusyServersAreGivenTheTimeTheyAskFor) {
  for (const int status : {429, 503}) {
    const auto v = of(status, "busy", 5, {{"retry-after", "30"}});
    EXPECT_EQ(v.done, 0U);
    EXPECT_TRUE(v.back_off);
    EXPECT_EQ(v.retry_after, Milliseconds{30'000});
    EXPECT_EQ(v.link, Link::unreachable);
  }
}

TEST(Judge, ServerErrorsMeanLater) {
  for (const int status : {408, 500, 502, 504, 599}) {
    const auto v = of(status, "oops", 5);
    EXPECT_EQ(v.done, 0U) << status;
    EXPECT_TRUE(v.back_off) << status;
    EXPECT_EQ(v.link, Link::unreachable) << status;
  }
}

TEST(Judge, AWrongTokenIsReadAgainAndSaysWhatToDo) {
  for (const int status : {401, 403}) {
    const auto v = of(status, "", 5);
    EXPECT_EQ(v.done, 0U);
    EXPECT_TRUE(v.back_off);
    EXPECT_TRUE(v.reread_token);
    EXPECT_EQ(v.link, Link::unauthorised);
    EXPECT_THAT(v.trouble, HasSubstr("token"));
  }
}

TEST(Judge, ABatchThatIsTooLargeIsHalvedAtOnce) {
  const auto v = of(413, "too large", 100);
  EXPECT_EQ(v.done, 0U);
  EXPECT_TRUE(v.smaller_batches);
  EXPECT_FALSE(v.back_off);
}

TEST(Judge, APoisonBeatIsFoundAndDroppedOnlyOnTheServersOwnWord) {
  const net::Headers problem{{"content-type", "application/problem+json; charset=utf-8"}};
  EXPECT_TRUE(of(400, "bad", 8, problem).smaller_batches);
  const auto alone = of(400, "bad", 1, problem);
  EXPECT_EQ(alone.done, 1U);
  ASSERT_EQ(alone.rejections.size(), 1U);
  const auto proxy = of(400, "bad gateway page", 1, {{"content-type", "text/html"}});
  EXPECT_EQ(proxy.done, 0U);
  EXPECT_TRUE(proxy.back_off);
  EXPECT_EQ(proxy.link, Link::misdirected);
}

TEST(Judge, OtherAnswersComeFromSomethingElse) {
  for (const int status : {204, 301, 302, 404, 405}) {
    const auto v = of(status, "", 5);
    EXPECT_EQ(v.done, 0U) << status;
    EXPECT_EQ(v.link, Link::misdirected) << status;
    EXPECT_TRUE(v.back_off) << status;
  }
}

TEST(Judge, TroubleIsOneShortLine) {
  const auto v = of(500, std::string(10'000, 'x') + "\nsecond line", 1);
  EXPECT_LT(v.trouble.size(), 300U);
  EXPECT_EQ(v.trouble.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace tidewatt::agent
