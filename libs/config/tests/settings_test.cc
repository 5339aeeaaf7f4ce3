#include "tidewatt/config/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tidewatt/testing/fake_file_system.h"

namespace tidewatt::config {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using Lookup = std::map<std::string, std::string>;

const SettingsTable& table() {
  static const SettingsTable kTable{
      {.path = "server", .kind = Kind::text, .help = "Where beats go.", .env = "TW_SERVER", .required = true},
      {.path = "beat",
       .kind = Kind::duration,
       .fallback = "20s",
       .minimum = "1s",
       .maximum = "10m",
       .help = "Beat."},
      {.path = "spool.max_bytes",
       .kind = Kind::bytes,
       .fallback = "256MiB",
       .minimum = "1MiB",
       .help = "Bound."},
      {.path = "spool.keep", .kind = Kind::integer, .fallback = "3", .minimum = "1", .help = "Count."},
      {.path = "speed", .kind = Kind::number, .fallback = "1.5", .help = "Speed."},
      {.path = "verbose", .kind = Kind::boolean, .fallback = "false", .help = "More."},
      {.path = "level",
       .kind = Kind::choice,
       .fallback = "info",
       .choices = {"info", "debug"},
       .help = "Log level."},
      {.path = "sources", .kind = Kind::list, .fallback = "auto", .help = "Sources."},
      {.path = "labels", .kind = Kind::map, .help = "Labels."},
      {.path = "token", .kind = Kind::secret, .help = "Secret.", .env = "TW_TOKEN"},
      {.path = "once", .kind = Kind::boolean, .help = "One.", .flag_only = true},
  };
  return kTable;
}

std::vector<std::string> lines(const Settings& settings) {
  std::vector<std::string> out;
  for (const auto& problem : settings.problems()) out.push_back(problem.to_string());
  return out;
}

Settings from_yaml(const std::string& text) {
  Settings settings{table()};
  settings.load_yaml(text, "a.yaml");
  return settings;
}

Settings from_flags(const std::vector<std::string>& flags) {
  Settings settings{table()};
  settings.load_flags(flags);
  return settings;
}

TEST(Settings, DefaultsHoldWhereNothingIsGiven) {
  const Settings settings{table()};
  EXPECT_EQ(settings.duration("beat"), Milliseconds{20'000});
  EXPECT_EQ(settings.bytes("spool.max_bytes"), 256U << 20U);
  EXPECT_EQ(settings.integer("spool.keep"), 3);
  EXPECT_DOUBLE_EQ(settings.number("speed"), 1.5);
  EXPECT_FALSE(settings.boolean("verbose"));
  EXPECT_EQ(settings.text("level"), "info");
  EXPECT_THAT(settings.list("sources"), ElementsAre("auto"));
  EXPECT_TRUE(settings.map("labels").empty());
  EXPECT_FALSE(settings.given("beat"));
}

TEST(Settings, YamlGivesEveryKind) {
  const Settings settings = from_yaml(R"(
server: http://a
beat: 5s
spool: {max_bytes: 2MiB, keep: 7}
speed: 10
verbose: true
level: debug
sources: [rapl, "sim:gpus=8"]
labels: {rack: r1, "k8s.node": n}
token_file: /t
)");
  EXPECT_THAT(lines(settings), ElementsAre());
  EXPECT_EQ(settings.text("server"), "http://a");
  EXPECT_EQ(settings.duration("beat"), Milliseconds{5000});
  EXPECT_EQ(settings.bytes("spool.max_bytes"), 2U << 20U);
  EXPECT_EQ(settings.integer("spool.keep"), 7);
  EXPECT_DOUBLE_EQ(settings.number("speed"), 10);
  EXPECT_TRUE(settings.boolean("verbose"));
  EXPECT_THAT(settings.list("sources"), ElementsAre("rapl", "sim:gpus=8"));
  EXPECT_THAT(settings.map("labels"), ElementsAre(Pair("rack", "r1"), Pair("k8s.node", "n")));
  EXPECT_EQ(settings.secret_file("token"), "/t");
}

TEST(Settings, AllYamlErrorsAreReportedAtOnceWithTheirPlaces) {
  const Settings settings =
      from_yaml("beat: 500ms\nsevrer: x\nspool:\n  max_age: 3d\n  keep: many\nlevel: inof\n");
  EXPECT_THAT(
      lines(settings),
      ElementsAre("a.yaml:1:7: beat: 500ms is out of range: 1s to 10m",
                  "a.yaml:2:1: sevrer: unknown key; did you mean server?",
                  HasSubstr("a.yaml:4:3: spool.max_age: unknown key"),
                  "a.yaml:5:9: spool.keep: \"many\" is not a whole number",
                  "a.yaml:6:8: level: unknown value \"inof\"; known: info, debug; did you mean \"info\"?"));
}

TEST(Settings, ADurationNeedsItsUnit) {
  EXPECT_THAT(lines(from_yaml("beat: 20")), ElementsAre(HasSubstr("\"20\" is not a number with a unit")));
}

TEST(Settings, AKeyGivenTwiceIsAnError) {
  EXPECT_THAT(lines(from_yaml("beat: 5s\nbeat: 6s\n")),
              ElementsAre("a.yaml:2:1: beat: given twice; keep one"));
}

TEST(Settings, BrokenYamlNamesTheLine) {
  EXPECT_THAT(lines(from_yaml("beat: 5s\nserver: [a\n")), ElementsAre(HasSubstr("a.yaml:")));
  EXPECT_THAT(lines(from_yaml("- a\n")), ElementsAre("a.yaml:1:1: must hold key: value lines"));
  EXPECT_THAT(lines(from_yaml("---\nbeat: 5s\n---\nbeat: 6s\n")),
              ElementsAre(HasSubstr("several YAML documents")));
}

TEST(Settings, EmptyFileIsFine) {
  EXPECT_THAT(lines(from_yaml("")), ElementsAre());
  EXPECT_THAT(lines(from_yaml("# nothing\n")), ElementsAre());
  EXPECT_THAT(lines(from_yaml("spool:\n")), ElementsAre());
}

TEST(Settings, WrongShapesAreErrors) {
  EXPECT_THAT(lines(from_yaml("spool: 5\n")), ElementsAre(HasSubstr("spool: is a section")));
  EXPECT_THAT(lines(from_yaml("beat: [1s]\n")), ElementsAre(HasSubstr("must be one value")));
  EXPECT_THAT(lines(from_yaml("labels: [a]\n")), ElementsAre(HasSubstr("must be a section")));
  EXPECT_THAT(lines(from_yaml("sources: {a: b}\n")), ElementsAre(HasSubstr("must be a list")));
}

TEST(Settings, ASecretInTheFileIsRefused) {
  const Settings settings = from_yaml("token: hunter2\n");
  ASSERT_EQ(settings.problems().size(), 1U);
  EXPECT_THAT(lines(settings).at(0), HasSubstr("token_file or set TW_TOKEN"));
  EXPECT_THAT(lines(settings).at(0), ::testing::Not(HasSubstr("hunter2")));
}

TEST(Settings, FlagOnlySettingsAreUnknownInAFile) {
  EXPECT_THAT(lines(from_yaml("once: true\n")), ElementsAre(HasSubstr("once: unknown key")));
}

TEST(Settings, FlagsOverrideTheEnvironmentWhichOverridesTheFile) {
  Settings settings{table()};
  settings.load_yaml("server: file\nbeat: 5s\nsources: [a, b]\n", "a.yaml");
  const Lookup env{{"TW_SERVER", "env"}};
  settings.load_environment([&](const std::string& name) -> std::optional<std::string> {
    const auto found = env.find(name);
    if (found == env.end()) return std::nullopt;
    return found->second;
  });
  EXPECT_EQ(settings.text("server"), "env");
  settings.load_flags(
      std::vector<std::string>{"--server=flag", "--beat", "7s", "--sources", "c,d", "--sources", "e"});
  EXPECT_EQ(settings.text("server"), "flag");
  EXPECT_EQ(settings.duration("beat"), Milliseconds{7000});
  EXPECT_THAT(settings.list("sources"), ElementsAre("c", "d", "e"));
  EXPECT_THAT(lines(settings), ElementsAre());
}

TEST(Settings, FlagsKnowSectionsBooleansMapsAndSecretFiles) {
  const Settings settings = from_flags(
      {"--spool-max-bytes", "1GiB", "--verbose", "--once", "--labels", "a=1,b=x=y", "--token-file", "/t"});
  EXPECT_THAT(lines(settings), ElementsAre());
  EXPECT_EQ(settings.bytes("spool.max_bytes"), 1U << 30U);
  EXPECT_TRUE(settings.boolean("verbose"));
  EXPECT_TRUE(settings.boolean("once"));
  EXPECT_THAT(settings.map("labels"), ElementsAre(Pair("a", "1"), Pair("b", "x=y")));
  EXPECT_EQ(settings.secret_file("token"), "/t");
}

TEST(Settings, FlagMistakesAreAllReported) {
  EXPECT_THAT(lines(from_flags({"--baet", "5s", "--level", "loud", "--server", "stray", "more", "--beat"})),
              ElementsAre("--baet: unknown flag; did you mean --beat?", HasSubstr("--level: unknown value"),
                          HasSubstr("unexpected argument \"more\""), "--beat: needs a value"));
}

TEST(Settings, RequiredIsCheckedLastAndOnce) {
  Settings settings{table()};
  settings.finish();
  EXPECT_THAT(lines(settings),
              ElementsAre("server: is required; give --server or put it into the file, or set TW_SERVER"));
}

TEST(Settings, SecretsComeFromTheEnvironmentOrAFile) {
  tidewatt::testing::FakeFileSystem files;
  files.files["/t"] = "s3cret\n";
  files.files["/empty"] = " \n";
  EXPECT_EQ(from_flags({"--token-file=/t"}).secret("token", files).value(), "s3cret");
  EXPECT_EQ(from_flags({}).secret("token", files).value(), std::nullopt);
  EXPECT_EQ(from_flags({"--token-file=/none"}).secret("token", files).error().code, ErrorCode::not_found);
  EXPECT_EQ(from_flags({"--token-file=/empty"}).secret("token", files).error().code,
            ErrorCode::invalid_input);
  Settings settings{table()};
  settings.load_environment([](const std::string& name) -> std::optional<std::string> {
    if (name == "TW_TOKEN") return "from-env";
    return std::nullopt;
  });
  EXPECT_EQ(settings.secret("token", files).value(), "from-env");
  EXPECT_THAT(settings.describe(), HasSubstr("token: ***"));
  EXPECT_THAT(settings.describe(), ::testing::Not(HasSubstr("from-env")));
}

TEST(Settings, BytesTakeUnitsAndRefuseNonsense) {
  EXPECT_EQ(from_flags({"--spool-max-bytes=4MB"}).bytes("spool.max_bytes"), 4'000'000U);
  EXPECT_EQ(lines(from_flags({"--spool-max-bytes=4XB"})).size(), 1U);
  EXPECT_EQ(lines(from_flags({"--spool-max-bytes=-1"})).size(), 1U);
  EXPECT_EQ(lines(from_flags({"--spool-max-bytes=99999999TiB"})).size(), 1U);
}

TEST(Settings, TextsHoldNoControlCharactersAndNoBytesThatAreNoText) {
  for (const auto* yaml : {"server: \"http://a\\x01\"\n", "server: \"a\xff\"\n", "sources: [\"a\\tb\"]\n",
                           "labels: {rack: \"a\\nb\"}\n", "labels: {\"\\x02\": a}\n"})
    EXPECT_THAT(lines(from_yaml(yaml)), Contains(HasSubstr("holds control characters or bytes"))) << yaml;
  EXPECT_THAT(lines(from_yaml("server: \"机架 7\"\n")), ::testing::IsEmpty());
}

TEST(Settings, HelpAndSampleComeFromTheTable) {
  const std::string help = table().help();
  EXPECT_THAT(help, HasSubstr("--beat DURATION\n      Beat. (default 20s; 1s to 10m)"));
  EXPECT_THAT(help, HasSubstr("--token-file FILE"));
  const std::string sample = table().sample_yaml();
  EXPECT_THAT(sample, HasSubstr("# spool:\n#   # Bound.\n#   max_bytes: 256MiB\n"));
  EXPECT_THAT(sample, ::testing::Not(HasSubstr("once")));
}

TEST(Settings, ReadingAWrongKindOrPathIsABug) {
  const Settings settings{table()};
  EXPECT_THROW((void)settings.text("beat"), std::logic_error);
  EXPECT_THROW((void)settings.text("nope"), std::logic_error);
}

}  // namespace
}  // namespace tidewatt::config
