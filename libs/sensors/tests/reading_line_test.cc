#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

#include "tidewatt/sensors/isolated.h"

namespace tidewatt::sensors {
namespace {

Reading full() {
  Reading r;
  r.domain = "gpu";
  r.index = 7;
  r.uuid = "GPU-aa;\t\n\\x\x1e=";
  r.vendor = "nvidia";
  r.model = "H100 80GB \xe2\x84\x83";
  r.power = Watts{301.123456789};
  r.energy_total = Joules{123'456'789.001};
  r.counter_epoch = "nvml-1-0-0";
  r.power_limit = Watts{700};
  r.util = 0.1;
  r.memory_used_bytes = std::numeric_limits<std::int64_t>::max();
  r.health = Health{51.5, std::numeric_limits<std::uint64_t>::max(), 0, 79};
  r.source = "nvml";
  r.quality = Quality::simulated;
  r.reason = "sentinel: 0xffffffff";
  r.holders = {{"a;b\\", 0.5, std::nullopt, HolderState::sleeping},
               {"c", std::nullopt, 0.25, HolderState::unknown}};
  metering::DeviceProcesses processes;
  processes.at = SteadyTime{Milliseconds{123}};
  processes.memory_total = 80;
  processes.processes = {{100, 5, std::uint64_t{1} << 32U | 2U, 4},
                         {101, std::nullopt, std::nullopt, std::nullopt}};
  r.processes = processes;
  r.at = SteadyTime{Milliseconds{98'765'432}};
  return r;
}

TEST(ReadingLine, EverythingComesBack) {
  const auto line = to_line(full());
  EXPECT_EQ(line.find_first_of("\n\x1e"), std::string::npos);
  const auto back = reading_from_line(line);
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(to_line(*back), line);
  EXPECT_EQ(back->uuid, full().uuid);
  EXPECT_EQ(back->power, full().power);
  EXPECT_EQ(back->energy_total, full().energy_total);
  EXPECT_EQ(back->health->throttle_reasons, full().health->throttle_reasons);
  EXPECT_EQ(back->health->ecc_errors, 0);
  EXPECT_EQ(back->quality, Quality::simulated);
  ASSERT_EQ(back->holders.size(), 2U);
  EXPECT_EQ(back->holders[0].task_id, "a;b\\");
  EXPECT_EQ(back->holders[0].compute_share, 0.5);
  EXPECT_EQ(back->holders[0].state, HolderState::sleeping);
  EXPECT_EQ(back->holders[1].memory_share, 0.25);
  ASSERT_EQ(back->processes->processes.size(), 2U);
  EXPECT_EQ(back->processes->processes[0].instance, std::uint64_t{1} << 32U | 2U);
  EXPECT_EQ(back->processes->processes[0].compute_slices, 4);
  EXPECT_EQ(back->processes->processes[1].memory_used, std::nullopt);
  EXPECT_EQ(back->processes->at, full().processes->at);
  EXPECT_EQ(back->at, full().at);
}

TEST(ReadingLine, UnknownStaysUnknownAndZeroStaysZero) {
  Reading r;
  r.domain = "gpu";
  r.util = 0;
  r.processes.emplace();
  r.health.emplace();
  const auto back = reading_from_line(to_line(r));
  ASSERT_TRUE(back);
  EXPECT_FALSE(back->power || back->energy_total || back->memory_used_bytes || back->power_limit);
  EXPECT_EQ(back->util, 0.0);
  ASSERT_TRUE(back->processes) << "none runs, which is not the same as not told";
  EXPECT_TRUE(back->processes->processes.empty());
  ASSERT_TRUE(back->health);
  EXPECT_FALSE(back->health->temperature_c);
  EXPECT_FALSE(reading_from_line(to_line([] {
                 Reading plain;
                 plain.domain = "gpu";
                 return plain;
               }()))
                   ->processes);
}

TEST(ReadingLine, WhatToLineDoesNotWriteIsRefused) {
  for (const char* bad :
       {"", "domain", "domain=gpu", "at=1", "domain=gpu\tat=1\tat=2", "domain=gpu\tat=1\tcolour=red",
        "domain=gpu\tat=1\tpower=nan", "domain=gpu\tat=1\tpower=1 W",
        "domain=gpu\tat=1\tpower=", "domain=gpu\tat=1\tindex=99999999999", "domain=g\\x4\tat=1",
        "domain=g\\n\tat=1", "domain=g\\xZZ\tat=1", "domain=gpu\tat=1\tprocess=1;;;",
        "domain=gpu\tat=1\tprocesses=1", "domain=gpu\tat=1\tholder=a;;;dancing",
        "domain=gpu\tat=1\ttemperature=5", "domain=gpu\tat=1\tquality=wild"}) {
    const auto read = reading_from_line(bad);
    ASSERT_FALSE(read) << bad;
    EXPECT_EQ(read.error().code, ErrorCode::corrupt);
    EXPECT_EQ(read.error().message.find('\n'), std::string::npos);
  }
}

TEST(ReadingLine, ALookIsOneLine) {
  const auto line = to_answer(std::vector{full(), full()});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(look_from_answer(line)->size(), 2U);
  EXPECT_TRUE(look_from_answer(to_answer(std::vector<Reading>{}))->empty());
}

TEST(ReadingLine, AnErrorComesBackAsThatError) {
  const auto back = look_from_answer(to_answer(fail(ErrorCode::not_found, "no\tlib\n", "install \\ it")));
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().code, ErrorCode::not_found);
  EXPECT_EQ(back.error().message, "no\tlib\n");
  EXPECT_EQ(back.error().hint, "install \\ it");
  for (const char* bad : {"error", "error\t1\tx", "error\t99\tx\ty", "error\t-1\tx\ty", "error\t1\tx\ty\tz"})
    EXPECT_EQ(look_from_answer(bad).error().code, ErrorCode::corrupt) << bad;
}

TEST(ReadingLine, AnswersAreBounded) {
  Reading r = full();
  r.reason.assign(100'000, '\x01');
  r.processes->processes.assign(100'000, {});
  const auto line = to_answer(std::vector{r});
  EXPECT_LT(line.size(), kMaxAnswerBytes);
  const auto back = look_from_answer(line);
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(back->at(0).reason.size(), 1024U);
  EXPECT_EQ(back->at(0).processes->processes.size(), 16'384U);
  EXPECT_EQ(look_from_answer(to_answer(std::vector<Reading>(5000, full())))->size(), 2048U);
}

TEST(ReadingLine, AnyTextSurvives) {
  EXPECT_TRUE(rc::check("texts", [](const std::string& model, const std::string& reason, double watts) {
    Reading r;
    r.domain = "gpu";
    r.model = model.substr(0, 1024);
    r.reason = reason.substr(0, 1024);
    if (std::isfinite(watts)) r.power = Watts{watts};
    const auto back = look_from_answer(to_answer(std::vector{r}));
    RC_ASSERT(back.has_value());
    RC_ASSERT(back->at(0).model == r.model);
    RC_ASSERT(back->at(0).reason == r.reason);
    RC_ASSERT(back->at(0).power == r.power);
  }));
}

}  // namespace
}  // namespace tidewatt::sensors
