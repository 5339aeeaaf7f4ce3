#include "tidewatt/agent/sender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "fixed_rng.h"
#include "tidewatt/base/log.h"
#include "tidewatt/net/compress.h"
#include "tidewatt/testing/fake_file_system.h"
#include "tidewatt/testing/manual_clock.h"

namespace tidewatt::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::Not;

/// Accepts everything, unless an answer was prepared.
class FakeServer final : public net::HttpClient {
 public:
  std::deque<Result<net::Response>> prepared;
  std::vector<net::ClientRequest> requests;
  std::vector<std::string> received;  ///< beats of answered requests, in order

  Result<net::Response> stream(const net::ClientRequest& request, const net::Streaming&) override {
    return send(request);
  }
  Result<net::Response> send(const net::ClientRequest& request) override {
    requests.push_back(request);
    std::string body = request.body;
    if (request.headers.contains("content-encoding")) body = net::gunzip(body, 8U << 20U, 10'000).value();
    const auto beats = split(body);
    if (!prepared.empty()) {
      auto answer = prepared.front();
      prepared.pop_front();
      return answer;
    }
    std::string out = R"({"results":[)";
    for (const auto& beat : beats) {
      received.push_back(beat);
      if (out.back() == '}') out += ',';
      out += R"({"status":"accepted"})";
    }
    return net::Response{200, {}, out + "]}"};
  }

  /// The test's beats are numbers: "[1,2,3]".
  static std::vector<std::string> split(const std::string& body) {
    std::vector<std::string> out;
    std::string word;
    for (const char c : body) {
      if (c >= '0' && c <= '9') {
        word += c;
      } else if (!word.empty()) {
        out.push_back(std::move(word));
        word.clear();
      }
    }
    return out;
  }
};

class SenderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    log::set_level(log::Level::critical);
    spool = std::move(*Spool::open(files, clock, {.folder = "/s", .boot_id = "b"}));
  }
  void spool_beats(int from, int to) {
    for (int i = from; i <= to; ++i) spool->append(std::to_string(i));
  }
  static net::Response status(int code, net::Headers headers = {}) { return {code, std::move(headers), ""}; }
  /// Steps as the thread would, with the clock moved to each time asked for; stops when nothing is left to
  /// do.
  void run(int most = 1000) {
    for (int i = 0; i < most; ++i) {
      const auto next = sender.step(server);
      if (!next) return;
      if (*next > clock.mono_now()) clock.advance(*next - clock.mono_now());
    }
    FAIL() << "never came to rest";
  }

  tidewatt::testing::FakeFileSystem files;
  tidewatt::testing::ManualClock clock{UtcTime{std::chrono::seconds{1'800'000'000}}};
  FixedRng rng{0.5};
  std::unique_ptr<Spool> spool;
  std::string token = "t1";
  int token_reads = 0;
  FakeServer server;

  // `spool` is made in SetUp, before the sender is used; the reference is to what it points to.
  struct LazySender {
    SenderTest& test;
    std::unique_ptr<Sender> made;
    Sender& get() {
      if (!made) {
        made = std::make_unique<Sender>(
            *test.spool, test.clock, test.rng,
            [this]() -> Result<std::optional<std::string>> {
              ++test.token_reads;
              return test.token;
            },
            SenderOptions{.url = "http://server/api/v1/heartbeats", .user_agent = "", .max_beats = 10});
      }
      return *made;
    }
    std::optional<SteadyTime> step(net::HttpClient& client) { return get().step(client); }
    SenderStats stats() { return get().stats(); }
  } sender{*this, nullptr};
};

TEST_F(SenderTest, SendsInOrderInBatchesAndAcknowledges) {
  spool_beats(1, 25);
  run();
  EXPECT_EQ(server.requests.size(), 3U);
  ASSERT_EQ(server.received.size(), 25U);
  for (int i = 0; i < 25; ++i) EXPECT_EQ(server.received[static_cast<std::size_t>(i)], std::to_string(i + 1));
  EXPECT_EQ(spool->stats().waiting, 0U);
  EXPECT_EQ(sender.stats().sent, 25U);
  EXPECT_EQ(sender.stats().last_success, clock.mono_now());
}

TEST_F(SenderTest, AsksForNothingWhenNothingIsSpooled) {
  EXPECT_EQ(sender.step(server), std::nullopt);
  EXPECT_TRUE(server.requests.empty());
  EXPECT_EQ(sender.stats().link, Link::unknown);
}

TEST_F(SenderTest, AnOutageLosesNothingAndKeepsTheOrder) {
  for (int i = 0; i < 7; ++i) server.prepared.emplace_back(fail(ErrorCode::unavailable, "refused"));
  spool_beats(1, 3);
  sender.step(server);
  EXPECT_EQ(sender.stats().link, Link::unreachable);
  spool_beats(4, 5);
  run();
  EXPECT_THAT(server.received, ElementsAre("1", "2", "3", "4", "5"));
  EXPECT_EQ(sender.stats().failures, 7U);
  EXPECT_EQ(sender.stats().link, Link::delivering);
}

TEST_F(SenderTest, BacksOffBetweenFailures) {
  for (int i = 0; i < 3; ++i) server.prepared.emplace_back(status(500));
  spool_beats(1, 1);
  EXPECT_EQ(sender.step(server), clock.mono_now() + Milliseconds{500});
  clock.advance(Milliseconds{499});
  sender.step(server);
  EXPECT_EQ(server.requests.size(), 1U) << "not yet";
  clock.advance(Milliseconds{1});
  EXPECT_EQ(sender.step(server), clock.mono_now() + Milliseconds{1000});
  EXPECT_EQ(server.requests.size(), 2U);
}

TEST_F(SenderTest, HonoursRetryAfterWithJitterOnTop) {
  server.prepared.emplace_back(status(503, {{"retry-after", "20"}}));
  spool_beats(1, 1);
  EXPECT_EQ(sender.step(server), clock.mono_now() + Milliseconds{20'500});
}

TEST_F(SenderTest, RetryKeepsTheBeatsFromThereOn) {
  server.prepared.emplace_back(net::Response{
      200, {}, R"({"results":[{"status":"accepted"},{"status":"retry"},{"status":"accepted"}]})"});
  spool_beats(1, 3);
  sender.step(server);
  EXPECT_EQ(spool->stats().waiting, 2U);
  run();
  EXPECT_THAT(server.received, ElementsAre("2", "3"));
}

TEST_F(SenderTest, RejectedBeatsAreDroppedAndCounted) {
  server.prepared.emplace_back(net::Response{
      200, {}, R"({"results":[{"status":"rejected","reason":"from the future"},{"status":"accepted"}]})"});
  spool_beats(1, 2);
  run();
  EXPECT_EQ(server.requests.size(), 1U);
  EXPECT_EQ(sender.stats().rejected, 1U);
  EXPECT_EQ(sender.stats().sent, 1U);
  EXPECT_EQ(spool->stats().waiting, 0U);
}

TEST_F(SenderTest, ARotatedTokenIsReadAgainAndTriedAtOnce) {
  spool_beats(1, 1);
  run();
  EXPECT_EQ(server.requests.back().headers.at("authorization"), "Bearer t1");
  token = "t2";
  spool_beats(2, 2);
  server.prepared.emplace_back(status(401));
  EXPECT_EQ(sender.step(server), clock.mono_now()) << "no back-off";
  run();
  EXPECT_EQ(server.requests.back().headers.at("authorization"), "Bearer t2");
  EXPECT_EQ(token_reads, 2);
}

TEST_F(SenderTest, AWrongTokenKeepsSpoolingAndBacksOff) {
  for (int i = 0; i < 4; ++i) server.prepared.emplace_back(status(403));
  spool_beats(1, 2);
  EXPECT_GT(sender.step(server), clock.mono_now());
  EXPECT_EQ(sender.stats().link, Link::unauthorised);
  EXPECT_EQ(spool->stats().waiting, 2U);
  run();
  EXPECT_THAT(server.received, ElementsAre("1", "2"));
}

TEST_F(SenderTest, TooLargeBatchesShrinkUntilTheyPassAndGrowAgain) {
  spool_beats(1, 30);
  server.prepared.emplace_back(status(413));
  server.prepared.emplace_back(status(413));
  run();
  ASSERT_EQ(server.received.size(), 30U);
  EXPECT_EQ(FakeServer::split(server.requests[2].body).size(), 2U);
  std::size_t largest = 0;
  for (std::size_t i = 2; i < server.requests.size(); ++i) {
    largest = std::max(largest, FakeServer::split(server.requests[i].body).size());
  }
  EXPECT_EQ(largest, 10U);
}

TEST_F(SenderTest, APoisonBeatIsIsolatedAndOnlyItIsDropped) {
  spool_beats(1, 4);
  const net::Response bad{400, {{"content-type", "application/problem+json"}}, "{}"};
  server.prepared.emplace_back(bad);  // 1-4
  server.prepared.emplace_back(bad);  // 1-2
  server.prepared.emplace_back(bad);  // 1 alone: it is the one
  run();
  EXPECT_THAT(server.received, ElementsAre("2", "3", "4"));
  EXPECT_EQ(sender.stats().rejected, 1U);
}

TEST_F(SenderTest, LargeBodiesAreCompressedSmallOnesAreNot) {
  spool_beats(1, 1);
  run();
  EXPECT_FALSE(server.requests[0].headers.contains("content-encoding"));
  spool->append(std::string(5000, '7'));
  run();
  EXPECT_EQ(server.requests[1].headers.at("content-encoding"), "gzip");
  EXPECT_LT(server.requests[1].body.size(), 1000U);
  EXPECT_EQ(server.received.back(), std::string(5000, '7'));
}

TEST_F(SenderTest, ARestartSendsAgainOnlyWhatWasNotAcknowledged) {
  spool_beats(1, 15);
  sender.step(server);  // 1-10
  auto again = std::move(*Spool::open(files, clock, {.folder = "/s", .boot_id = "b"}));
  Sender second{*again,
                clock,
                rng,
                []() -> Result<std::optional<std::string>> { return std::nullopt; },
                {.url = "http://s", .user_agent = ""}};
  while (second.step(server)) {
  }
  ASSERT_EQ(server.received.size(), 15U);
  EXPECT_FALSE(server.requests.back().headers.contains("authorization"));
}

TEST_F(SenderTest, TheLastAttemptIgnoresTheBackOff) {
  server.prepared.emplace_back(status(500));
  spool_beats(1, 2);
  sender.step(server);
  sender.get().last_attempt(server);
  EXPECT_THAT(server.received, ElementsAre("1", "2"));
}

}  // namespace
}  // namespace tidewatt::agent
