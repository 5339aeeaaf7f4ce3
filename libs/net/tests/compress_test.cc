#include "tidewatt/net/compress.h"

#include <gtest/gtest.h>

#include <string>

namespace tidewatt::net {
namespace {

constexpr std::size_t kLimit = 8U << 20U;

/// Text that packs like a batch of beats: similar lines, changing figures.
std::string beats(std::size_t lines) {
  std::string text;
  unsigned state = 12345;
  for (std::size_t i = 0; i < lines; ++i) {
    state = state * 1103515245U + 12345U;
    text += "{\"node_id\":\"gpu-a01\",\"seq\":" + std::to_string(i) +
            ",\"power_watts\":" + std::to_string(state % 700000) + "}\n";
  }
  return text;
}

struct Codec {
  const char* name;
  std::string (*pack)(std::string_view);
  Result<std::string> (*unpack)(std::string_view, std::size_t, std::size_t);
};

class CompressTest : public testing::TestWithParam<Codec> {};

TEST_P(CompressTest, RoundTrips) {
  const auto& codec = GetParam();
  for (const auto& text : {std::string{}, std::string{"x"}, beats(10), beats(20'000)}) {
    const auto back = codec.unpack(codec.pack(text), kLimit, 100);
    ASSERT_TRUE(back) << back.error().to_string();
    EXPECT_EQ(*back, text);
  }
  EXPECT_LT(codec.pack(beats(1000)).size() * 3, beats(1000).size());
}

TEST_P(CompressTest, StopsAtTheLimitOfBytes) {
  const auto& codec = GetParam();
  const std::string text = beats(1000);
  EXPECT_TRUE(codec.unpack(codec.pack(text), text.size(), 100));
  const auto cut = codec.unpack(codec.pack(text), text.size() - 1, 100);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, ErrorCode::invalid_input);
}

TEST_P(CompressTest, StopsABombAtTheRatio) {
  const auto& codec = GetParam();
  const std::string bomb = codec.pack(std::string(4U << 20U, '0'));
  const auto refused = codec.unpack(bomb, kLimit, 100);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("100 times"), std::string::npos);
  EXPECT_TRUE(codec.unpack(bomb, kLimit, 1'000'000));
}

TEST_P(CompressTest, RefusesEveryTruncation) {
  const auto& codec = GetParam();
  const std::string packed = codec.pack(beats(20));
  for (std::size_t size = 0; size < packed.size(); ++size)
    EXPECT_FALSE(codec.unpack(std::string_view{packed}.substr(0, size), kLimit, 100)) << size;
}

TEST_P(CompressTest, RefusesGarbageAlsoBehindGoodData) {
  const auto& codec = GetParam();
  EXPECT_FALSE(codec.unpack("", kLimit, 100));
  EXPECT_FALSE(codec.unpack("not compressed at all", kLimit, 100));
  EXPECT_FALSE(codec.unpack(codec.pack(beats(20)) + "garbage", kLimit, 100));
}

TEST_P(CompressTest, ReadsSeveralPiecesInARow) {
  const auto& codec = GetParam();
  const auto both = codec.unpack(codec.pack("one ") + codec.pack("two"), kLimit, 100);
  ASSERT_TRUE(both) << both.error().to_string();
  EXPECT_EQ(*both, "one two");
}

TEST_P(CompressTest, NoticesFlippedBits) {
  const auto& codec = GetParam();
  std::string packed = codec.pack(beats(200));
  int noticed = 0;
  for (std::size_t i = packed.size() / 2; i < packed.size() / 2 + 32; ++i) {
    packed[i] = static_cast<char>(packed[i] ^ 0x10);
    const auto read = codec.unpack(packed, kLimit, 100);
    noticed += !read || *read != beats(200) ? 1 : 0;
    packed[i] = static_cast<char>(packed[i] ^ 0x10);
  }
  EXPECT_EQ(noticed, 32);
}

INSTANTIATE_TEST_SUITE_P(Codecs, CompressTest,
                         testing::Values(Codec{"gzip", gzip, gunzip}, Codec{"zstd", zstd, unzstd}),
                         [](const auto& codec) { return std::string{codec.param.name}; });

}  // namespace
}  // namespace tidewatt::net
