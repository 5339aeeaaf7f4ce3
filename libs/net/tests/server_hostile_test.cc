// The server against what no well-behaved client sends.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "raw_client.h"
#include "tidewatt/net/compress.h"
#include "tidewatt/net/server.h"

namespace tidewatt::net {
namespace {

class HostileTest : public testing::Test {
 protected:
  explicit HostileTest(ServerOptions options = {}) {
    auto made = Server::listen(std::move(options), [this](const Request& request) {
      ++handled;
      return Response{
          200, {}, request.method + " " + request.path + " " + std::to_string(request.body.size())};
    });
    if (!made) ADD_FAILURE() << made.error().to_string();
    server = std::move(*made);
  }
  ~HostileTest() override {
    // Whatever was sent before, the next client is served.
    RawClient client{server->port()};
    client.send("GET /alive HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_TRUE(client.read_response().ends_with("GET /alive 0"));
    server->stop(Milliseconds{0});
  }

  /// Sends the bytes, returns all that comes back until the server closes.
  std::string all_answers(std::string_view bytes, bool finish = false) {
    RawClient client{server->port()};
    client.send(bytes);
    if (finish) client.finish_sending();
    return client.read_until();
  }
  /// The bytes are refused with that status and a problem, never handled, and the connection is closed.
  void expect_refused(std::string_view bytes, int status) {
    const int before = handled;
    const auto answer = all_answers(bytes);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 " + std::to_string(status) + " "))
        << bytes.substr(0, 200) << "\n"
        << answer;
    EXPECT_NE(answer.find("application/problem+json"), std::string::npos) << answer;
    EXPECT_NE(answer.find("\"request_id\":\""), std::string::npos) << answer;
    EXPECT_NE(answer.find("connection: close"), std::string::npos) << answer;
    EXPECT_EQ(answer.find("\nHTTP/1.1 "), std::string::npos) << answer;
    EXPECT_EQ(handled, before) << bytes.substr(0, 200);
  }
  std::string post(const std::string& headers, std::string_view body) {
    return "POST /p HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n" + std::string{body};
  }

  std::atomic<int> handled{0};
  std::unique_ptr<Server> server;
};

TEST_F(HostileTest, RefusesWhatIsNotHttp) {
  for (const auto* bytes :
       {"GARBAGE\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/2.0\r\n\r\n", "GET / HTTP/1.1 x\r\n\r\n",
        "GET  / HTTP/1.1\r\n\r\n", "G(T / HTTP/1.1\r\nHost: x\r\n\r\n", "\x16\x03\x01\x02",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n", "GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        "GET / HTTP/1.1\r\n: x\r\n\r\n", "GET / HTTP/1.1\nHost: x\n\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"})
    expect_refused(bytes, 400);
}

TEST_F(HostileTest, RefusesTargetsItCannotDecode) {
  for (const auto* target : {"/%", "/%zz", "/%00", "/?a=%1", "relative", "/a\x80 b"})
    expect_refused("GET " + std::string{target} + " HTTP/1.1\r\nHost: x\r\n\r\n", 400);
}

TEST_F(HostileTest, RefusesRequestsWithoutOneHost) {
  expect_refused("GET / HTTP/1.1\r\n\r\n", 400);
  expect_refused("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400);
}

TEST_F(HostileTest, RefusesMessagesWhoseEndIsAmbiguous) {
  const std::string inner = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
  expect_refused(post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n" + inner), 400);
  expect_refused(post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n" + inner), 400);
  expect_refused(post("Content-Length: 5\r\nContent-Length: 6\r\n", "aaaaaa"), 400);
  expect_refused(post("Content-Length: 5\r\nContent-Length: 5\r\n", "aaaaa"), 400);
  for (const auto* length : {"-1", "+5", "0x5", "5 5", "5,5", "", "5;", "99999999999999999999999"})
    expect_refused(post("Content-Length: " + std::string{length} + "\r\n", "aaaaa"), 400);
  expect_refused(post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400);
  expect_refused(post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n"), 400);
  expect_refused(post("X: a\r\n folded\r\nContent-Length: 0\r\n", ""), 400);
  expect_refused("POST /p HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400);
}

TEST_F(HostileTest, RefusesTransferCodingsItDoesNotSpeak) {
  expect_refused(post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), 501);
  expect_refused(post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"), 501);
}

TEST_F(HostileTest, RefusesBrokenChunks) {
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  for (const auto* body : {"zz\r\naaaaa\r\n0\r\n\r\n", "-5\r\naaaaa\r\n0\r\n\r\n", "5\r\naaaaaXX0\r\n\r\n",
                           "\r\n\r\n", "fffffffffffffffff\r\na"})
    expect_refused(post(chunked, body), 400);
  expect_refused(post(chunked, "5;" + std::string(200'000, 'x') + "\r\naaaaa\r\n0\r\n\r\n"), 400);
}

TEST_F(HostileTest, RefusesHeadersOver16Kib) {
  expect_refused("GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(20U << 10U, 'x') + "\r\n\r\n", 431);
  expect_refused("GET /" + std::string(20U << 10U, 'x'), 431);
  std::string many = "GET / HTTP/1.1\r\nHost: x\r\n";
  for (int i = 0; i < 3000; ++i) many += "a: b\r\n";
  expect_refused(many + "\r\n", 431);
  RawClient client{server->port()};
  client.send("GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(16'000, 'x') + "\r\n\r\n");
  EXPECT_TRUE(client.read_response().starts_with("HTTP/1.1 200"));
}

TEST_F(HostileTest, RefusesBodiesOver8MibHoweverTheyCome) {
  const std::string nine(9U << 20U, 'x');
  expect_refused(post("Content-Length: 9437184\r\n", nine), 413);
  expect_refused(post("Content-Length: 9437184\r\n", ""), 413);  // without waiting for it
  expect_refused(post("Content-Length: 9437184\r\nExpect: 100-continue\r\n", ""), 413);
  expect_refused(post("Transfer-Encoding: chunked\r\n", "900000\r\n" + nine + "\r\n0\r\n\r\n"), 413);
  std::string pieces;
  for (int i = 0; i < 9; ++i) pieces += "100000\r\n" + std::string(1U << 20U, 'x') + "\r\n";
  expect_refused(post("Transfer-Encoding: chunked\r\n", pieces + "0\r\n\r\n"), 413);
  RawClient client{server->port()};
  client.send(post("Content-Length: 8388608\r\n", std::string_view{nine}.substr(0, 8U << 20U)));
  EXPECT_TRUE(client.read_response().ends_with("POST /p 8388608"));
}

TEST_F(HostileTest, RefusesBombsAndBrokenEncodings) {
  const auto send_packed = [&](const std::string& encoding, const std::string& body) {
    RawClient client{server->port()};
    client.send(
        post("Content-Encoding: " + encoding + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n",
             body));
    return client.read_response().substr(9, 3);
  };
  const std::string bomb(6U << 20U, '0');
  EXPECT_EQ(send_packed("gzip", gzip(bomb)), "413");  // ratio
  EXPECT_EQ(send_packed("zstd", zstd(bomb)), "413");
  std::string wide;  // ratio below 100, size above 8 MiB
  for (unsigned i = 0, state = 1; wide.size() < (9U << 20U); ++i, state = state * 1103515245U + 12345U)
    wide += "\"power_watts\":" + std::to_string(state >> 8U) + ",";
  EXPECT_EQ(send_packed("gzip", gzip(wide)), "413");
  EXPECT_EQ(send_packed("zstd", zstd(wide)), "413");
  EXPECT_EQ(send_packed("gzip", "not gzip"), "400");
  EXPECT_EQ(send_packed("gzip", gzip("beats").substr(0, 10)), "400");
  EXPECT_EQ(send_packed("zstd", zstd("beats") + "x"), "400");
  EXPECT_EQ(handled, 0);
  EXPECT_EQ(send_packed("GZIP", gzip("beats")), "200");
}

TEST_F(HostileTest, RefusesEncodingsItDoesNotKnow) {
  for (const auto* encoding : {"br", "gzip, gzip", "deflate", "snappy"})
    expect_refused(post("Content-Encoding: " + std::string{encoding} + "\r\nContent-Length: 1\r\n", "x"),
                   415);
  expect_refused(post("Expect: miracle\r\nContent-Length: 1\r\n", "x"), 417);
}

class OwnEncodingTest : public HostileTest {
 protected:
  static ServerOptions with_own_encoding() {
    ServerOptions options;
    options.own_encodings = {{"/p", "snappy"}};
    return options;
  }
  OwnEncodingTest() : HostileTest(with_own_encoding()) {}
};

TEST_F(OwnEncodingTest, LeavesABodyAloneThatItsHandlerUnpacks) {
  const auto answer =
      all_answers(post("Content-Encoding: Snappy\r\nContent-Length: 3\r\nConnection: close\r\n", "abc"));
  EXPECT_TRUE(answer.ends_with(" 3")) << answer;
  expect_refused(post("Content-Encoding: br\r\nContent-Length: 1\r\n", "x"), 415);
}

TEST_F(HostileTest, ForgetsTruncatedRequests) {
  const std::string whole = post("Content-Length: 10\r\n", "0123456789");
  for (std::size_t cut = 0; cut < whole.size(); cut += 7) {
    EXPECT_EQ(all_answers(std::string_view{whole}.substr(0, cut), true), "") << cut;
  }
  EXPECT_EQ(all_answers(post("Transfer-Encoding: chunked\r\n", "5\r\naaa"), true), "");
  EXPECT_EQ(handled, 0);
}

TEST_F(HostileTest, TakesRequestsByteByByteAndManyInOnePiece) {
  RawClient client{server->port()};
  for (const char c :
       post("Transfer-Encoding: chunked\r\n", "3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: t\r\n\r\n"))
    ASSERT_TRUE(client.send({&c, 1}));
  EXPECT_TRUE(client.read_response().ends_with("POST /p 5"));

  std::string pipeline;
  const std::string large(100'000, 'x');
  for (int i = 0; i < 50; ++i) {
    pipeline += "\r\nGET /" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\n\r\n";
    pipeline += post("Content-Length: 100000\r\n", large);
    pipeline += post("Content-Length: 3\r\n", "abc");
  }
  std::thread sender{[&] { client.send(pipeline); }};
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(client.read_response().ends_with("GET /" + std::to_string(i) + " 0"));
    EXPECT_TRUE(client.read_response().ends_with("POST /p 100000"));
    EXPECT_TRUE(client.read_response().ends_with("POST /p 3"));
  }
  sender.join();
}

TEST_F(HostileTest, AsksForTheBodyOnlyWhenItWillTakeIt) {
  RawClient client{server->port()};
  client.send(post("Content-Length: 3\r\nExpect: 100-continue\r\n", ""));
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("abc");
  EXPECT_TRUE(client.read_response().ends_with("POST /p 3"));
}

TEST_F(HostileTest, ClosesWhenAskedAndFor10) {
  EXPECT_NE(all_answers("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").find("connection: close"),
            std::string::npos);
  EXPECT_NE(all_answers("GET / HTTP/1.0\r\n\r\n").find("connection: close"), std::string::npos);
  RawClient client{server->port()};
  for (int i = 0; i < 2; ++i) {
    client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_NE(client.read_response().find("connection: keep-alive"), std::string::npos);
  }
}

TEST_F(HostileTest, SurvivesRandomBytes) {
  unsigned state = 7;
  const std::string whole = post("Content-Length: 10\r\nContent-Encoding: gzip\r\n", "0123456789");
  for (int turn = 0; turn < 300; ++turn) {
    std::string bytes = whole;
    for (int flips = 0; flips < 4; ++flips) {
      state = state * 1103515245U + 12345U;
      bytes[(state >> 16U) % bytes.size()] = static_cast<char>(state >> 8U);
    }
    all_answers(bytes, true);
  }
}

TEST_F(HostileTest, Holds64ConnectionsWithHalfARequestEach) {
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 64; ++i) {
    clients.push_back(std::make_unique<RawClient>(server->port()));
    clients.back()->send("POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab");
  }
  for (auto& client : clients) client->send("cd");
  for (auto& client : clients) EXPECT_TRUE(client->read_response().ends_with("POST /p 4"));
}

class SlowClientTest : public HostileTest {
 protected:
  SlowClientTest() : HostileTest(impatient()) {}
  static ServerOptions impatient() {
    ServerOptions options;
    options.read_timeout = Milliseconds{200};
    options.idle_timeout = Milliseconds{300};
    return options;
  }
};

TEST_F(SlowClientTest, IsCutInTheHead) { expect_refused("GET / HTTP/1.1\r\nHo", 408); }

TEST_F(SlowClientTest, IsCutInTheBody) {
  expect_refused(post("Content-Length: 10\r\n", "half"), 408);
  expect_refused(post("Transfer-Encoding: chunked\r\n", "5\r\naa"), 408);
}

TEST_F(SlowClientTest, IsCutThoughItSendsAByteNowAndThen) {
  RawClient client{server->port()};
  client.send("GET / HTTP/1.1\r\nX: ");
  int sent = 0;
  while (sent < 400 && client.send("x")) {
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    ++sent;
  }
  EXPECT_LT(sent, 400);  // 20 s
  EXPECT_EQ(handled, 0);
}

TEST_F(SlowClientTest, IsClosedWhenIdle) {
  EXPECT_EQ(all_answers(""), "");
  RawClient client{server->port()};
  client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(client.read_response().starts_with("HTTP/1.1 200"));
  EXPECT_EQ(client.read_until(), "");
}

}  // namespace
}  // namespace tidewatt::net
