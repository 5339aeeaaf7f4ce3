#include "tidewatt/agent/exposition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidewatt::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr SteadyTime kNow{Milliseconds{1'000'000}};

Snapshot snapshot() {
  Snapshot s;
  s.now = kNow;
  s.version = "0.1.0";
  s.cluster = "default";
  s.node_id = "n1";
  metering::Reading r;
  r.domain = "gpu";
  r.uuid = "GPU-1";
  r.model = "H100";
  r.source = "nvml";
  r.power = Watts{412.5};
  r.at = kNow;
  s.devices.push_back({r});
  r.uuid = "GPU-2";
  r.index = 1;
  r.power.reset();
  s.devices.push_back({r});
  s.sources.push_back({"nvml", SourceWatch::State::up, "", 10, 1});
  s.sources.push_back({"rapl", SourceWatch::State::failing, "permission denied", 3, 3});
  return s;
}

TEST(Prometheus, AnUnknownPowerHasNoLine) {
  const auto text = to_prometheus(snapshot());
  EXPECT_THAT(
      text,
      HasSubstr("tidewatt_agent_device_power_watts{domain=\"gpu\",index=\"0\",uuid=\"GPU-1\",model=\"H100\","
                "source=\"nvml\",quality=\"measured\"} 412.5\n"));
  EXPECT_THAT(text, Not(HasSubstr("GPU-2")));
  EXPECT_THAT(text, Not(HasSubstr("last_success_age"))) << "nothing was ever sent";
  EXPECT_THAT(text, Not(HasSubstr("process_cpu")));
}

TEST(Prometheus, FamiliesAreDeclaredOnceAndOnlyWithSeries) {
  auto s = snapshot();
  s.devices.clear();
  EXPECT_THAT(to_prometheus(s), Not(HasSubstr("device_power_watts")));
  const auto text = to_prometheus(snapshot());
  std::map<std::string, int> helps;
  for (std::size_t at = text.find("# HELP "); at != std::string::npos; at = text.find("# HELP ", at + 1)) {
    ++helps[text.substr(at, text.find(' ', at + 7) - at)];
  }
  EXPECT_GT(helps.size(), 10U);
  for (const auto& [name, count] : helps) EXPECT_EQ(count, 1) << name;
}

TEST(Prometheus, CountersAndAges) {
  auto s = snapshot();
  s.spool.appended = 12;
  s.spool.dropped_full = 3;
  s.sender.sent = 9;
  s.sender.last_success = kNow - Milliseconds{2500};
  s.own_cpu_seconds = 1.25;
  s.own_resident_bytes = 9'000'000;
  const auto text = to_prometheus(s);
  EXPECT_THAT(text, HasSubstr("tidewatt_agent_beats_spooled_total 12\n"));
  EXPECT_THAT(text, HasSubstr("tidewatt_agent_beats_sent_total 9\n"));
  EXPECT_THAT(text, HasSubstr("tidewatt_agent_beats_dropped_total{reason=\"spool_full\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("tidewatt_agent_last_success_age_seconds 2.5\n"));
  EXPECT_THAT(text, HasSubstr("tidewatt_agent_source_up{source=\"rapl\",state=\"failing\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("process_cpu_seconds_total 1.25\n"));
  EXPECT_THAT(text, HasSubstr("process_resident_memory_bytes 9000000\n"));
}

TEST(EscapeLabel, HostileValuesStayInsideTheirQuotes) {
  EXPECT_EQ(escape_label("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
  EXPECT_EQ(escape_label("显卡"), "显卡");
  EXPECT_EQ(escape_label("bad\xff\xc0\xafx"), "bad\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDx");
  EXPECT_EQ(escape_label("\xe2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD") << "cut in the middle";
  EXPECT_EQ(escape_label("\xed\xa0\x80").substr(0, 3), "\xEF\xBF\xBD") << "a surrogate";
  EXPECT_EQ(escape_label(""), "");
}

TEST(Health, IsGoodWhileSomethingIsReadAndTellsTheAgeOfTheNewestChange) {
  auto s = snapshot();
  s.last_read = kNow - Milliseconds{500};
  s.last_change = kNow - Milliseconds{7'300};
  const auto health = health_of(s, kNow - Milliseconds{100'000}, Milliseconds{60'000});
  EXPECT_EQ(health.status, 200);
  EXPECT_THAT(health.body, HasSubstr("7.3 s ago"));
}

TEST(Health, SaysWhatTheSpoolHasLost) {
  auto s = snapshot();
  s.last_read = kNow - Milliseconds{500};
  s.spool.lost_holes = 14;
  const auto health = health_of(s, kNow - Milliseconds{100'000}, Milliseconds{60'000});
  EXPECT_EQ(health.status, 200);
  EXPECT_THAT(health.body, HasSubstr("14 beats lost: the spool's files were damaged or removed"));
}

TEST(Health, IsBadWhenNothingWasReadForThreeBeatsAndSaysWhy) {
  auto s = snapshot();
  s.last_read = kNow - Milliseconds{60'001};
  const auto health = health_of(s, kNow - Milliseconds{100'000}, Milliseconds{60'000});
  EXPECT_EQ(health.status, 503);
  EXPECT_THAT(health.body, HasSubstr("rapl: permission denied"));
}

TEST(Health, TheFirstReadGetsTheSamePatience) {
  const auto s = snapshot();
  EXPECT_EQ(health_of(s, kNow - Milliseconds{60'000}, Milliseconds{60'000}).status, 200);
  EXPECT_EQ(health_of(s, kNow - Milliseconds{60'001}, Milliseconds{60'000}).status, 503);
}

TEST(Prometheus, AttributionTellsItsCostAndWhatItDoesNotKnow) {
  auto s = snapshot();
  EXPECT_THAT(to_prometheus(s), Not(HasSubstr("attribution"))) << "off";
  auto& a = s.attribution.emplace();
  a.looks = 3;
  a.late = 1;
  a.seconds = 0.25;
  a.last.cgroups = 200;
  a.last.unknown_shapes = 2;
  a.last.unknown_processes = 4;
  const auto text = to_prometheus(s);
  EXPECT_THAT(text, HasSubstr("\ntidewatt_agent_attribution_up 1\n"));
  EXPECT_THAT(text, HasSubstr("\ntidewatt_agent_attribution_look_seconds 0.25\n"));
  EXPECT_THAT(text, HasSubstr("\ntidewatt_agent_attribution_late_total 1\n"));
  EXPECT_THAT(text, HasSubstr("\ntidewatt_agent_attribution_cgroups 200\n"));
  EXPECT_THAT(text, HasSubstr("\ntidewatt_agent_attribution_unknown_shapes 2\n"));
  EXPECT_THAT(text, HasSubstr("\ntidewatt_agent_attribution_unknown_processes 4\n"));
  a.last.trouble = "no cgroups";
  EXPECT_THAT(to_prometheus(s), HasSubstr("\ntidewatt_agent_attribution_up 0\n"));
}

}  // namespace
}  // namespace tidewatt::agent
