// Which series mean energy or tokens, and whose: as the exporters name them.
#include "tidewatt/remote_write/mapping.h"

#include <gtest/gtest.h>

namespace tidewatt::remote_write {
namespace {

Series series(std::initializer_list<std::pair<std::string, std::string>> labels) { return {labels, {}}; }

EnergySeries energy(std::initializer_list<std::pair<std::string, std::string>> labels) {
  const auto meaning = meaning_of(series(labels));
  const auto* got = std::get_if<EnergySeries>(&meaning);
  EXPECT_NE(got, nullptr);
  return got == nullptr ? EnergySeries{} : *got;
}
TokenSeries tokens(std::initializer_list<std::pair<std::string, std::string>> labels) {
  const auto meaning = meaning_of(series(labels));
  const auto* got = std::get_if<TokenSeries>(&meaning);
  EXPECT_NE(got, nullptr);
  return got == nullptr ? TokenSeries{} : *got;
}

TEST(Mapping, DcgmNamesTheCardItsNodeAndThePodThatHoldsIt) {
  const auto got = energy({{"__name__", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"},
                           {"gpu", "3"},
                           {"UUID", "GPU-1"},
                           {"modelName", "NVIDIA H100 80GB HBM3"},
                           {"Hostname", "gpu-a01"},
                           {"instance", "10.0.0.7:9400"},
                           {"pod", "dcgm-exporter-x"},
                           {"namespace", "monitoring"},
                           {"exported_pod", "bert-0"},
                           {"exported_namespace", "vision"},
                           {"cluster", "lab"}});
  EXPECT_EQ(got.family, Family::dcgm);
  EXPECT_EQ(got.node, "gpu-a01");
  EXPECT_EQ(got.cluster, "lab");
  EXPECT_EQ(got.domain, "gpu");
  EXPECT_EQ(got.index, 3);
  EXPECT_EQ(got.uuid, "GPU-1");
  EXPECT_EQ(got.task_id, "vision/bert-0") << "the exporter's own pod holds no card";
  EXPECT_TRUE(got.counter);
  EXPECT_DOUBLE_EQ(got.scale, 1e-3) << "it counts millijoules";
  EXPECT_FALSE(energy({{"__name__", "DCGM_FI_DEV_POWER_USAGE"}, {"gpu", "0"}}).counter);
}

TEST(Mapping, KeplerCountsEachModeApart) {
  const auto got = energy({{"__name__", "kepler_node_package_joules_total"},
                           {"package", "1"},
                           {"mode", "idle"},
                           {"exported_instance", "n7"},
                           {"instance", "10.0.0.7:9102"}});
  EXPECT_EQ(got.node, "n7");
  EXPECT_EQ(got.domain, "cpu_package");
  EXPECT_EQ(got.index, 1);
  EXPECT_EQ(got.part, "idle");
  EXPECT_EQ(energy({{"__name__", "kepler_node_dram_joules_total"}}).domain, "dram");
}

TEST(Mapping, NodeExporterIsNamedByItsInstanceButForLoopback) {
  EXPECT_EQ(energy({{"__name__", "node_rapl_package_joules_total"}, {"instance", "n1:9100"}}).node, "n1");
  EXPECT_EQ(
      energy({{"__name__", "node_rapl_package_joules_total"}, {"instance", "n1:9100"}, {"nodename", "n9"}})
          .node,
      "n9");
  for (const auto* instance : {"localhost:9100", "127.0.0.1:9100", "[::1]:9100", ""})
    EXPECT_EQ(energy({{"__name__", "node_rapl_dram_joules_total"}, {"instance", instance}}).node, "")
        << instance;
}

TEST(Mapping, TokensBelongToThePodTheTaskOrTheGroupThatIsNamed) {
  EXPECT_EQ(
      tokens({{"__name__", "vllm:prompt_tokens_total"}, {"pod", "llm-0"}, {"namespace", "chat"}}).task_id,
      "chat/llm-0");
  EXPECT_EQ(tokens({{"__name__", "vllm:generation_tokens_total"}, {"task_id", "t1"}}).side,
            TokenSide::completion);
  EXPECT_EQ(tokens({{"__name__", "tgi_request_generated_tokens_sum"}, {"task_group", "chat"}}).group_id,
            "chat");
  EXPECT_EQ(tokens({{"__name__", "tgi_request_input_length_sum"}}).side, TokenSide::prompt);
  EXPECT_EQ(tokens({{"__name__", "sglang:generation_tokens_total"}}).task_id, "");
}

TEST(Mapping, ACounterIsTheSameFromEitherPrometheusOfAPairAndNoOther) {
  const auto identity = [](std::initializer_list<std::pair<std::string, std::string>> labels) {
    return tokens(labels).identity;
  };
  const auto a = identity({{"__name__", "vllm:prompt_tokens_total"}, {"pod", "a"}, {"__replica__", "p0"}});
  EXPECT_EQ(a,
            identity({{"prometheus_replica", "p1"}, {"pod", "a"}, {"__name__", "vllm:prompt_tokens_total"}}));
  EXPECT_NE(a, identity({{"__name__", "vllm:prompt_tokens_total"}, {"pod", "b"}}));
  EXPECT_NE(identity({{"__name__", "vllm:prompt_tokens_total"}, {"a", "b1:c"}}),
            identity({{"__name__", "vllm:prompt_tokens_total"}, {"a", "b"}, {"", "c"}}));
}

TEST(Mapping, WhateverElseComesIsLeftAlone) {
  for (const auto* name : {"up", "", "DCGM_FI_DEV_GPU_TEMP", "vllm:num_requests_running"})
    EXPECT_TRUE(std::holds_alternative<std::monostate>(meaning_of(series({{"__name__", name}})))) << name;
  for (const auto* index : {"-1", "99999999999999", "x", ""})
    EXPECT_EQ(energy({{"__name__", "DCGM_FI_DEV_POWER_USAGE"}, {"gpu", index}}).index,
              index[0] == '-' ? 1 : 0);
}

}  // namespace
}  // namespace tidewatt::remote_write
