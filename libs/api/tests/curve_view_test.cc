#include "../src/curve_view.h"

#include <gtest/gtest.h>

#include "api_fixture.h"

namespace tidewatt::api {
namespace {

using ledger::CurvePoint;
using testing::ApiTest;
using testing::at;

constexpr UtcTime kBegin{Milliseconds{1'700'000'000'000}};

CurvePoint point(Milliseconds after, std::optional<std::int64_t> milliwatts,
                 std::vector<std::string> holders = {}) {
  CurvePoint made;
  made.at = kBegin + after;
  ledger::CurveSample sample;
  sample.domain = "gpu";
  if (milliwatts) sample.power = Milliwatts{*milliwatts};
  sample.holders = ledger::TaskSet{std::move(holders)};
  made.devices.push_back(sample);
  return made;
}

CurveRequest request(Milliseconds length, std::size_t points) {
  CurveRequest made;
  made.range = {kBegin, kBegin + length};
  made.points = points;
  made.now = kBegin + length;
  return made;
}

NodeCurves curves_of(std::vector<CurvePoint> points, const CurveRequest& request) {
  return node_curves("n1", *ledger::read_points(std::move(points)), request).value();
}

TEST(NodeCurves, DownSamplingKeepsTheExtremesOfEachBucket) {
  std::vector<CurvePoint> points;
  for (int i = 0; i < 1000; ++i)
    points.push_back(point(Milliseconds{i * 1000}, i == 500 ? 900'000 : i == 510 ? 1'000 : 100'000));
  const auto curves = curves_of(points, request(Milliseconds{1'000'000}, 10));
  EXPECT_TRUE(curves.downsampled);
  ASSERT_EQ(curves.series.at(0).points.size(), 10U);
  double max = 0;
  double min = 1e9;
  for (const auto& bucket : curves.series.at(0).points) {
    max = std::max(max, bucket.max);
    min = std::min(min, bucket.min);
    EXPECT_LE(bucket.min, bucket.mean);
    EXPECT_GE(bucket.max, bucket.mean);
  }
  EXPECT_EQ(max, 900);
  EXPECT_EQ(min, 1);
  EXPECT_TRUE(curves.gaps.empty());
}

TEST(NodeCurves, FewBeatsAreShownAsTheyAre) {
  const auto curves = curves_of({point(Milliseconds{0}, 1000), point(Milliseconds{20'000}, 2000)},
                                request(Milliseconds{30'000}, 10));
  EXPECT_FALSE(curves.downsampled);
  ASSERT_EQ(curves.series.at(0).points.size(), 2U);
  EXPECT_EQ(curves.series.at(0).points[1].at, kBegin + Milliseconds{20'000});
}

TEST(NodeCurves, UnknownPointsAreLeftOutAndNamedAsAGap) {
  const auto curves = curves_of({point(Milliseconds{0}, 1000), point(Milliseconds{20'000}, std::nullopt),
                                 point(Milliseconds{40'000}, 2000)},
                                request(Milliseconds{60'000}, 10));
  EXPECT_EQ(curves.series.at(0).points.size(), 2U);
  ASSERT_EQ(curves.gaps.size(), 1U);
  EXPECT_FALSE(curves.gaps[0].no_data);
  EXPECT_EQ(curves.gaps[0].key, "n1/gpu/0");
  EXPECT_EQ(curves.gaps[0].range, (UtcRange{kBegin, kBegin + Milliseconds{40'000}}));
  EXPECT_EQ(curves.gaps[0].lasting, Milliseconds{20'000}) << "one beat had no value";
}

TEST(NodeCurves, AnUnknownStretchTellsTheSecondsWithoutAValue) {
  std::vector<ledger::CurvePoint> points;
  // Every third beat of 20 s is unknown, for an hour, in 36 buckets of 100 s: one stretch on screen.
  for (int i = 0; i < 180; ++i)
    points.push_back(point(Milliseconds{i * 20'000}, i % 3 == 1 ? std::nullopt : std::optional{1000}));
  const auto curves = curves_of(points, request(Milliseconds{3'600'000}, 36));
  ASSERT_EQ(curves.gaps.size(), 1U);
  EXPECT_EQ(curves.gaps[0].lasting, Milliseconds{60 * 20'000}) << "60 beats, not the hour around them";
  auto other = points;
  for (auto& p : other) {
    if (!p.devices[0].power) p.devices.clear();  // not named at all
    ledger::CurveSample second;
    second.domain = "gpu";
    second.index = 1;
    second.power = Milliwatts{1};
    p.devices.push_back(second);
  }
  auto asked = request(Milliseconds{3'600'000}, 36);
  asked.max_gap = Milliseconds{30'000};
  for (const auto& gap : curves_of(other, asked).gaps) EXPECT_LE(gap.lasting, gap.range.length());
}

TEST(NodeCurves, SilenceIsAGapAlsoAtTheEnds) {
  const auto curves = curves_of({point(Milliseconds{100'000}, 1000), point(Milliseconds{160'000}, 1000),
                                 point(Milliseconds{221'000}, 1000)},
                                request(Milliseconds{400'000}, 10));
  ASSERT_EQ(curves.gaps.size(), 3U);
  EXPECT_EQ(curves.gaps[0].range, (UtcRange{kBegin, kBegin + Milliseconds{100'000}}));
  EXPECT_EQ(curves.gaps[1].range, (UtcRange{kBegin + Milliseconds{160'000}, kBegin + Milliseconds{221'000}}));
  EXPECT_EQ(curves.gaps[2].range, (UtcRange{kBegin + Milliseconds{221'000}, kBegin + Milliseconds{400'000}}));
  for (const auto& gap : curves.gaps) EXPECT_TRUE(gap.no_data);
}

TEST(NodeCurves, TheFutureIsNoGap) {
  auto asked = request(Milliseconds{400'000}, 10);
  asked.now = kBegin + Milliseconds{30'000};
  EXPECT_TRUE(
      curves_of({point(Milliseconds{0}, 1000), point(Milliseconds{20'000}, 1000)}, asked).gaps.empty());
}

TEST(NodeCurves, TheSumSaysHowManyDevicesItKnows) {
  auto first = point(Milliseconds{0}, 100'000);
  first.devices.push_back(first.devices[0]);
  first.devices[1].index = 1;
  auto second = first;
  second.at += Milliseconds{20'000};
  second.devices[1].power.reset();
  auto third = second;
  third.at += Milliseconds{20'000};
  third.devices[0].power.reset();
  const auto curves = curves_of({first, second, third}, request(Milliseconds{60'000}, 10));
  const auto& sum = curves.series.back();
  EXPECT_EQ(sum.index, -1);
  ASSERT_EQ(sum.points.size(), 2U);  // where no device is known there is no sum
  EXPECT_EQ(sum.points[0].mean, 200);
  EXPECT_EQ(sum.points[0].known, 2);
  EXPECT_EQ(sum.points[1].mean, 100);
  EXPECT_EQ(sum.points[1].known, 1);
  EXPECT_EQ(sum.points[1].total, 2);
}

TEST(NodeCurves, ATaskSeesADeviceOnlyWhileItHeldIt) {
  const std::set<std::string> tasks{"t1"};
  auto asked = request(Milliseconds{60'000}, 10);
  asked.held_by = &tasks;
  const auto curves =
      curves_of({point(Milliseconds{0}, 1000, {"t1"}), point(Milliseconds{20'000}, 2000, {"t2"}),
                 point(Milliseconds{40'000}, 3000, {"t1", "t2"})},
                asked);
  ASSERT_EQ(curves.series.at(0).points.size(), 2U);
  EXPECT_EQ(curves.series.at(0).points[1].mean, 3);
}

TEST(CpuEstimate, IsOnlyThereWhereTheUtilisationIsKnown) {
  auto known = point(Milliseconds{0}, 1000);
  known.cpu_util = 0.5;
  const carbon::CpuPowerModel model{Watts{100}, Watts{300}};
  auto asked = request(Milliseconds{60'000}, 10);
  asked.cpu_model = &model;
  const auto estimate = curves_of({known, point(Milliseconds{20'000}, 1000)}, asked).cpu_points;
  ASSERT_EQ(estimate.size(), 1U);
  EXPECT_EQ(estimate[0].mean, 200);
}

class PowerTest : public ApiTest {};

TEST_F(PowerTest, CurvesUseTheExactRangeAndSayWhyThereIsNoEstimate) {
  const auto ops = token(Role::ops);
  one_minute("n1", {"t1"});
  const auto power = get("/api/v1/nodes/n1/power?from=2026-03-01T10:00:30Z&to=2026-03-01T10:01:10Z", ops);
  EXPECT_EQ(power.at("from"), "2026-03-01T10:00:30.000Z");
  ASSERT_EQ(power.at("series").size(), 2U);  // the card and the sum
  EXPECT_EQ(power.at("series").at(0).at("points").size(), 1U);
  EXPECT_EQ(power.at("series").at(0).at("power_limit_watts"), 700.0);
  EXPECT_TRUE(power.at("cpu_estimate").is_null());
  EXPECT_EQ(power.at("cpu_estimate_reason"), "unknown_cpu_model");
  const auto task = get("/api/v1/tasks/t1/power?range=1h", ops);
  EXPECT_EQ(task.at("whole_card"), true);
  EXPECT_EQ(task.at("series").at(0).at("points").size(), 2U);
}

TEST_F(PowerTest, WhatIsOlderThanTheRetentionIsSaidToBe) {
  const auto ops = token(Role::ops);
  one_minute("n1");
  const auto power = get("/api/v1/nodes/n1/power?range=30d", ops);
  EXPECT_EQ(power.at("notes").at(0).at("code"), "curve_retention");
  clock_.advance(Milliseconds{8LL * 24 * 3600 * 1000});
  ASSERT_TRUE(api_->housekeep());
  const auto later = get("/api/v1/nodes/n1/power?from=2026-03-01T00:00:00Z&to=2026-03-02T00:00:00Z", ops);
  EXPECT_TRUE(later.at("series").empty());
  EXPECT_EQ(
      get("/api/v1/nodes/n1/energy?from=2026-03-01T00:00:00Z&to=2026-03-02T00:00:00Z", ops).at("energy_uj"),
      "21600000000");
}

TEST_F(PowerTest, PointsOutsideTheirBoundsAreRefused) {
  const auto ops = token(Role::ops);
  one_minute("n1");
  for (const char* points : {"9", "20001", "x"})
    EXPECT_EQ(call("GET", std::string{"/api/v1/nodes/n1/power?points="} + points, ops).status, 400);
}

}  // namespace
}  // namespace tidewatt::api
