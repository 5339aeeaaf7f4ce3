#include "tidewatt/wire/beat_json.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tidewatt::wire {
namespace {

Beat full_beat() {
  Beat beat;
  beat.cluster = "c1";
  beat.node_id = "n\"1";
  beat.boot_id = "b";
  beat.agent_id = "a";
  beat.agent_version = "0.1.0";
  beat.seq = 9'007'199'254'740'991U;
  beat.sampled_at = parse_rfc3339("2026-11-29T08:00:20.123Z");
  beat.monotonic = Milliseconds{98'765'432};
  beat.region = "cn-north";
  beat.zone = "CN-NM";
  beat.labels = {{"k8s.node", "gpu-a01"}};
  beat.cpu_util = 0.31;
  beat.cpu_cores = 64;
  beat.cpu_model = "EPYC";
  DeviceSample gpu;
  gpu.domain = "gpu";
  gpu.index = 3;
  gpu.uuid = "GPU-3";
  gpu.power = Watts{412.5};
  gpu.power_limit = Watts{700};
  gpu.energy_total = Joules{123456.789};
  gpu.counter_epoch = "d1";
  gpu.util = 0.97;
  gpu.source = "nvml";
  gpu.holders = {{"train-7", 0.3, std::nullopt, HolderState::sleeping}};
  gpu.unheld = Unheld{0.5, std::nullopt, 0.25};
  gpu.health = Health{61.0, 4, 0, std::nullopt};
  beat.devices.push_back(gpu);
  DeviceSample rail;
  rail.domain = "cpu_package";
  rail.energy_total = Joules{88.1};
  rail.quality = Quality::simulated;
  beat.devices.push_back(rail);
  DeviceSample meter;
  meter.domain = "platform";
  meter.power = Watts{3120};
  beat.devices.push_back(meter);
  return beat;
}

Result<Beat> parse_one(std::string_view text) {
  BeatParser parser;
  auto all = parser.parse(text);
  if (!all) return tl::unexpected(all.error());
  return std::move(all->at(0));
}

TEST(BeatJson, WhatIsWrittenReadsBackTheSame) {
  const auto text = to_json(full_beat());
  const auto beat = parse_one(text);
  ASSERT_TRUE(beat) << beat.error().to_string();
  EXPECT_EQ(to_json(*beat), text);
  EXPECT_EQ(beat->seq, full_beat().seq);
  EXPECT_EQ(beat->devices.at(0).holders.at(0).state, HolderState::sleeping);
  ASSERT_TRUE(beat->devices.at(0).unheld);
  EXPECT_EQ(beat->devices.at(0).unheld->compute_share, 0.5);
  EXPECT_EQ(beat->devices.at(0).unheld->memory_share, std::nullopt);
  EXPECT_EQ(beat->devices.at(0).unheld->idle_share, 0.25);
  EXPECT_EQ(beat->devices.at(1).quality, Quality::simulated);
}

TEST(BeatJson, SourcesGoBothWays) {
  Beat beat;
  beat.node_id = "n";
  beat.sources = {{"nvidia", SourceState::failed, "libnvidia-ml.so.1: \"not\" there"},
                  {"rapl", SourceState::ok, ""},
                  {"ipmi", SourceState::starting, ""}};
  const auto read = parse_one(to_json(beat));
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->sources, beat.sources);
}

TEST(BeatJson, SourcesAreBoundedAndRefuseNoBeat) {
  std::string many = R"({"node_id":"n","sources":[7,{"state":"ok"},{"source":"","state":"ok"})";
  many += R"(,{"source":"a\nb","state":"on fire","reason":")";
  for (int i = 0; i < 400; ++i) many += "\u00e9";
  many += R"("})";
  for (int i = 0; i < 50; ++i) many += R"(,{"source":"s","state":"ok"})";
  const auto beat = parse_one(many + "]}");
  ASSERT_TRUE(beat) << beat.error().to_string();
  ASSERT_EQ(beat->sources.size(), SourceReport::kMost);
  EXPECT_EQ(beat->sources.at(0).source, "a b");
  EXPECT_EQ(beat->sources.at(0).state, SourceState::failed);
  EXPECT_EQ(beat->sources.at(0).reason.size(), 2 * SourceReport::kLongestReason) << "cut between characters";
  for (const char* bad : {"7", "{}", "null", "[null]"}) {
    const auto other = parse_one(std::string(R"({"node_id":"n","sources":)") + bad + "}");
    ASSERT_TRUE(other) << bad;
    EXPECT_TRUE(other->sources.empty()) << bad;
  }
}

TEST(BeatJson, MinimalBeatOfAnOldAgentIsTaken) {
  const auto beat = parse_one(R"({"node_id":"old","gpu_stats":[{"index":0,"power_watts":100}]})");
  ASSERT_TRUE(beat);
  EXPECT_EQ(beat->cluster, "default");
  EXPECT_FALSE(beat->seq);
  EXPECT_FALSE(beat->sampled_at);
  EXPECT_EQ(beat->devices.at(0).power, Watts{100});
}

TEST(BeatJson, DevicesWithoutIndexAreNumberedByTheirPlaceInTheirDomain) {
  const auto beat = parse_one(R"({"node_id":"old","gpu_stats":[{"power_watts":100},{"power_watts":200}],
    "rails":[{"domain":"cpu_package"},{"domain":"dram"},{"domain":"cpu_package"}]})");
  ASSERT_TRUE(beat);
  EXPECT_EQ(beat->devices.at(1).index, 1);
  EXPECT_EQ(beat->devices.at(2).index, 0);
  EXPECT_EQ(beat->devices.at(3).index, 0);
  EXPECT_EQ(beat->devices.at(4).index, 1);
}

TEST(BeatJson, PowerThatIsNoNonNegativeNumberIsUnknown) {
  for (const char* power : {"-5", "\"N/A\"", "\"412\"", "null", "true", "[]", "{}"}) {
    const auto beat =
        parse_one(std::string(R"({"node_id":"n","gpu_stats":[{"index":0,"power_watts":)") + power + "}]}");
    ASSERT_TRUE(beat) << power;
    EXPECT_FALSE(beat->devices.at(0).power) << power;
  }
}

TEST(BeatJson, PowerNotAmongMetricsAvailableIsUnknownWhateverStandsThere) {
  const auto beat =
      parse_one(R"({"node_id":"n","gpu_stats":[{"index":0,"metrics_available":["util"],"power_watts":0},
    {"index":1,"metrics_available":["power"],"power_watts":0}]})");
  ASSERT_TRUE(beat);
  EXPECT_FALSE(beat->devices.at(0).power);
  EXPECT_EQ(beat->devices.at(1).power, Watts{0});
}

TEST(BeatJson, ShareOutsideZeroToOneIsNotDeclared) {
  const auto beat = parse_one(R"({"node_id":"n","gpu_stats":[{"index":0,"holders":[
    {"task_id":"t","compute_share":1.5,"memory_share":-1,"state":7}]}]})");
  ASSERT_TRUE(beat);
  const auto& holder = beat->devices.at(0).holders.at(0);
  EXPECT_FALSE(holder.compute_share);
  EXPECT_FALSE(holder.memory_share);
  EXPECT_EQ(holder.state, HolderState::unknown);
}

TEST(BeatJson, RefusalsNameTheField) {
  const std::vector<std::pair<const char*, const char*>> cases{
      {R"({"gpu_stats":[]})", "node_id"},
      {R"({"node_id":""})", "node_id"},
      {R"({"node_id":"  "})", "node_id"},
      {R"({"node_id":7})", "node_id"},
      {R"({"node_id":"a\nb"})", "node_id"},
      {R"({"node_id":"n","schema":"v9"})", "schema"},
      {R"({"node_id":"n","seq":18446744073709551615})", "seq"},
      {R"({"node_id":"n","seq":9007199254740992})", "9007199254740991"},
      {R"({"node_id":"n","seq":-1})", "seq"},
      {R"({"node_id":"n","seq":1.5})", "seq"},
      {R"({"node_id":"n","sampled_at":"yesterday"})", "sampled_at"},
      {R"({"node_id":"n","sampled_at":1700000000})", "sampled_at"},
      {R"({"node_id":"n","monotonic_ms":-4})", "monotonic_ms"},
      {R"({"node_id":"n","monotonic_ms":9007199254740992})", "monotonic_ms"},
      {R"({"node_id":"a\u0085b"})", "node_id"},
      {R"({"node_id":"n","labels":{"a\nb":"c"}})", "labels"},
      {R"({"node_id":"n","gpu_stats":[{"holders":[{"task_id":"\u202egnp"}]}]})", "task_id"},
      {R"({"node_id":"n","gpu_stats":{}})", "gpu_stats"},
      {R"({"node_id":"n","gpu_stats":[7]})", "gpu_stats"},
      {R"({"node_id":"n","gpu_stats":[{"index":-1}]})", "index"},
      {R"({"node_id":"n","rails":[{"power_watts":1}]})", "rails"},
      {R"({"node_id":"n","gpu_stats":[{"holders":[{"state":"running"}]}]})", "holders"},
      {R"(7)", "body"},
      {R"([])", "beat"},
      {R"([7])", "object"},
  };
  for (const auto& [text, field] : cases) {
    const auto beat = parse_one(text);
    ASSERT_FALSE(beat) << text;
    EXPECT_NE(beat.error().message.find(field), std::string::npos) << text << ": " << beat.error().message;
  }
}

TEST(BeatJson, NoNameFromAToolOrAFileCostsTheBeat) {
  auto beat = full_beat();
  beat.devices[0].model = "X\x07 9\xff";
  beat.devices[0].uuid = std::string(300, 'u');
  beat.cpu_model = "cut \xe8\xae";
  beat.labels.emplace_back("ra\nck", "\x01");
  const auto parsed = parse_one(to_json(beat));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->devices[0].model, "X? 9?");
  EXPECT_EQ(parsed->devices[0].uuid.size(), kMaxIdBytes);
  EXPECT_EQ(parsed->cpu_model, "cut ??");
  EXPECT_EQ(parsed->labels.back(), (std::pair<std::string, std::string>{"ra?ck", "?"}));
}

TEST(BeatJson, BrokenElementLeavesItsNeighboursAlone) {
  const std::string good = R"({"node_id":"n","gpu_stats":[]})";
  const std::string deep = std::string(2000, '[') + std::string(2000, ']');
  for (const std::string& bad :
       {std::string(R"({"node_id":"m","seq":1e999})"), std::string("{\"node_id\":\"\xff\xfe\"}"), deep,
        std::string("{\"node_id\":tru}"), std::string("{}"), std::string("")}) {
    BeatParser parser;
    const auto beats = parser.parse("[" + good + "," + bad + "," + good + "]");
    ASSERT_TRUE(beats) << bad;
    ASSERT_EQ(beats->size(), 3U);
    EXPECT_TRUE(beats->at(0)) << bad;
    EXPECT_FALSE(beats->at(1)) << bad;
    EXPECT_TRUE(beats->at(2)) << bad;
  }
}

TEST(BeatJson, TruncatedBodyIsOneError) {
  const auto whole = "[" + to_json(full_beat()) + "," + to_json(full_beat()) + "]";
  BeatParser parser;
  for (std::size_t n = 0; n < whole.size(); ++n)
    EXPECT_FALSE(parser.parse(std::string_view(whole).substr(0, n))) << n;
}

TEST(BeatJson, TooManyBeatsOrDevicesAreRefused) {
  std::string many = "[";
  for (std::size_t i = 0; i <= kMaxBeats; ++i)
    many += i == 0 ? "{\"node_id\":\"n\"}" : ",{\"node_id\":\"n\"}";
  BeatParser parser;
  EXPECT_FALSE(parser.parse(many + "]"));
  std::string devices = R"({"node_id":"n","gpu_stats":[{})";
  for (std::size_t i = 0; i < kMaxDevices; ++i) devices += ",{}";
  const auto refused = parse_one(devices + "]}");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("more than 1024 devices in a beat"), std::string::npos)
      << refused.error().message;
  // All lists together.
  auto lists = devices.substr(0, devices.rfind(",{}")) + R"(],"rails":[{"domain":"cpu"}]})";
  EXPECT_FALSE(parse_one(lists));
}

TEST(Answers, GoBothWays) {
  const auto text = answers_to_json({{"accepted", ""}, {"rejected", "node_id: \"x\""}});
  const auto answers = answers_from_json(text);
  ASSERT_TRUE(answers);
  EXPECT_EQ(answers->at(1).reason, "node_id: \"x\"");
  EXPECT_FALSE(answers_from_json("<html>"));
  EXPECT_FALSE(answers_from_json(R"({"results":[{}]})"));
}

RC_GTEST_PROP(BeatJson, GarbageNeverCrashes, (const std::string& bytes)) {
  BeatParser parser;
  (void)parser.parse(bytes);
  (void)parser.parse("[" + bytes + "]");
}

}  // namespace
}  // namespace tidewatt::wire
