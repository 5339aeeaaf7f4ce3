#include "api_fixture.h"

namespace tidewatt::api {
namespace {

using testing::ApiTest;
using testing::Json;

/// Keeps what was sent.
class RecordingSink final : public net::EventSink {
 public:
  bool send(std::string_view event, std::string_view data) override {
    events.emplace_back(std::string{event}, std::string{data});
    return true;
  }
  [[nodiscard]] bool open() const override { return true; }
  std::vector<std::pair<std::string, std::string>> events;
};

class StreamTest : public ApiTest {
 protected:
  std::shared_ptr<RecordingSink> listen(const std::string& bearer) {
    auto sink = std::make_shared<RecordingSink>();
    EXPECT_FALSE(api_->open_stream(request("GET", "/api/v1/stream", bearer), sink));
    return sink;
  }
};

TEST_F(StreamTest, ATickSaysWhatTheClusterDrawsNow) {
  const auto sink = listen(token(Role::viewer));
  post(beat("n1", "2026-03-01T10:01:00Z", 250));
  api_->send_tick();
  ASSERT_EQ(sink->events.size(), 1U);
  EXPECT_EQ(sink->events[0].first, "tick");
  const auto tick = Json::parse(sink->events[0].second);
  EXPECT_EQ(tick.at("power_watts"), 250.0);
  EXPECT_EQ(tick.at("beats_total"), 1);
  EXPECT_EQ(tick.at("nodes").at(0).at("node_id"), "n1");
}

TEST_F(StreamTest, AnAlertIsSentWhenItComesUpAndNotAgain) {
  const auto sink = listen(token(Role::viewer));
  post(beat("n1", "2026-03-01T10:01:00Z", 250));
  clock_.advance(Milliseconds{120'000});
  api_->send_tick();
  api_->send_tick();
  ASSERT_EQ(sink->events.size(), 3U);
  EXPECT_EQ(sink->events[1].first, "alert");
  EXPECT_EQ(Json::parse(sink->events[1].second).at("kind"), "agent_silent");
  EXPECT_EQ(sink->events[2].first, "tick");
}

TEST_F(StreamTest, ATenantGetsItsOwnNodesWithoutPower) {
  call("POST", "/api/v1/tasks", token(Role::ops), R"({"task_id":"t1","team":"vision"})");
  const auto sink = listen(token(Role::tenant, "vision"));
  one_minute("n1", {"t1"});
  one_minute("n2", {"t2"});
  api_->send_tick();
  const auto tick = Json::parse(sink->events.at(0).second);
  EXPECT_TRUE(tick.at("power_watts").is_null());
  ASSERT_EQ(tick.at("nodes").size(), 1U);
  EXPECT_EQ(tick.at("nodes").at(0).at("node_id"), "n1");
  EXPECT_TRUE(tick.at("nodes").at(0).at("power_watts").is_null());
}

TEST_F(StreamTest, ARevokedTokenHearsNothingMore) {
  const auto made = *api_->access().create_token("x", Role::viewer, {}, std::nullopt, "me");
  const auto sink = listen(made.secret);
  ASSERT_TRUE(api_->access().revoke_token(made.record.id, "me"));
  api_->send_tick();
  EXPECT_TRUE(sink->events.empty());
}

TEST_F(StreamTest, NobodyListensWithoutARightTo) {
  EXPECT_EQ(api_->open_stream(request("GET", "/api/v1/stream"), nullptr)->status, 401);
  EXPECT_EQ(api_->open_stream(request("GET", "/api/v1/stream", token(Role::agent)), nullptr)->status, 403);
}

}  // namespace
}  // namespace tidewatt::api
