#include "tidewatt/metering/node_total.h"

#include <gtest/gtest.h>

namespace tidewatt::metering {
namespace {

using Domains = std::vector<std::string>;

Domains attributable(const Domains& domains, bool trust_psys = false) {
  return node_total(domains, Wanted::attributable, trust_psys).parts;
}
Domains whole(const Domains& domains) { return node_total(domains, Wanted::whole_machine).parts; }

const Domains kEverything{"board", "psys", "dram", "pdu", "gpu", "platform", "cpu_package", "gpu"};

TEST(NodeTotal, ComponentsAreBookedAndNothingThatContainsThem) {
  EXPECT_EQ(attributable(kEverything), (Domains{"gpu", "cpu_package", "dram"}));
  EXPECT_EQ(attributable({"cpu_package", "psys"}), (Domains{"cpu_package"}));
}

TEST(NodeTotal, TheWholeMachineIsMeasuredAsFarOutAsPossible) {
  EXPECT_EQ(whole(kEverything), (Domains{"pdu"}));
  EXPECT_EQ(whole({"gpu", "platform", "dram"}), (Domains{"platform"}));
  EXPECT_EQ(whole({"gpu", "dram"}), (Domains{"gpu", "dram"}));
}

TEST(NodeTotal, WithoutComponentsTheWholeMachineIsBooked) {
  EXPECT_EQ(attributable({"platform", "board"}), (Domains{"platform"}));
  EXPECT_EQ(attributable({"platform", "pdu"}), (Domains{"pdu"}));
}

TEST(NodeTotal, PsysReplacesWhatItContainsOnlyWhereItIsTrusted) {
  EXPECT_EQ(attributable({"psys", "cpu_package", "dram", "gpu"}, true), (Domains{"gpu", "psys"}));
  EXPECT_FALSE(node_total(Domains{"psys"}, Wanted::attributable).known);
  EXPECT_EQ(attributable({"cpu_package", "dram"}, true), (Domains{"cpu_package", "dram"}));
}

TEST(NodeTotal, WhatMirrorsOthersMakesNoTotal) {
  const auto total = node_total(Domains{"board", "psys", "dc"}, Wanted::whole_machine);
  EXPECT_FALSE(total.known);
  EXPECT_TRUE(total.parts.empty());
  EXPECT_FALSE(node_total(Domains{}, Wanted::whole_machine).known);
}

TEST(NodeTotal, NoTotalMixesLayers) {
  const Domains all{"gpu", "cpu_package", "dram", "platform", "pdu", "psys", "board"};
  for (unsigned mask = 0; mask < (1U << all.size()); ++mask) {
    Domains some;
    for (std::size_t i = 0; i < all.size(); ++i)
      if ((mask >> i & 1U) != 0) some.push_back(all[i]);
    for (const auto wanted : {Wanted::attributable, Wanted::whole_machine})
      for (const auto& part : node_total(some, wanted).parts)
        EXPECT_EQ(layer_of(part), node_total(some, wanted).layer);
  }
}

std::vector<DeviceSample> meters(const std::vector<std::pair<int, std::optional<double>>>& of) {
  std::vector<DeviceSample> samples(1);
  samples[0].domain = "gpu";
  for (const auto& [index, watts] : of) {
    samples.emplace_back();
    samples.back().domain = "platform";
    samples.back().index = index;
    if (watts) samples.back().power = Watts{*watts};
  }
  return samples;
}
int kept(std::vector<DeviceSample> samples) {
  keep_one_platform_meter(samples);
  int found = -1;
  for (const auto& sample : samples) {
    if (sample.domain != "platform") continue;
    EXPECT_EQ(found, -1) << "two meters of one thing";
    found = sample.index;
  }
  EXPECT_EQ(samples[0].domain, "gpu");
  return found;
}

TEST(NodeTotal, OfSeveralViewsOfTheNodesInputOneCounts) {
  EXPECT_EQ(kept(meters({{kPlatformAcpi, 301.0}, {kPlatformIpmi, 305.0}})), kPlatformAcpi);
  EXPECT_EQ(kept(meters({{kPlatformAcpi, std::nullopt}, {kPlatformRedfish, 305.0}, {kPlatformIpmi, 304.0}})),
            kPlatformIpmi);
  EXPECT_EQ(kept(meters({{kPlatformIpmi, std::nullopt}, {kPlatformAcpi, std::nullopt}})), kPlatformAcpi);
  EXPECT_EQ(kept(meters({})), -1);
}

}  // namespace
}  // namespace tidewatt::metering
