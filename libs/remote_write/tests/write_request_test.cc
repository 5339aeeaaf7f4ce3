// The body of a remote_write request, with its bounds.
#include "tidewatt/remote_write/write_request.h"

#include <gtest/gtest.h>

#include <limits>

#include "tidewatt/testing/remote_write_body.h"

namespace tidewatt::remote_write {
namespace {

using testing::packed;
using testing::remote_write_body;
using testing::SentSeries;
using testing::write_request;

const SentSeries kUp{{{"__name__", "up"}, {"instance", "n1:9100"}}, {{1, 1'000}, {0, 2'000}}};

TEST(WriteRequest, IsSeriesOfSamples) {
  const auto got = parse_write_request(remote_write_body({kUp, kUp}));
  ASSERT_TRUE(got) << got.error().to_string();
  ASSERT_EQ(got->size(), 2U);
  EXPECT_EQ(got->at(1).labels, kUp.labels);
  EXPECT_EQ(got->at(1).label("instance"), "n1:9100");
  EXPECT_EQ(got->at(1).label("job"), "");
  ASSERT_EQ(got->at(0).samples.size(), 2U);
  EXPECT_EQ(got->at(0).samples[0].value, 1.0);
  EXPECT_EQ(got->at(0).samples[1].at, UtcTime{Milliseconds{2'000}});
}

TEST(WriteRequest, WhatIsMadeIsReadBack) {
  const Series power{{{"__name__", "tidewatt_device_power_watts"}, {"node", "n 1"}},
                     {{UtcTime{Milliseconds{1'000}}, 412.5}, {UtcTime{Milliseconds{2'000}}, std::nullopt}}};
  const auto got = parse_write_request(make_write_request({power, power}));
  ASSERT_TRUE(got) << got.error().to_string();
  ASSERT_EQ(got->size(), 2U);
  EXPECT_EQ(got->at(1).labels, power.labels);
  ASSERT_EQ(got->at(1).samples.size(), 1U) << "what isn't known isn't sent";
  EXPECT_EQ(got->at(1).samples[0].value, 412.5);
  EXPECT_EQ(got->at(1).samples[0].at, UtcTime{Milliseconds{1'000}});
  EXPECT_TRUE(parse_write_request(make_write_request({}))->empty());
}

TEST(WriteRequest, AFieldOfAnotherTypeIsRefused) {
  // Field 1 as a number, where a series is due; and a series whose label is one.
  for (const std::string& bytes : {std::string{"\x08\xd8\x2f"}, std::string{"\x0a\x02\x08\x01"}}) {
    const auto got = parse_write_request(packed(bytes));
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, ErrorCode::invalid_input);
  }
}

TEST(WriteRequest, AStaleMarkerAndWhatIsNotFiniteAreNoValue) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto got = parse_write_request(remote_write_body({{{{"__name__", "up"}},
                                                           {{testing::kStaleMarker, 1},
                                                            {std::numeric_limits<double>::quiet_NaN(), 2},
                                                            {-kInfinity, 3},
                                                            {7, 4}}}}));
  ASSERT_TRUE(got);
  const auto& samples = got->at(0).samples;
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(samples[i].value, std::nullopt) << i;
  EXPECT_EQ(samples[3].value, 7.0);
}

TEST(WriteRequest, UnknownFieldsAndSeriesWithoutSamplesAreLeftOut) {
  std::string message = write_request({kUp, {{{"__name__", "empty"}}, {}}});
  protozero::pbf_writer{message}.add_string(3, "metadata");
  const auto got = parse_write_request(packed(message));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->size(), 1U);
  EXPECT_TRUE(parse_write_request(packed(""))->empty());
}

TEST(WriteRequest, WhatIsNoneIsRefusedInOneLine) {
  const auto message = write_request({kUp});
  SentSeries many_labels{{}, {{1, 1}}};
  for (int i = 0; i < 200; ++i) many_labels.labels.emplace_back("l" + std::to_string(i), "v");
  const std::pair<std::string, std::string> rows[] = {
      {"not snappy at all", "snappy"},
      {packed(message).substr(0, 9), "snappy"},
      {packed(message.substr(0, message.size() - 3)), "no WriteRequest"},
      {packed(std::string(9U << 20U, '\0')), "unpacks to 9437184 bytes"},
      {remote_write_body({many_labels}), "more than 128 labels"},
      {remote_write_body({{{{"__name__", std::string(3'000, 'x')}}, {{1, 1}}}}), "more than 2048 bytes"},
      {remote_write_body({{{{"__name__", "up"}}, {{1, -5}}}}), "time of -5 ms"},
      {remote_write_body(
           {{{{"__name__", "up"}}, std::vector<std::pair<double, std::int64_t>>(100'001, {1, 1})}}),
       "more than 100000 samples"},
  };
  for (const auto& [body, word] : rows) {
    const auto got = parse_write_request(body);
    ASSERT_FALSE(got) << word;
    EXPECT_NE(got.error().to_string().find(word), std::string::npos) << got.error().to_string();
    EXPECT_EQ(got.error().to_string().find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace tidewatt::remote_write
