#include "tidewatt/k8s/watch.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tidewatt::k8s {
namespace {

TEST(WatchLines, AreWholeHoweverTheyAreCut) {
  const std::string text = "{\"a\":1}\n\n{\"b\":2}\n{\"c\":";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    WatchLines lines{100};
    std::vector<std::string> got;
    for (std::size_t at = 0; at < text.size(); at += size)
      EXPECT_TRUE(lines.add(std::string_view{text}.substr(at, size), [&](std::string_view line) {
        got.emplace_back(line);
        return true;
      }));
    EXPECT_EQ(got, (std::vector<std::string>{"{\"a\":1}", "{\"b\":2}"})) << size;
  }
}

TEST(WatchLines, AreBounded) {
  WatchLines lines{8};
  const auto any = [](std::string_view) { return true; };
  EXPECT_TRUE(lines.add("12345678\n1234", any));
  EXPECT_FALSE(lines.add("56789", any));
  WatchLines ended{8};
  EXPECT_FALSE(ended.add("a\nb\n", [](std::string_view line) { return line != "a"; }));
}

TEST(BackOff, DoublesIsSpreadAndHasAnEnd) {
  EXPECT_EQ(back_off(1, 0, {}), Milliseconds{250});
  EXPECT_EQ(back_off(2, 0, {}), Milliseconds{500});
  EXPECT_EQ(back_off(1'000'000, 0, {}), Milliseconds{15'000});
  EXPECT_LE(back_off(1'000'000, 0.999999, {}), Milliseconds{30'000});
  EXPECT_GT(back_off(1, 0.5, {}), back_off(1, 0, {}));
}

TEST(BackOff, HeedsWhatTheServerAsksForWithinReason) {
  EXPECT_EQ(back_off(1, 0, std::chrono::seconds{7}), Milliseconds{7'000});
  EXPECT_EQ(back_off(9, 0, std::chrono::seconds{1}), Milliseconds{15'000});
  EXPECT_EQ(back_off(1, 0, std::chrono::hours{24}), Milliseconds{300'000});
}

TEST(RetryAfter, IsSeconds) {
  EXPECT_EQ(retry_after_of(" 12 "), Milliseconds{12'000});
  for (const auto* text : {"", "-1", "1.5", "Fri, 31 Dec 1999 23:59:59 GMT"})
    EXPECT_FALSE(retry_after_of(text)) << text;
}

}  // namespace
}  // namespace tidewatt::k8s
