#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "raw_client.h"
#include "test_certificate.h"
#include "tidewatt/net/client.h"
#include "tidewatt/net/server.h"

namespace tidewatt::net {
namespace {

class TlsTest : public testing::Test {
 protected:
  TlsTest() {
    std::string name = (std::filesystem::temp_directory_path() / "tidewatt-tls-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no temporary folder";
    folder = name;
  }
  ~TlsTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  [[nodiscard]] std::string file(const std::string& name) const { return folder + "/" + name; }
  std::unique_ptr<Server> serve(const std::string& names) {
    TestCertificate{names}.write(file("cert.pem"), file("key.pem"));
    ServerOptions options;
    options.tls_certificate_file = file("cert.pem");
    options.tls_key_file = file("key.pem");
    auto server = Server::listen(options, [](const Request& request) {
      return Response{200, {}, (request.tls ? "tls " : "plain ") + request.body};
    });
    if (!server) ADD_FAILURE() << server.error().to_string();
    return std::move(*server);
  }
  Result<Response> call(const Server& server, const std::string& host, const std::string& ca,
                        std::string body = {}) {
    ClientOptions options;
    options.ca_file = ca;
    return make_http_client(options)->send(
        {"POST", "https://" + host + ":" + std::to_string(server.port()) + "/", {}, std::move(body)});
  }

  std::string folder;
};

TEST_F(TlsTest, CarriesRequestsOverOneKeptConnection) {
  const auto server = serve("IP:127.0.0.1");
  ClientOptions options;
  options.ca_file = file("cert.pem");
  const auto client = make_http_client(options);
  for (const std::size_t size : {0U, 10U, 100'000U, 5'000'000U}) {
    const std::string body(size, 'x');
    const auto answer =
        client->send({"POST", "https://127.0.0.1:" + std::to_string(server->port()) + "/", {}, body});
    ASSERT_TRUE(answer) << answer.error().to_string();
    EXPECT_EQ(answer->body, "tls " + body);
  }
  EXPECT_EQ(server->stats().connections, 1U);
}

TEST_F(TlsTest, VerifiesTheAuthority) {
  const auto server = serve("IP:127.0.0.1");
  const auto answer = call(*server, "127.0.0.1", "");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::io);
  EXPECT_NE(answer.error().message.find("certificate"), std::string::npos) << answer.error().to_string();
}

TEST_F(TlsTest, AnUnknownAuthorityIsGivenAsTheCallersUserGivesIt) {
  const auto server = serve("IP:127.0.0.1");
  TestCertificate{"IP:127.0.0.1"}.write(file("stranger.pem"), file("stranger-key.pem"));
  for (const auto& ca : {std::string{}, file("stranger.pem")}) {
    ClientOptions options;
    options.ca_file = ca;
    options.how_to_give_ca = "\";ca=FILE\" behind the source";
    const auto answer = make_http_client(options)->send(
        {"GET", "https://127.0.0.1:" + std::to_string(server->port()) + "/", {}, ""});
    ASSERT_FALSE(answer);
    EXPECT_NE(answer.error().hint.find(options.how_to_give_ca), std::string::npos) << answer.error().hint;
    EXPECT_EQ(answer.error().hint.find("--ca-file"), std::string::npos);
    EXPECT_EQ(answer.error().hint.starts_with(file("stranger.pem")), !ca.empty()) << answer.error().hint;
  }
}

TEST_F(TlsTest, VerifiesTheHostName) {
  const auto server = serve("DNS:other.example,IP:10.0.0.1");
  const auto answer = call(*server, "127.0.0.1", file("cert.pem"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::io);
}

TEST_F(TlsTest, RefusesLargeBodiesWithAnAnswer) {
  const auto server = serve("IP:127.0.0.1");
  const auto answer = call(*server, "127.0.0.1", file("cert.pem"), std::string(9U << 20U, 'x'));
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_EQ(answer->status, 413);
}

TEST_F(TlsTest, StreamsEvents) {
  const auto server = serve("IP:127.0.0.1");
  server->add_stream("/stream",
                     [](const Request&, std::shared_ptr<EventSink> sink) -> std::optional<Response> {
                       std::thread{[sink = std::move(sink)] {
                         while (sink->send("tick", std::string(60'000, 'x'))) std::this_thread::yield();
                       }}.detach();
                       return std::nullopt;
                     });
  ClientOptions options;
  options.ca_file = file("cert.pem");
  options.max_response_bytes = 100'000;
  // An endless answer runs into the client's limit.
  const auto answer = make_http_client(options)->send(
      {"GET", "https://127.0.0.1:" + std::to_string(server->port()) + "/stream", {}, ""});
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("100000"), std::string::npos) << answer.error().to_string();
}

TEST_F(TlsTest, SurvivesClientsThatDoNotSpeakTls) {
  const auto server = serve("IP:127.0.0.1");
  RawClient plain{server->port()};
  plain.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(plain.read_until().find("HTTP/1.1"), std::string::npos);
  RawClient gone{server->port()};
  gone.send("\x16\x03\x01");
  gone.close();
  EXPECT_TRUE(call(*server, "127.0.0.1", file("cert.pem")));
}

TEST_F(TlsTest, ANewPairIsForNewConnectionsAndTheOldOnesGoOn) {
  const auto server = serve("IP:127.0.0.1");
  std::filesystem::copy_file(file("cert.pem"), file("old.pem"));
  ClientOptions options;
  options.ca_file = file("old.pem");
  const auto kept = make_http_client(options);
  const ClientRequest request{"GET", "https://127.0.0.1:" + std::to_string(server->port()) + "/", {}, ""};
  ASSERT_TRUE(kept->send(request));

  TestCertificate{"IP:127.0.0.1"}.write(file("cert.pem"), file("key.pem"));
  EXPECT_TRUE(call(*server, "127.0.0.1", file("old.pem"))) << "nothing changes before it is told to";
  const auto reloaded = server->reload_tls();
  ASSERT_TRUE(reloaded) << reloaded.error().to_string();

  EXPECT_TRUE(call(*server, "127.0.0.1", file("cert.pem")));
  EXPECT_FALSE(call(*server, "127.0.0.1", file("old.pem")));
  const auto connections = server->stats().connections;
  EXPECT_TRUE(kept->send(request));
  EXPECT_EQ(server->stats().connections, connections) << "the old connection was not made anew";
}

TEST_F(TlsTest, ABrokenPairLeavesTheOldOne) {
  const auto server = serve("IP:127.0.0.1");
  std::filesystem::copy_file(file("cert.pem"), file("old.pem"));
  std::filesystem::copy_file(file("key.pem"), file("old.key"));
  const auto still_served = [&] { return call(*server, "127.0.0.1", file("old.pem")).has_value(); };

  TestCertificate{"IP:127.0.0.1"}.write(file("cert.pem"), file("other.key"));  // the key isn't its own
  const auto mismatch = server->reload_tls();
  ASSERT_FALSE(mismatch);
  EXPECT_NE(mismatch.error().message.find(file("key.pem")), std::string::npos) << mismatch.error().message;
  EXPECT_FALSE(mismatch.error().hint.empty());
  EXPECT_TRUE(still_served());

  std::ofstream{file("cert.pem")} << "-----BEGIN CERTIFICATE-----\nhalf a fil";
  EXPECT_EQ(server->reload_tls().error().code, ErrorCode::io);
  EXPECT_TRUE(still_served());
  std::filesystem::remove(file("cert.pem"));
  EXPECT_FALSE(server->reload_tls());
  EXPECT_TRUE(still_served());

  std::filesystem::copy_file(file("old.pem"), file("cert.pem"));
  EXPECT_TRUE(server->reload_tls());
  EXPECT_TRUE(still_served());
}

TEST_F(TlsTest, ReloadsWhileConnectionsCome) {
  const auto server = serve("IP:127.0.0.1");
  std::atomic<bool> done{false};
  std::thread reloader{[&] {
    while (!done) EXPECT_TRUE(server->reload_tls());
  }};
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(call(*server, "127.0.0.1", file("cert.pem")));
  done = true;
  reloader.join();
}

TEST_F(TlsTest, WithoutTlsThereIsNothingToReload) {
  const auto server = Server::listen({}, [](const Request&) { return Response{}; });
  ASSERT_TRUE(server);
  EXPECT_EQ((*server)->reload_tls().error().code, ErrorCode::invalid_input);
}

TEST_F(TlsTest, AnExpiredCertificateIsNotServedAndLeavesTheOneBefore) {
  ServerOptions options;
  options.tls_certificate_file = file("life.pem");
  options.tls_key_file = file("life.key");
  TestCertificate{"IP:127.0.0.1", std::chrono::hours{-1}}.write(file("life.pem"), file("life.key"));
  const auto refused = Server::listen(options, [](const Request&) { return Response{}; });
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("expired at"), std::string::npos) << refused.error().message;
  TestCertificate{"IP:127.0.0.1", std::chrono::hours{48}}.write(file("life.pem"), file("life.key"));
  const auto server = Server::listen(options, [](const Request&) { return Response{}; });
  ASSERT_TRUE(server);
  const auto end = (*server)->stats().certificate_end;
  ASSERT_TRUE(end);
  TestCertificate{"IP:127.0.0.1", std::chrono::hours{-1}}.write(file("life.pem"), file("life.key"));
  EXPECT_FALSE((*server)->reload_tls());
  EXPECT_EQ((*server)->stats().certificate_end, end);
}

TEST_F(TlsTest, SaysWhichFileIsWrong) {
  TestCertificate{"DNS:a"}.write(file("a.pem"), file("a.key"));
  TestCertificate{"DNS:b"}.write(file("b.pem"), file("b.key"));
  std::ofstream{file("empty")};
  const auto listen = [&](const std::string& certificate, const std::string& key) {
    ServerOptions options;
    options.tls_certificate_file = file(certificate);
    options.tls_key_file = file(key);
    const auto server = Server::listen(options, [](const Request&) { return Response{}; });
    return server ? std::string{} : server.error().message;
  };
  EXPECT_EQ(listen("a.pem", "a.key"), "");
  EXPECT_NE(listen("missing", "a.key").find(file("missing")), std::string::npos);
  EXPECT_NE(listen("empty", "a.key").find(file("empty")), std::string::npos);
  EXPECT_NE(listen("a.pem", "b.key").find(file("b.key")), std::string::npos);
  ClientOptions options;
  options.ca_file = file("missing");
  const auto answer = make_http_client(options)->send({"GET", "https://127.0.0.1:1/", {}, ""});
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find(file("missing")), std::string::npos);
}

}  // namespace
}  // namespace tidewatt::net
