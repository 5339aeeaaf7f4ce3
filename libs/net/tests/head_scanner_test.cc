#include "../src/head_scanner.h"

#include <gtest/gtest.h>

#include <string>

namespace tidewatt::net {
namespace {

using State = HeadScanner::State;

State scan(std::string_view bytes, std::size_t max = 1000) { return HeadScanner{max}.scan(bytes); }

TEST(HeadScanner, FindsTheEndWhereverTheBytesAreCut) {
  const std::string head = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::string all = head + "BODY\n\n";
  for (std::size_t cut = 0; cut < head.size(); ++cut) {
    HeadScanner scanner{1000};
    EXPECT_EQ(scanner.scan(std::string_view{all}.substr(0, cut)), State::incomplete) << cut;
    EXPECT_EQ(scanner.scan(all), State::complete) << cut;
    EXPECT_EQ(scanner.size(), head.size()) << cut;
  }
}

TEST(HeadScanner, RefusesWhatOthersReadDifferently) {
  EXPECT_EQ(scan("GET / HTTP/1.1\nHost: x\r\n\r\n"), State::malformed);        // bare line feed
  EXPECT_EQ(scan("GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n"), State::malformed);   // folded
  EXPECT_EQ(scan("GET / HTTP/1.1\r\nA: b\r\n\tc\r\n\r\n"), State::malformed);  // folded
  EXPECT_EQ(scan("GET / HTTP/1.1\r\nA: b\rC: d\r\n\r\n"), State::malformed);   // bare return
  EXPECT_EQ(scan("GET / HTTP/1.1\r\r\n\r\n"), State::malformed);
  EXPECT_EQ(scan(std::string{"GET / HTTP/1.1\r\nA: \0\r\n\r\n", 25}), State::malformed);
  EXPECT_EQ(scan(" GET / HTTP/1.1\r\n\r\n"), State::malformed);
  EXPECT_EQ(scan("\x16\x03\x01\x02"), State::malformed);  // TLS on a plain port
  EXPECT_EQ(scan("GET / HTTP/1.1\r\nA: b\tc\r\n\r\n"), State::complete);
}

TEST(HeadScanner, StopsAtTheLimit) {
  const std::string head = "GET / HTTP/1.1\r\nA: " + std::string(100, 'x') + "\r\n\r\n";
  EXPECT_EQ(scan(head, head.size()), State::complete);
  EXPECT_EQ(scan(head, head.size() - 1), State::too_large);
  EXPECT_EQ(scan(std::string(50, 'x'), 49), State::too_large);
}

}  // namespace
}  // namespace tidewatt::net
