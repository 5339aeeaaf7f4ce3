#include "tidewatt/agent/relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tidewatt/testing/fake_file_system.h"
#include "tidewatt/testing/manual_clock.h"

namespace tidewatt::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr UtcTime kStart{std::chrono::milliseconds{1'800'000'000'000}};

class RelayTest : public ::testing::Test {
 protected:
  tidewatt::testing::FakeFileSystem files;
  tidewatt::testing::ManualClock clock{kStart};
  std::unique_ptr<Spool> spool = *Spool::open(files, clock, {.folder = "/s", .boot_id = "boot-1"});
  std::optional<std::string> token = "secret";
  Relay relay{*spool, clock, [this] { return Result<std::optional<std::string>>{token}; }};

  net::Response post(const std::string& body, const std::string& shown = "Bearer secret") {
    net::Request request;
    request.method = "POST";
    request.path = "/api/v1/heartbeats";
    if (!shown.empty()) request.headers["authorization"] = shown;
    request.body = body;
    return relay.take(request);
  }
  std::vector<std::string> spooled() {
    std::vector<std::string> out;
    for (auto& record : spool->peek(100, 1U << 20U)) out.push_back(record.payload);
    return out;
  }
};

TEST_F(RelayTest, BeatsGoIntoTheSpoolAsTheyCameInOrder) {
  const std::string first = R"({"node_id":"a","sampled_at":"2026-11-29T08:00:00Z","of_a_newer_agent":7})";
  const std::string second = R"({"node_id":"b","sampled_at":"2026-11-29T08:00:01Z"})";
  const auto answer = post("[" + first + ", " + second + "]");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, R"({"results":[{"status":"accepted"},{"status":"accepted"}]})");
  EXPECT_EQ(post(second).status, 200);
  EXPECT_THAT(spooled(), ElementsAre(first, second, second));
  EXPECT_EQ(relay.taken(), 3U);
}

TEST_F(RelayTest, ABeatWithoutTimeWasSampledWhenItCame) {
  EXPECT_EQ(post(R"({"node_id":"old","gpu_stats":[{"index":0,"power_watts":250}]})").status, 200);
  ASSERT_EQ(spooled().size(), 1U);
  auto parsed = wire::BeatParser{}.parse(spooled().front());
  ASSERT_TRUE(parsed && parsed->front());
  EXPECT_EQ(parsed->front()->sampled_at, kStart);
  EXPECT_EQ(parsed->front()->devices.at(0).power, Watts{250});
}

TEST_F(RelayTest, AnInvalidBeatIsRefusedAndItsNeighboursStand) {
  const auto answer = post(R"([{"node_id":""},{"node_id":"b","sampled_at":"2026-11-29T08:00:01Z"}])");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr("rejected"));
  EXPECT_EQ(spooled().size(), 1U);
}

TEST_F(RelayTest, OnlyWhoShowsTheTokenMayPost) {
  const std::string beat = R"({"node_id":"a"})";
  for (const auto* shown :
       {"", "secret", "Bearer ", "Bearer secre", "Bearer secret2", "Bearer tecret", "Basic secret"})
    EXPECT_EQ(post(beat, shown).status, 401) << shown;
  token = "";
  EXPECT_EQ(post(beat, "Bearer ").status, 401) << "an empty token is nobody's";
  token = "rotated";
  EXPECT_EQ(post(beat, "Bearer rotated").status, 200);
  token.reset();
  EXPECT_EQ(post(beat, "").status, 200) << "none is configured: on the loopback address";
  EXPECT_EQ(spooled().size(), 2U);
}

TEST_F(RelayTest, WhatNoDiskHoldsIsAnsweredRetryAndStillSent) {
  files.bytes_left = 0;
  EXPECT_THAT(post(R"({"node_id":"a"})").body, HasSubstr("retry"));
  EXPECT_EQ(spooled().size(), 1U);
  EXPECT_EQ(relay.taken(), 0U);
}

TEST_F(RelayTest, WhatIsNoBeatIsNotTaken) {
  for (const auto* body : {"", "[", "7", "[]", "\"x\"", "{\"node_id\":"})
    EXPECT_EQ(post(body).status, 400) << body;
  net::Request get;
  get.method = "GET";
  EXPECT_EQ(relay.take(get).status, 405);
  EXPECT_THAT(spooled(), IsEmpty());
}

}  // namespace
}  // namespace tidewatt::agent
