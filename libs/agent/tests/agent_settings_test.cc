#include "tidewatt/agent/agent_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tidewatt/metering/tool_parsers.h"
#include "tidewatt/sensors/libraries.h"
#include "tidewatt/sensors/sources.h"

namespace tidewatt::agent {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Loaded {
  AgentConfig config;
  std::vector<std::string> problems;
};

Loaded load(const std::vector<std::string>& flags, const std::string& yaml = "") {
  config::Settings settings{agent_settings()};
  settings.load_yaml(yaml, "agent.yaml");
  settings.load_flags(flags);
  settings.finish();
  Loaded out{config_from(settings), {}};
  for (const auto& problem : settings.problems()) out.problems.push_back(problem.to_string());
  return out;
}

TEST(AgentSettings, DefaultsAreThoseOfTheContract) {
  const auto loaded = load({"--server", "http://s:7310/"});
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_EQ(loaded.config.server, "http://s:7310");
  EXPECT_EQ(loaded.config.interval, Milliseconds{1'000});
  EXPECT_EQ(loaded.config.beat, Milliseconds{20'000});
  EXPECT_EQ(loaded.config.spool_bytes, 256ULL << 20U);
  EXPECT_EQ(loaded.config.spool_age, std::chrono::hours{7 * 24});
  EXPECT_EQ(loaded.config.listen.address, "127.0.0.1");
  EXPECT_EQ(loaded.config.listen.port, 7311);
  ASSERT_EQ(loaded.config.sources.size(), 1U);
  EXPECT_EQ(loaded.config.sources[0].kind, "auto");
}

TEST(AgentSettings, EveryDefaultIsWithinItsOwnRange) {
  for (const auto& setting : agent_settings().settings()) {
    if (setting.fallback.empty()) continue;
    config::Settings settings{agent_settings()};
    settings.set(setting.path, setting.fallback, "test");
    EXPECT_THAT(settings.problems(), IsEmpty()) << setting.path;
  }
}

TEST(AgentSettings, AServerIsRequiredUnlessOneBeatIsPrinted) {
  EXPECT_THAT(load({}).problems, ElementsAre(HasSubstr("server: is required")));
  EXPECT_THAT(load({"--once"}).problems, IsEmpty());
}

TEST(AgentSettings, AServerWithoutASchemeIsAnError) {
  EXPECT_THAT(load({"--server", "s:7310"}).problems, ElementsAre(HasSubstr("write http://s:7310")));
}

TEST(AgentSettings, AllProblemsAreToldAtOnce) {
  const auto loaded =
      load({"--listen", "7311", "--sources", "nvidia,rapl"}, "server: ftp://x\nbeat: 1s\ninterval: 5s\n");
  EXPECT_THAT(loaded.problems,
              ElementsAre(HasSubstr("--sources: unknown source \"nvidia\""),
                          HasSubstr("agent.yaml:1:9: server: \"ftp://x\": ftp:// isn't spoken"),
                          HasSubstr("--listen: \"7311\" is not host:port"),
                          HasSubstr("beat: 1000 ms is shorter than the interval")));
}

TEST(AgentSettings, AnEmptyNodeIdIsAProblemAndNotTheHostName) {
  EXPECT_THAT(load({"--server", "http://s", "--node-id", ""}).problems, ElementsAre(HasSubstr("is empty")));
}

TEST(AgentSettings, NothingIsMeasuredTwice) {
  const auto told = [](const char* sources) {
    return load({"--server", "http://s", "--sources", sources}).problems;
  };
  EXPECT_THAT(told("tool:npu-smi,tool:npu-smi"), ElementsAre(HasSubstr("tool:npu-smi stands twice")));
  EXPECT_THAT(told("tool:npu-smi,dcmi"), ElementsAre(HasSubstr("read the same cards (huawei)")));
  EXPECT_THAT(told("nvidia-smi,tool:nvidia-smi"), ElementsAre(HasSubstr("read the same cards (nvidia)")));
  EXPECT_THAT(told("amdsmi,tool:rocm-smi"), ElementsAre(HasSubstr("read the same cards (amd)")));
  EXPECT_THAT(told("rapl,rapl"), ElementsAre(HasSubstr("rapl stands twice")));
  EXPECT_THAT(told("hwmon,auto"), ElementsAre(HasSubstr("auto has hwmon too")));
  EXPECT_THAT(told("sim:gpus=1,sim:gpus=2"), ElementsAre(HasSubstr("sim stands twice")));
  EXPECT_THAT(told("replay:/a,replay:/a"), ElementsAre(HasSubstr("replay:/a stands twice")));
  EXPECT_THAT(told("auto,auto"), Contains(HasSubstr("auto stands twice")));
  EXPECT_THAT(told("auto,tool:npu-smi,nvml"), IsEmpty()) << "auto leaves out what is named";
  EXPECT_THAT(told("nvml,amdsmi,rapl,hwmon,ipmi,sim"), IsEmpty());
}

TEST(AgentSettings, AMeterFitsTheBeatAndStandsOnce) {
  const auto told = [](const char* sources) {
    return load({"--server", "http://s", "--beat", "5s", "--sources", sources}).problems;
  };
  EXPECT_THAT(told("auto,redfish:https://bmc;interval=5s"), IsEmpty());
  EXPECT_THAT(told("ipmi:interval=20s"), ElementsAre(HasSubstr("longer than the beat of 5000 ms")));
  EXPECT_THAT(told("ipmi:deadline=30s"), ElementsAre(HasSubstr("longer than source_deadline of 5000 ms")));
  EXPECT_THAT(told("auto,ipmi"), ElementsAre(HasSubstr("ipmi stands 2 times")));
  EXPECT_THAT(told("redfish:https://a,redfish:https://b"), ElementsAre(HasSubstr("redfish stands 2 times")));
  EXPECT_THAT(told("snmp:pdu;model=apc;community=/c,snmp:pdu;oid=.1.3.6;community=/c"),
              ElementsAre(HasSubstr("snmp:pdu stands twice")));
  EXPECT_THAT(told("snmp:pdu;oid=.1.3.7;community=/c,snmp:pdu;oid=.1.3.6;community=/c"), IsEmpty());
  EXPECT_THAT(load({"--server", "http://s", "--host-root", "host"}).problems,
              ElementsAre(HasSubstr("is no absolute path")));
}

TEST(ParseSource, KnowsTheKindsAndTheirOptions) {
  EXPECT_EQ(parse_source("rapl")->kind, "rapl");
  const auto sim = parse_source("sim:gpus=8:seed=3");
  ASSERT_TRUE(sim);
  EXPECT_EQ(*sim->option("gpus"), "8");
  EXPECT_EQ(*sim->option("seed"), "3");
  EXPECT_EQ(sim->option("limit"), nullptr);
  EXPECT_EQ(parse_source("replay:/a:b.csv")->file, "/a:b.csv");
}

TEST(ParseSource, TakesLibrariesAndToolsByTheirNames) {
  EXPECT_EQ(parse_source("level-zero")->kind, "level-zero");
  EXPECT_EQ(parse_source("tool:nvidia-smi")->kind, "tool");
  EXPECT_EQ(parse_source("tool:nvidia-smi")->tool, "nvidia-smi");
}

TEST(ParseSource, SaysWhatIsWrong) {
  EXPECT_THAT(parse_source("nvmk").error().message, HasSubstr("did you mean \"nvml\"?"));
  EXPECT_THAT(parse_source("tool:rm").error().message, HasSubstr("tool \"rm\" isn't known"));
  EXPECT_THAT(parse_source("tool").error().message, HasSubstr("nvidia-smi"));
  EXPECT_THAT(parse_source("amdsmi:x").error().message, HasSubstr("takes no options"));
  EXPECT_THAT(parse_source("replay").error().message, HasSubstr("needs a file"));
  EXPECT_THAT(parse_source("rapl:x").error().message, HasSubstr("takes no options"));
  EXPECT_THAT(parse_source("sim:gpus=many").error().message, HasSubstr("\"gpus=many\""));
  EXPECT_THAT(parse_source("sim:gpu=8").error().message, HasSubstr("known: gpus"));
}

TEST(ParseSource, MetersOfTheNodeHaveATargetAndOptions) {
  EXPECT_EQ(*parse_source("ipmi:interval=5s;tool=/opt/ipmitool")->option("interval"), "5s");
  EXPECT_EQ(parse_source("ipmi")->kind, "ipmi");
  const auto redfish =
      parse_source("redfish:https://bmc:8443/redfish/v1/Chassis/1/Power;credentials=/etc/bmc;insecure=true");
  ASSERT_TRUE(redfish) << redfish.error().message;
  EXPECT_EQ(redfish->target, "https://bmc:8443/redfish/v1/Chassis/1/Power");
  EXPECT_EQ(*redfish->option("credentials"), "/etc/bmc");
  const auto snmp = parse_source(
      "snmp:udp6:[::1]:161;oid=.1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.3;oid=1.3.6.1.5;community=/etc/c");
  ASSERT_TRUE(snmp) << snmp.error().message;
  EXPECT_EQ(snmp->target, "udp6:[::1]:161");
}

TEST(ParseSource, AMeterThatCantWorkSaysWhatToWrite) {
  const std::pair<const char*, const char*> cases[] = {
      {"redfish", "redfish:https://bmc.example;credentials="},
      {"redfish:bmc", "needs a URL"},
      {"redfish:http://bmc;credentials=/etc/bmc", "write https://"},
      {"redfish:https://root:pw@bmc", "no account in the URL"},
      {"redfish:https://bmc;credentials=bmc", "is no absolute path"},
      {"redfish:https://bmc;insecure=yes", "neither true nor false"},
      {"redfish:https://bmc;user=root", "known: interval=..., deadline=..., credentials="},
      {"ipmi:interval=10", "such as 10s"},
      {"ipmi:interval=1h", "such as 10s"},
      {"ipmi:interval=5s;interval=6s", "stands twice"},
      {"snmp:pdu", "either model= "},
      {"snmp:pdu;model=apc", "either community=FILE or conf=FOLDER"},
      {"snmp:pdu;model=apx;community=/etc/c", "known: apc"},
      {"snmp:pdu;oid=sysDescr.0;community=/etc/c", "is no whole OID"},
      {"snmp:-v;model=apc;community=/etc/c", "needs a host"},
  };
  for (const auto& [text, expected] : cases) {
    const auto source = parse_source(text);
    ASSERT_FALSE(source) << text;
    EXPECT_THAT(source.error().message, HasSubstr(expected)) << text;
  }
}

TEST(ParseListen, TakesHostPortAndOff) {
  EXPECT_EQ(parse_listen("[::1]:80")->address, "::1");
  EXPECT_EQ(parse_listen("0.0.0.0:0")->port, 0);
  EXPECT_EQ(parse_listen("off")->address, "");
  for (const char* bad : {"", ":7311", "host", "host:", "host:99999", "host:x"})
    EXPECT_FALSE(parse_listen(bad)) << bad;
}

TEST(AgentSettings, AttributionIsOnAndMayBeSwitchedOff) {
  const auto on = load({"--server", "http://s:7310"}).config.attribution;
  EXPECT_TRUE(on.holders);
  EXPECT_EQ(on.cpu, attribution::CpuPolicy::proportional);
  EXPECT_EQ(on.cgroup_root, "/sys/fs/cgroup");
  const auto off =
      load({"--server", "http://s:7310"}, "attribution:\n  holders: off\n  cpu: off\n  cgroup_root: /cg/\n");
  EXPECT_THAT(off.problems, IsEmpty());
  EXPECT_FALSE(off.config.attribution.on());
  EXPECT_EQ(off.config.attribution.cgroup_root, "/cg");
  EXPECT_EQ(load({"--server", "http://s:7310", "--attribution-cpu", "keep_idle"}).config.attribution.cpu,
            attribution::CpuPolicy::keep_idle);
}

TEST(AgentSettings, WrongRulesAndFoldersAreTold) {
  const auto loaded = load({"--server", "http://s:7310", "--host-root", "host"},
                           "attribution:\n  cpu: all\n  cgroup_root: cg\n  relabel: [\"unit/* service\"]\n");
  EXPECT_THAT(loaded.problems, ::testing::Contains(HasSubstr("\"unit/* service\": has no ->")));
  EXPECT_THAT(loaded.problems, ::testing::Contains(HasSubstr("\"cg\" is no absolute path")));
  EXPECT_THAT(loaded.problems, ::testing::Contains(HasSubstr("\"host\" is no absolute path")));
  EXPECT_THAT(loaded.problems, ::testing::Contains(HasSubstr("keep_idle")));
}

TEST(AgentSettings, AFileThatIsNoYamlIsToldAloneSinceNobodyKnowsWhatItWasToGive) {
  EXPECT_THAT(load({}, "server: [\n").problems, ElementsAre(HasSubstr("no YAML")));
}

TEST(AgentSettings, EveryBadRelabelRuleIsNamed) {
  const auto loaded = load({"--server", "http://s"},
                           "attribution:\n  relabel: [\"unit/a service\", \"a -> b\", \"nope=x -> y\"]\n");
  ASSERT_EQ(loaded.problems.size(), 2U);
  EXPECT_THAT(loaded.problems, Contains(HasSubstr("unit/a service")));
  EXPECT_THAT(loaded.problems, Contains(HasSubstr("nope")));
}

TEST(AgentSettings, ANodeIdIsOnePlainName) {
  EXPECT_THAT(load({"--server", "http://s", "--node-id", "a b/c"}).problems,
              ElementsAre(HasSubstr("\"a b/c\" has blanks, slashes or quotes")));
  EXPECT_THAT(load({"--server", "http://s", "--node-id", "gpu-a01.example_1"}).problems, IsEmpty());
}

TEST(AgentSettings, ASimulationWithoutCardsIsRefused) {
  EXPECT_THAT(load({"--server", "http://s", "--sources", "sim:gpus=0"}).problems,
              Contains(HasSubstr("gpus=0 simulates no card")));
  EXPECT_THAT(load({"--server", "http://s", "--sources", "sim:gpus=100000"}).problems,
              Contains(HasSubstr("more than the 256 cards of one node")));
}

TEST(AgentSettings, AServerOfAnotherSchemeIsNamed) {
  EXPECT_THAT(load({"--server", "ftp://a"}).problems,
              ElementsAre(HasSubstr("ftp:// isn't spoken; write http://a or https://a")));
}

TEST(ParseSource, AMistakeIsAnsweredWithWhatWasMeant) {
  const auto answer = [](const char* text) { return parse_source(text).error().message; };
  for (const auto& [text, meant] :
       std::vector<std::pair<const char*, const char*>>{{"npu-smi", "tool:npu-smi"},
                                                        {"NVML", "nvml"},
                                                        {"ipmi;interval=2s", "ipmi:interval=2s"},
                                                        {"rapll", "rapl"}})
    EXPECT_NE(answer(text).find(std::string{"did you mean \""} + meant + "\"?"), std::string::npos)
        << answer(text);
}

TEST(ParseSource, WhatTheCoverageTableSaysTheAgentReadsItReads) {
  std::vector<std::string> named;
  for (const auto& row : metering::tool_coverage())
    for (std::string_view rest = row.agent_sources; !rest.empty();) {
      const auto comma = rest.find(", ");
      named.emplace_back(rest.substr(0, comma));
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 2);
    }
  for (const auto& source : named) {
    if (source == "redfish" || source == "snmp") continue;  // need an address
    EXPECT_TRUE(parse_source(source)) << source;
  }
  for (const auto& library : sensors::library_names()) EXPECT_THAT(named, Contains(library));
  for (const auto& tool : sensors::tool_names()) EXPECT_THAT(named, Contains("tool:" + tool));
}

}  // namespace
}  // namespace tidewatt::agent
