// The client against servers of every kind of bad manners.
#include "tidewatt/net/client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace tidewatt::net {
namespace {

/// Listens and hands every connection to a script, one after the other.
class ScriptedServer {
 public:
  using Script = std::function<void(int fd)>;

  explicit ScriptedServer(std::vector<Script> scripts)
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(fd_, 16), 0);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread{[this, scripts = std::move(scripts)] {
      for (const auto& script : scripts) {
        const int peer = ::accept(fd_, nullptr, nullptr);
        if (peer < 0) return;
        script(peer);
        ::close(peer);
      }
    }};
  }
  ~ScriptedServer() {
    ::shutdown(fd_, SHUT_RDWR);
    thread_.join();
    ::close(fd_);
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/x"; }

 private:
  int fd_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

std::string read_request(int fd) {
  std::string text;
  char chunk[4096];
  while (text.find("\r\n\r\n") == std::string::npos) {
    const auto got = ::recv(fd, chunk, sizeof chunk, 0);
    if (got <= 0) break;
    text.append(chunk, static_cast<std::size_t>(got));
  }
  return text;
}

void say(int fd, std::string_view text) { ::send(fd, text.data(), text.size(), MSG_NOSIGNAL); }

/// Reads one request, answers with `text`.
ScriptedServer::Script answer(std::string text) {
  return [text = std::move(text)](int fd) {
    read_request(fd);
    say(fd, text);
  };
}

/// Waits until the client hangs up.
void await_end(int fd) {
  char chunk[4096];
  while (::recv(fd, chunk, sizeof chunk, 0) > 0) {
  }
}

Result<Response> get(HttpClient& client, const ScriptedServer& server) {
  return client.send({"GET", server.url(), {}, ""});
}

TEST(HttpClient, ReadsLengthsChunksAndAnswersThatEndWithTheConnection) {
  const ScriptedServer server{
      {answer("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\nX-A: 1\r\nx-a: 2\r\n\r\nabc"),
       answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: "
              "close\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"),
       answer("HTTP/1.0 200 OK\r\n\r\nabc"),
       answer("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: "
              "close\r\n\r\nabc")}};
  const auto client = make_http_client({});
  for (int i = 0; i < 4; ++i) {
    const auto got = get(*client, server);
    ASSERT_TRUE(got) << got.error().to_string();
    EXPECT_EQ(got->status, 200);
    EXPECT_EQ(got->body, "abc") << i;
    EXPECT_EQ(got->headers.contains("x-a") ? got->headers.at("x-a") : "1, 2", "1, 2");
  }
}

TEST(HttpClient, SendsWhatItWasGiven) {
  std::string seen;
  {
    const ScriptedServer server{{[&](int fd) {
      seen = read_request(fd);
      say(fd, "HTTP/1.1 204 No Content\r\n\r\n");
    }}};
    const auto client = make_http_client({});
    EXPECT_EQ(client->send({"DELETE", server.url() + "?a=%20", {{"authorization", "Bearer t"}}, ""})->status,
              204);
  }
  EXPECT_TRUE(seen.starts_with("DELETE /x?a=%20 HTTP/1.1\r\nhost: 127.0.0.1:")) << seen;
  EXPECT_NE(seen.find("\r\nauthorization: Bearer t\r\n"), std::string::npos);
  EXPECT_NE(seen.find("\r\ncontent-length: 0\r\n"), std::string::npos);
}

TEST(HttpClient, RetriesOnceWhenAKeptConnectionWasClosed) {
  int requests = 0;
  const auto then_close = [&](int fd) {
    read_request(fd);
    ++requests;
    say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  };
  {
    const ScriptedServer server{{then_close, then_close, then_close}};
    const auto client = make_http_client({});
    for (int i = 0; i < 3; ++i) {
      const auto got = get(*client, server);
      ASSERT_TRUE(got) << got.error().to_string();
      EXPECT_EQ(got->body, "ok");
    }
  }
  EXPECT_EQ(requests, 3);
}

TEST(HttpClient, DoesNotRetryOnAFreshConnection) {
  const ScriptedServer server{
      {[](int fd) { read_request(fd); }, answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")}};
  const auto client = make_http_client({});
  const auto got = get(*client, server);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::unavailable);
  EXPECT_EQ(get(*client, server)->status, 200);
}

TEST(HttpClient, DoesNotRetryOnceAnAnswerHasBegun) {
  const ScriptedServer server{{[](int fd) {
                                 read_request(fd);
                                 say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
                                 read_request(fd);
                                 say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no");
                               },
                               answer("HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n")}};
  const auto client = make_http_client({});
  EXPECT_TRUE(get(*client, server));
  const auto cut = get(*client, server);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, ErrorCode::unavailable);
}

TEST(HttpClient, HoldsItsDeadlineOverTheWholeExchange) {
  const ScriptedServer server{{[](int fd) {
                                 read_request(fd);
                                 await_end(fd);
                               },
                               [](int fd) {
                                 read_request(fd);
                                 say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
                                 for (int i = 0; i < 400; ++i) {
                                   if (::send(fd, "x", 1, MSG_NOSIGNAL) < 0) return;
                                   std::this_thread::sleep_for(std::chrono::milliseconds{50});
                                 }
                               }}};
  ClientOptions options;
  options.deadline = Milliseconds{300};
  const auto client = make_http_client(options);
  for (int i = 0; i < 2; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const auto late = get(*client, server);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, ErrorCode::timed_out) << late.error().to_string();
    EXPECT_GE(std::chrono::steady_clock::now() - begin, options.deadline);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{10});
  }
}

TEST(HttpClient, RefusesAnswersThatAreTooLargeOrNoHttp) {
  const ScriptedServer server{{answer("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n01234567890"),
                               answer("HTTP/1.0 200 OK\r\n\r\n01234567890"),
                               answer("SSH-2.0-OpenSSH_9.2\r\n\r\n"),
                               answer("HTTP/1.1 200 OK\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n")}};
  ClientOptions options;
  options.max_response_bytes = 10;
  const auto client = make_http_client(options);
  for (int i = 0; i < 4; ++i) {
    const auto got = get(*client, server);
    ASSERT_FALSE(got) << i;
    EXPECT_EQ(got.error().code, ErrorCode::io) << got.error().to_string();
  }
}

TEST(HttpClientStream, GivesPiecesAsTheyCome) {
  ScriptedServer server{{[](int fd) {
    read_request(fd);
    say(fd, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\none\n\r\n");
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
    say(fd, "4\r\ntwo\n\r\n0\r\n\r\n");
  }}};
  std::vector<std::string> pieces;
  Streaming streaming;
  streaming.on_piece = [&](std::string_view piece) {
    pieces.emplace_back(piece);
    return true;
  };
  const auto answer = make_http_client({})->stream({"GET", server.url(), {}, {}}, streaming);
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(pieces, (std::vector<std::string>{"one\n", "two\n"}));
}

TEST(HttpClientStream, BringsTheBodyOfWhatIsNo200) {
  ScriptedServer server{{answer("HTTP/1.1 410 Gone\r\nretry-after: 3\r\ncontent-length: 4\r\n\r\ngone")}};
  Streaming streaming;
  streaming.on_piece = [](std::string_view) {
    ADD_FAILURE();
    return true;
  };
  const auto got = make_http_client({})->stream({"GET", server.url(), {}, {}}, streaming);
  ASSERT_TRUE(got) << got.error().to_string();
  EXPECT_EQ(got->status, 410);
  EXPECT_EQ(got->body, "gone");
  EXPECT_EQ(got->headers.at("retry-after"), "3");
}

TEST(HttpClientStream, EndsWhenNothingComesOrItIsToldTo) {
  const auto silent = [](int fd) {
    read_request(fd);
    say(fd, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\none\n\r\n");
    char byte = 0;
    while (::recv(fd, &byte, 1, 0) > 0) {
    }
  };
  ScriptedServer server{
      {silent, silent, silent, answer("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\non")}};
  const auto client = make_http_client({});
  Streaming streaming;
  streaming.on_piece = [](std::string_view) { return true; };
  streaming.silence = Milliseconds{100};
  const auto late = client->stream({"GET", server.url(), {}, {}}, streaming);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::timed_out);
  streaming.silence = Milliseconds{60'000};
  streaming.on_piece = [](std::string_view) { return false; };
  EXPECT_TRUE(client->stream({"GET", server.url(), {}, {}}, streaming));
  streaming.on_piece = [](std::string_view) { return true; };
  streaming.go_on = [] { return false; };
  EXPECT_TRUE(client->stream({"GET", server.url(), {}, {}}, streaming));
  streaming.go_on = nullptr;
  const auto cut = client->stream({"GET", server.url(), {}, {}}, streaming);
  ASSERT_FALSE(cut) << "an answer that breaks off is no end";
  EXPECT_EQ(cut.error().code, ErrorCode::unavailable);
}

TEST(HttpClient, SaysThatNobodyListens) {
  std::string url;
  {
    url = ScriptedServer{{}}.url();
  }
  const auto got = make_http_client({})->send({"GET", url, {}, ""});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::unavailable);
  EXPECT_NE(got.error().message.find("127.0.0.1"), std::string::npos);
}

TEST(HttpClient, LooksUpHostNames) {
  const ScriptedServer server{{answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")}};
  std::string url = server.url();
  url.replace(url.find("127.0.0.1"), 9, "localhost");
  const auto got = make_http_client({})->send({"GET", url, {}, ""});
  ASSERT_TRUE(got) << got.error().to_string();
}

TEST(HttpClient, RefusesToSendHeadersThatForgeLines) {
  const auto client = make_http_client({});
  const auto code = [&](const ClientRequest& request) { return client->send(request).error().code; };
  EXPECT_EQ(code({"GET", "http://127.0.0.1:1/", {{"a", "b\r\nc: d"}}, ""}), ErrorCode::invalid_input);
  EXPECT_EQ(code({"GET", "http://127.0.0.1:1/", {{"a b", "c"}}, ""}), ErrorCode::invalid_input);
  EXPECT_EQ(code({"GET /x", "http://127.0.0.1:1/", {}, ""}), ErrorCode::invalid_input);
  EXPECT_EQ(code({"GET", "127.0.0.1:1", {}, ""}), ErrorCode::invalid_input);
}

}  // namespace
}  // namespace tidewatt::net
