// The server as a well-behaved client sees it.
#include "tidewatt/net/server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "raw_client.h"
#include "tidewatt/net/client.h"
#include "tidewatt/net/compress.h"

namespace tidewatt::net {
namespace {

Response echo(const Request& request) {
  return Response{
      200,
      {{"content-type", "text/plain"}, {"x-path", request.path}, {"x-raw-path", request.raw_path}},
      request.method + " " + request.body};
}

std::unique_ptr<Server> serve(Server::Handler handler, ServerOptions options = {}) {
  auto server = Server::listen(std::move(options), std::move(handler));
  if (!server) ADD_FAILURE() << server.error().to_string();
  return std::move(*server);
}

std::string url_of(const Server& server, const std::string& path) {
  return "http://127.0.0.1:" + std::to_string(server.port()) + path;
}

/// Holds handlers until opened.
class Gate {
 public:
  void wait() {
    std::unique_lock lock{mutex_};
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void await_waiting(int count) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return waiting_ >= count; });
  }
  void open() {
    const std::lock_guard lock{mutex_};
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool open_ = false;
};

TEST(Server, AnswersOverOneKeptConnection) {
  const auto server = serve(echo);
  const auto client = make_http_client({});
  for (int i = 0; i < 5; ++i) {
    const auto answer =
        client->send({"POST", url_of(*server, "/a%20b?x=1"), {}, "beat " + std::to_string(i)});
    ASSERT_TRUE(answer) << answer.error().to_string();
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, "POST beat " + std::to_string(i));
    EXPECT_EQ(answer->headers.at("x-path"), "/a b");
    EXPECT_EQ(answer->headers.at("x-raw-path"), "/a%20b");
    EXPECT_EQ(answer->headers.at("x-request-id").size(), 16U);
  }
  EXPECT_EQ(server->stats().connections, 1U);
  EXPECT_EQ(server->stats().requests, 5U);
}

TEST(Server, GivesTheHandlerAllItNeeds) {
  Request seen;
  const auto server = serve([&](const Request& request) {
    seen = request;
    return Response{204, {}, ""};
  });
  const auto client = make_http_client({});
  const auto answer = client->send({"PUT",
                                    url_of(*server, "/x?from=2026-11-29T08%3A00%3A00Z&q=a+b"),
                                    {{"Authorization", "Bearer t"}, {"X-Request-Id", "trace-1"}},
                                    "{}"});
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_EQ(answer->status, 204);
  EXPECT_EQ(answer->headers.at("x-request-id"), "trace-1");
  EXPECT_EQ(seen.method, "PUT");
  EXPECT_EQ(seen.parameter("from"), "2026-11-29T08:00:00Z");
  EXPECT_EQ(seen.parameter("q"), "a b");
  EXPECT_EQ(seen.header("authorization"), "Bearer t");
  EXPECT_EQ(seen.request_id, "trace-1");
  EXPECT_EQ(seen.remote_address, "127.0.0.1");
  EXPECT_FALSE(seen.tls);
}

TEST(Server, ReplacesARequestIdThatCouldForgeLogs) {
  const auto server = serve(echo);
  RawClient client{server->port()};
  client.send("GET / HTTP/1.1\r\nHost: x\r\nX-Request-Id: a b\"\r\n\r\n");
  const auto answer = client.read_response();
  EXPECT_EQ(answer.find("a b"), std::string::npos) << answer;
  EXPECT_NE(answer.find("x-request-id: "), std::string::npos) << answer;
}

TEST(Server, UnpacksBodies) {
  const auto server = serve(echo);
  const auto client = make_http_client({});
  for (const auto& [encoding, body] : {std::pair{"gzip", gzip("beats")}, std::pair{"zstd", zstd("beats")},
                                       std::pair{"identity", std::string{"beats"}}}) {
    const auto answer = client->send({"POST", url_of(*server, "/"), {{"content-encoding", encoding}}, body});
    ASSERT_TRUE(answer) << answer.error().to_string();
    EXPECT_EQ(answer->body, "POST beats") << encoding;
  }
}

TEST(Server, PacksLargeAnswersWhenAsked) {
  const auto server = serve([](const Request&) { return json_response(200, std::string(100'000, '7')); });
  const auto client = make_http_client({});
  const auto packed = client->send({"GET", url_of(*server, "/"), {{"accept-encoding", "gzip"}}, ""});
  ASSERT_TRUE(packed) << packed.error().to_string();
  EXPECT_EQ(packed->headers.at("content-encoding"), "gzip");
  EXPECT_EQ(gunzip(packed->body, 1U << 20U, 10'000), std::string(100'000, '7'));
  EXPECT_EQ(client->send({"GET", url_of(*server, "/"), {}, ""})->body.size(), 100'000U);
}

TEST(Server, AnswersHeadLikeGetWithoutBody) {
  const auto server = serve(echo);
  const auto client = make_http_client({});
  const auto answer = client->send({"HEAD", url_of(*server, "/"), {}, ""});
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_EQ(answer->body, "");
  EXPECT_EQ(answer->headers.at("content-length"), "4");                          // "GET "
  EXPECT_EQ(client->send({"GET", url_of(*server, "/"), {}, ""})->body, "GET ");  // the connection is in step
}

TEST(Server, TurnsExceptionsIntoAProblemWithTheRequestId) {
  const auto server =
      serve([](const Request&) -> Response { throw std::runtime_error{"database password is 1234"}; });
  const auto client = make_http_client({});
  for (int i = 0; i < 2; ++i) {
    const auto answer = client->send({"GET", url_of(*server, "/"), {{"x-request-id", "incident-7"}}, ""});
    ASSERT_TRUE(answer) << answer.error().to_string();
    EXPECT_EQ(answer->status, 500);
    EXPECT_EQ(answer->headers.at("content-type"), "application/problem+json");
    EXPECT_NE(answer->body.find("\"request_id\":\"incident-7\""), std::string::npos) << answer->body;
    EXPECT_EQ(answer->body.find("1234"), std::string::npos);
  }
}

TEST(Server, SlowReadsDoNotDelayWrites) {
  Gate gate;
  ServerOptions options;
  options.worker_threads = 1;
  const auto server = serve(
      [&](const Request& request) {
        if (request.method == "GET") gate.wait();
        return Response{204, {}, ""};
      },
      options);
  RawClient reading{server->port()};
  reading.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  gate.await_waiting(1);
  const auto written = make_http_client({})->send({"POST", url_of(*server, "/"), {}, "beat"});
  ASSERT_TRUE(written) << written.error().to_string();
  EXPECT_EQ(written->status, 204);
  gate.open();
  EXPECT_TRUE(reading.read_response().starts_with("HTTP/1.1 204"));
}

TEST(Server, SendsBusyWhenTheQueueIsFull) {
  Gate gate;
  ServerOptions options;
  options.worker_threads = 1;
  options.max_queued_requests = 1;
  const auto server = serve(
      [&](const Request&) {
        gate.wait();
        return Response{204, {}, ""};
      },
      options);
  RawClient running{server->port()};
  running.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  gate.await_waiting(1);
  RawClient queued{server->port()};
  queued.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  while (server->stats().requests < 2) std::this_thread::yield();
  const auto client = make_http_client({});
  const auto refused = client->send({"GET", url_of(*server, "/"), {}, ""});
  ASSERT_TRUE(refused) << refused.error().to_string();
  EXPECT_EQ(refused->status, 503);
  EXPECT_EQ(refused->headers.at("retry-after"), "1");
  EXPECT_EQ(server->stats().refused_busy, 1U);
  gate.open();
  EXPECT_TRUE(running.read_response().starts_with("HTTP/1.1 204"));
  EXPECT_TRUE(queued.read_response().starts_with("HTTP/1.1 204"));
}

TEST(Server, PutsWritersOffWhenTheFirstOfThemWaitsTooLong) {
  Gate gate;
  ServerOptions options;
  options.worker_threads = 1;
  options.longest_write_wait = Milliseconds{0};
  const auto server = serve(
      [&](const Request& request) {
        if (request.method == "POST") gate.wait();
        return Response{204, {}, ""};
      },
      options);
  const std::string post = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n";
  RawClient running{server->port()};
  running.send(post);
  gate.await_waiting(1);
  RawClient queued{server->port()};
  queued.send(post);
  while (server->stats().requests < 2) std::this_thread::yield();
  std::this_thread::sleep_for(Milliseconds{2});
  RawClient late{server->port()};
  late.send(post);
  EXPECT_TRUE(late.read_response().starts_with("HTTP/1.1 503"));
  RawClient reading{server->port()};
  reading.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(reading.read_response().starts_with("HTTP/1.1 204")) << "readers have a queue of their own";
  gate.open();
  EXPECT_TRUE(running.read_response().starts_with("HTTP/1.1 204"));
  EXPECT_TRUE(queued.read_response().starts_with("HTTP/1.1 204"));
}

TEST(Server, RefusesConnectionsBeyondTheLimitWhenAllAreAtWork) {
  Gate gate;
  ServerOptions options;
  options.max_connections = 2;
  const auto server = serve(
      [&](const Request&) {
        gate.wait();
        return Response{200, {}, "done"};
      },
      options);
  RawClient one{server->port()};
  one.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  RawClient two{server->port()};
  two.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  gate.await_waiting(2);
  RawClient three{server->port()};
  EXPECT_TRUE(three.read_until().starts_with("HTTP/1.1 503"));
  gate.open();
  EXPECT_TRUE(one.read_response().starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(two.read_response().starts_with("HTTP/1.1 200"));
}

TEST(Server, AnIdleConnectionMakesRoomOldestFirst) {
  ServerOptions options;
  options.max_connections = 2;
  const auto server = serve(echo, options);
  const std::string get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  RawClient one{server->port()};
  one.send(get);
  one.read_response();
  RawClient two{server->port()};
  two.send(get);
  two.read_response();
  RawClient three{server->port()};
  three.send(get);
  EXPECT_TRUE(three.read_response().starts_with("HTTP/1.1 200"));
  EXPECT_EQ(one.read_until(), "");  // closed
  two.send(get);
  EXPECT_TRUE(two.read_response().starts_with("HTTP/1.1 200"));
  EXPECT_EQ(server->stats().closed_idle, 1U);
}

TEST(Server, ManyIdleConnectionsKeepNobodyFromBeingServed) {
  ServerOptions options;
  options.max_connections = 64;
  const auto server = serve(echo, options);
  const std::string get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 300; ++i) {
    idle.push_back(std::make_unique<RawClient>(server->port()));
    if (i % 2 == 0) idle.back()->send("POST /half");  // and some that never finish
    if (i % 50 != 0) continue;
    RawClient working{server->port()};
    working.send(get);
    EXPECT_TRUE(working.read_response().starts_with("HTTP/1.1 200")) << i;
  }
  EXPECT_EQ(server->stats().refused_busy, 0U);
}

// All of 127/8 is here: one address that holds many connections loses its own before others lose theirs.
TEST(Server, AnAddressWithManyIdleConnectionsLosesItsOwn) {
  ServerOptions options;
  options.max_connections = 8;
  const auto server = serve(echo, options);
  const std::string get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  RawClient agent{server->port(), "127.0.0.2"};
  agent.send(get);
  agent.read_response();
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 50; ++i) idle.push_back(std::make_unique<RawClient>(server->port()));
  RawClient last{server->port()};
  last.send(get);
  EXPECT_TRUE(last.read_response().starts_with("HTTP/1.1 200"));
  agent.send(get);
  EXPECT_TRUE(agent.read_response().starts_with("HTTP/1.1 200"));
}

TEST(Server, FinishesRunningRequestsWhenItStops) {
  Gate gate;
  const auto server = serve([&](const Request&) {
    gate.wait();
    return Response{200, {}, "done"};
  });
  RawClient idle{server->port()};
  RawClient running{server->port()};
  running.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  gate.await_waiting(1);
  std::thread stopper{[&] { server->stop(Milliseconds{20'000}); }};
  EXPECT_EQ(idle.read_until(), "");  // closed at once
  gate.open();
  const auto answer = running.read_response();
  EXPECT_TRUE(answer.ends_with("done")) << answer;
  EXPECT_NE(answer.find("connection: close"), std::string::npos);
  running.close();
  stopper.join();
  server->stop(Milliseconds{0});  // again is fine
}

TEST(Server, SaysWhyItCannotListen) {
  const auto first = serve(echo);
  ServerOptions options;
  options.port = first->port();
  const auto second = Server::listen(options, echo);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::conflict);
  EXPECT_NE(second.error().message.find(std::to_string(options.port)), std::string::npos);
  options.address = "not-an-address";
  EXPECT_EQ(Server::listen(options, echo).error().code, ErrorCode::invalid_input);
}

TEST(Server, Serves64ClientsAtOnce) {
  const auto server = serve(echo);
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 64; ++i) {
    threads.emplace_back([&, i] {
      const auto client = make_http_client({Milliseconds{60'000}, 64U << 20U, {}});
      for (int turn = 0; turn < 20; ++turn) {
        const std::string body(static_cast<std::size_t>(i * 1000 + turn), static_cast<char>('a' + i % 26));
        const auto answer = client->send({"POST", url_of(*server, "/"), {}, body});
        if (answer && answer->body == "POST " + body) ++right;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 64 * 20);
}

TEST(EventStream, SendsEventsUntilTheClientGoes) {
  const auto server = serve(echo);
  std::shared_ptr<EventSink> sink;
  server->add_stream(
      "/stream", [&](const Request& request, std::shared_ptr<EventSink> given) -> std::optional<Response> {
        if (!request.header("authorization"))
          return problem(401, "unauthorized", "Unauthorized", "send a token");
        given->send("hello", "from the handler");
        sink = std::move(given);
        return std::nullopt;
      });
  RawClient refused{server->port()};
  refused.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(refused.read_response().starts_with("HTTP/1.1 401"));

  RawClient client{server->port()};
  client.send("GET /stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\n\r\n");
  const auto head = client.read_until("\r\n\r\n");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200")) << head;
  EXPECT_NE(head.find("text/event-stream"), std::string::npos);
  EXPECT_NE(client.read_until("from the handler\n\n").find("event: hello\n"), std::string::npos);
  ASSERT_TRUE(sink);
  EXPECT_EQ(server->stats().event_streams, 1U);
  EXPECT_TRUE(sink->send("tick", "{\"at\":1}"));
  EXPECT_EQ(client.read_until("\n\n"), "event: tick\ndata: {\"at\":1}\n\n");

  client.close();
  for (int turn = 0; turn < 2000 && sink->open(); ++turn) std::this_thread::sleep_for(Milliseconds{5});
  EXPECT_FALSE(sink->send("tick", "{}"));
  EXPECT_EQ(server->stats().event_streams, 0U);
}

TEST(EventStream, DropsAClientThatDoesNotReadAndSurvivesTheServer) {
  auto server = serve(echo);
  std::mutex mutex;
  std::shared_ptr<EventSink> sink;
  server->add_stream("/stream",
                     [&](const Request&, std::shared_ptr<EventSink> given) -> std::optional<Response> {
                       const std::lock_guard lock{mutex};
                       sink = std::move(given);
                       return std::nullopt;
                     });
  RawClient deaf{server->port()};
  deaf.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  deaf.read_until("\r\n\r\n");
  const std::string data(10'000, 'x');
  int sent = 0;
  while (sink->send("tick", data) && sent < 100'000) ++sent;
  EXPECT_LT(sent, 100'000);
  EXPECT_FALSE(sink->open());

  RawClient other{server->port()};
  other.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  other.read_until("\r\n\r\n");
  EXPECT_TRUE(sink->open());
  server.reset();
  EXPECT_FALSE(sink->send("tick", data));
}

}  // namespace
}  // namespace tidewatt::net
