#include "tidewatt/agent/delivery_thread.h"

#include <gtest/gtest.h>

#include <atomic>

#include "fixed_rng.h"
#include "tidewatt/base/log.h"
#include "tidewatt/testing/fake_file_system.h"

namespace tidewatt::agent {
namespace {

class AtomicClock final : public Clock {
 public:
  std::atomic<std::int64_t> ms{1'000'000};
  [[nodiscard]] UtcTime utc_now() const override { return UtcTime{Milliseconds{ms.load()}}; }
  [[nodiscard]] SteadyTime mono_now() const override { return SteadyTime{Milliseconds{ms.load()}}; }
};

/// What the clients of one test share: how many requests came, and whether they are let through.
struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  int requests = 0;
  bool open = true;

  void wait_for_requests(int n) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return requests >= n; });
  }
};

class GatedClient final : public net::HttpClient {
 public:
  GatedClient(Gate& gate, int status) : gate_(gate), status_(status) {}
  Result<net::Response> stream(const net::ClientRequest& request, const net::Streaming&) override {
    return send(request);
  }
  Result<net::Response> send(const net::ClientRequest& /*request*/) override {
    std::unique_lock lock(gate_.mutex);
    ++gate_.requests;
    gate_.changed.notify_all();
    gate_.changed.wait(lock, [this] { return gate_.open; });
    return net::Response{status_, {}, R"({"results":[{"status":"accepted"}]})"};
  }

 private:
  Gate& gate_;
  int status_;
};

class DeliveryThreadTest : public ::testing::Test {
 protected:
  void SetUp() override {
    log::set_level(log::Level::critical);
    spool = std::move(*Spool::open(files, clock, {.folder = "/s", .boot_id = "b"}));
    sender = std::make_unique<Sender>(
        *spool, clock, rng, []() -> Result<std::optional<std::string>> { return std::nullopt; },
        SenderOptions{.url = "http://s", .user_agent = ""});
  }
  std::unique_ptr<DeliveryThread> start(int status) {
    return std::make_unique<DeliveryThread>(*sender, clock, std::make_unique<GatedClient>(gate, status),
                                            std::make_unique<GatedClient>(gate, 200));
  }

  tidewatt::testing::FakeFileSystem files;
  AtomicClock clock;
  FixedRng rng{0.5};
  Gate gate;
  std::unique_ptr<Spool> spool;
  std::unique_ptr<Sender> sender;
};

constexpr Milliseconds kLong = std::chrono::minutes{1};

TEST_F(DeliveryThreadTest, ANewBeatIsSentWhenWoken) {
  auto thread = start(200);
  spool->append("{}");
  thread->wake();
  gate.wait_for_requests(1);
  EXPECT_TRUE(thread->stop(kLong));
  EXPECT_EQ(spool->stats().waiting, 0U);
}

TEST_F(DeliveryThreadTest, TheLastTryIsMadeAtTheEndInSpiteOfTheBackOff) {
  spool->append("{}");
  auto thread = start(500);
  gate.wait_for_requests(1);
  EXPECT_TRUE(thread->stop(kLong));
  EXPECT_EQ(spool->stats().waiting, 0U) << "the last client's server accepts";
  EXPECT_EQ(gate.requests, 2);
}

TEST_F(DeliveryThreadTest, ARequestThatHangsDoesNotHoldUpTheEnd) {
  gate.open = false;
  spool->append("{}");
  auto thread = start(200);
  gate.wait_for_requests(1);
  EXPECT_FALSE(thread->stop(Milliseconds{1}));
  EXPECT_EQ(spool->stats().waiting, 1U) << "still on disk";
  const std::lock_guard lock(gate.mutex);
  gate.open = true;
  gate.changed.notify_all();
}

}  // namespace
}  // namespace tidewatt::agent
