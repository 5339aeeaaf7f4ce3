#include "tidewatt/slurm/table.h"

#include <gtest/gtest.h>

namespace tidewatt::slurm {
namespace {

using std::chrono::hours;

const UtcTime kNow = *parse_rfc3339("2026-01-01T00:00:00Z");

/// 500 g, and 50 g in the hours [from, to).
std::vector<runner::SignalSlot> trough(int from, int to, int hours_known = 96) {
  std::vector<runner::SignalSlot> slots;
  for (int h = 0; h < hours_known; ++h)
    slots.push_back({kNow + hours{h}, kNow + hours{h + 1}, h >= from && h < to ? 50.0 : 500.0});
  return slots;
}

TEST(BestBegin, IsTheCleanWindow) {
  const auto best = best_begin(hours{2}, kNow + hours{24}, trough(3, 9), kNow);
  EXPECT_EQ(best.at, kNow + hours{3});
  EXPECT_EQ(best.g_per_kwh, 50);
  EXPECT_EQ(best.now_g_per_kwh, 500);
}

TEST(BestBegin, IsNeverBeyondTheLatestStart) {
  EXPECT_EQ(best_begin(hours{2}, kNow + hours{24}, trough(30, 40), kNow).at, std::nullopt);
  const auto week = best_begin(hours{2}, kNow + hours{24 * 7}, trough(30, 40), kNow);
  EXPECT_EQ(week.at, kNow + hours{30});
  const auto cut = best_begin(hours{6}, kNow + hours{1}, trough(3, 9), kNow);
  ASSERT_TRUE(cut.at);
  EXPECT_LE(*cut.at, kNow + hours{1});
}

TEST(BestBegin, WithoutASignalOrAGainIsAtOnce) {
  EXPECT_EQ(best_begin(hours{2}, kNow + hours{24}, {}, kNow).at, std::nullopt);
  EXPECT_EQ(best_begin(hours{2}, kNow + hours{24}, {}, kNow).now_g_per_kwh, std::nullopt);
  EXPECT_EQ(best_begin(hours{2}, kNow + hours{24}, trough(0, 0), kNow).at, std::nullopt);
  EXPECT_EQ(best_begin(hours{2}, kNow + hours{24}, trough(0, 9), kNow).at, std::nullopt);
  // The whole run must lie where the signal is known.
  EXPECT_EQ(best_begin(hours{20}, kNow + hours{24}, trough(3, 9, 12), kNow).at, std::nullopt);
}

TEST(Table, HasARowForEachLengthAndStaysSmall) {
  auto table = make_table(trough(3, 9), kNow, std::chrono::minutes{30});
  table.qos = {{"low", k8s::Tolerance::daily}};
  const auto text = to_text(table, {});
  EXPECT_TRUE(text.starts_with("tidewatt-slurm/1 made=1767225600 expires=1767227400\n")) << text;
  EXPECT_NE(text.find("\nclass daily slack=86400 900="), std::string::npos);
  EXPECT_NE(text.find("\nqos low daily\n"), std::string::npos);
  EXPECT_NE(text.find(" 3600=1767236400 "), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\nend.\n"));
  EXPECT_LT(text.size(), 4096U);
}

TEST(Table, OfATrialIsInRealTime) {
  const UtcTime real = *parse_rfc3339("2026-11-30T12:00:00Z");
  const RealTime time{real, kNow, 360};
  EXPECT_EQ(time.shown(real + std::chrono::seconds{10}), kNow + hours{1});
  EXPECT_EQ(time.real(kNow + hours{1}), real + std::chrono::seconds{10});
  const auto text = to_text(make_table(trough(3, 9), kNow, hours{1}), time);
  EXPECT_NE(text.find("\nclass daily slack=240 "), std::string::npos);
  EXPECT_NE(text.find(" 10=1796040030 "), std::string::npos) << text;
}

TEST(Qos, IsANameAndATolerance) {
  EXPECT_EQ(qos_from("low=daily"), (std::pair<std::string, k8s::Tolerance>{"low", k8s::Tolerance::daily}));
  for (const auto* text : {"low", "=daily", "lo w=daily", "low=yearly", "a\nb=daily", "low="})
    EXPECT_EQ(qos_from(text), std::nullopt) << text;
}

}  // namespace
}  // namespace tidewatt::slurm
