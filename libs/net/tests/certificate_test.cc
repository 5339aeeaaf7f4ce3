#include "tidewatt/net/certificate.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "test_certificate.h"

namespace tidewatt::net {
namespace {

std::string pem_of(const TestCertificate& certificate, bool with_key = false) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("tidewatt-certificate-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  certificate.write((folder / "cert.pem").string(), (folder / "key.pem").string());
  std::ostringstream text;
  if (with_key) text << std::ifstream(folder / "key.pem").rdbuf();
  text << std::ifstream(folder / "cert.pem").rdbuf();
  std::filesystem::remove_all(folder);
  return text.str();
}

UtcTime now() { return std::chrono::floor<Milliseconds>(std::chrono::system_clock::now()); }

TEST(CertificateLife, IsThatOfTheCertificate) {
  const auto life = certificate_life(pem_of(TestCertificate{"DNS:localhost"}));
  ASSERT_TRUE(life) << life.error().to_string();
  EXPECT_GT(life->end, now() + std::chrono::hours{23});
  EXPECT_LE(life->end, now() + std::chrono::hours{24});
  EXPECT_LT(life->begin, now());
}

TEST(CertificateLife, OfAChainEndsWithTheFirstThatEnds) {
  const auto week = pem_of(TestCertificate{"DNS:localhost", std::chrono::hours{7 * 24}});
  const auto hour = pem_of(TestCertificate{"DNS:localhost", std::chrono::hours{1}}, true);
  for (const auto& chain : {week + hour, hour + week}) {
    const auto life = certificate_life(chain);
    ASSERT_TRUE(life);
    EXPECT_LE(life->end, now() + std::chrono::hours{1});
  }
}

TEST(CertificateLife, AnythingElseIsNoCertificate) {
  for (const auto* text : {"", "hello", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"})
    EXPECT_FALSE(certificate_life(text)) << text;
}

}  // namespace
}  // namespace tidewatt::net
