#include "tidewatt/k8s_json/extender.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tidewatt::k8s_json {
namespace {

using Json = nlohmann::json;

std::vector<std::string> names(const ExtenderArgs& args) {
  std::vector<std::string> out;
  for (const auto& node : args.nodes) out.emplace_back(node.name);
  return out;
}
using Names = std::vector<std::string>;
using Refusals = std::vector<std::optional<std::string>>;

const std::string kObjects = R"({
  "Pod": {"metadata": {"name": "p", "labels": {"carbon-tolerance": "daily", "tidewatt.io/carbon-tolerance": "weekly"}},
          "spec": {"containers": [{"name": "labels", "image": "x"}]}},
  "Nodes": {"metadata": {}, "items": [
    {"metadata": {"labels": {"topology.kubernetes.io/zone": "zone-a", "topology.kubernetes.io/region": "r1"}, "name": "n1"},
     "spec": {"podCIDR": "10.0.0.0/24"}, "status": {"capacity": {"cpu": "8"}}},
    {"status": {}, "metadata": {"name": "n2"}}]},
  "NodeNames": null})";

TEST(ExtenderArgs, WholeNodesAreReadWithTheirPlace) {
  ExtenderReader reader;
  const auto args = reader.read(kObjects);
  ASSERT_TRUE(args) << args.error().to_string();
  EXPECT_FALSE(args->by_name);
  EXPECT_EQ(args->tolerance, k8s::Tolerance::weekly) << "the label with the prefix wins";
  EXPECT_EQ(names(*args), (Names{"n1", "n2"}));
  EXPECT_EQ(args->nodes[0].place.zone, "zone-a");
  EXPECT_EQ(args->nodes[0].place.region, "r1");
  EXPECT_EQ(args->nodes[1].place.zone, "");
}

TEST(ExtenderArgs, WholeNodesGoBackUnchanged) {
  ExtenderReader reader;
  const auto args = reader.read(kObjects);
  ASSERT_TRUE(args);
  const auto answer = Json::parse(filter_answer(*args, Refusals{std::nullopt, "too hot"}));
  EXPECT_EQ(answer.at("Nodes").at("items"), Json::array({Json::parse(kObjects)["Nodes"]["items"][0]}));
  EXPECT_EQ(answer.at("NodeNames"), nullptr);
  EXPECT_EQ(answer.at("FailedNodes"), (Json{{"n2", "too hot"}}));
  EXPECT_EQ(answer.at("Error"), "");
}

TEST(ExtenderArgs, NamesAreAnsweredByNames) {
  ExtenderReader reader;
  const auto args = reader.read(
      R"({"NodeNames":["a","b","c"],"Nodes":null,"Pod":{"metadata":{"labels":{"carbon-tolerance":"daily"}}}})");
  ASSERT_TRUE(args) << args.error().to_string();
  EXPECT_TRUE(args->by_name);
  EXPECT_EQ(args->tolerance, k8s::Tolerance::daily);
  const auto answer = Json::parse(filter_answer(*args, Refusals{std::nullopt, "no", std::nullopt}));
  EXPECT_EQ(answer.at("NodeNames"), (Names{"a", "c"}));
  EXPECT_EQ(answer.at("Nodes"), nullptr);
  const std::vector<int> points{10, 0, 7};
  EXPECT_EQ(prioritize_answer(*args, points),
            R"([{"Host":"a","Score":10},{"Host":"b","Score":0},{"Host":"c","Score":7}])");
}

TEST(ExtenderArgs, KeysMayHaveAnyCaseAsGoReadsThem) {
  ExtenderReader reader;
  const auto args = reader.read(R"({"pod":{},"nodenames":["a"]})");
  ASSERT_TRUE(args);
  EXPECT_EQ(names(*args), (Names{"a"}));
}

TEST(ExtenderArgs, NullAndMissingListsAreEmptyOnes) {
  ExtenderReader reader;
  for (const char* body :
       {"{}", R"({"Pod":null,"Nodes":null,"NodeNames":null})", R"({"Nodes":{"items":null}})",
        R"({"Nodes":{}})", R"({"NodeNames":[]})", R"({"Nodes":{"items":[]},"NodeNames":null})"}) {
    const auto args = reader.read(body);
    ASSERT_TRUE(args) << body << args.error().to_string();
    EXPECT_TRUE(args->nodes.empty()) << body;
    const auto answer = Json::parse(filter_answer(*args, {}));
    EXPECT_EQ(answer.at("FailedNodes"), Json::object());
    EXPECT_EQ(prioritize_answer(*args, {}), "[]");
  }
}

TEST(ExtenderArgs, GarbageIsRefusedInOneLine) {
  ExtenderReader reader;
  for (const char* body :
       {"", " ", "null", "7", "[]", "nope", "{", R"({"NodeNames":[)", R"({"NodeNames":["a"})",
        R"({"NodeNames":[7]})", R"({"NodeNames":"a"})", R"({"NodeNames":[""]})", R"({"Nodes":{"items":[7]}})",
        R"({"Nodes":{"items":[{}]}})", R"({"Nodes":{"items":[{"metadata":{"name":7}}]}})",
        R"({"Nodes":{"items":{}}})", "{} {}", "\xff\xfe{}"}) {
    const auto args = reader.read(body);
    ASSERT_FALSE(args) << body;
    EXPECT_EQ(args.error().code, ErrorCode::invalid_input);
    EXPECT_EQ(args.error().to_string().find('\n'), std::string::npos);
  }
  EXPECT_TRUE(reader.read(R"({"NodeNames":["a"]})")) << "and the reader still reads";
}

TEST(ExtenderArgs, NamesWithEscapesComeBackAsTheSameText) {
  ExtenderReader reader;
  const auto args = reader.read(R"({"NodeNames":["a\"b\\cé\u0001"]})");
  ASSERT_TRUE(args);
  const auto answer = Json::parse(filter_answer(*args, Refusals{std::nullopt}));
  EXPECT_EQ(answer.at("NodeNames").at(0), "a\"b\\cé\x01");
}

TEST(ExtenderArgs, LabelsThatAreNoTextsSayNothing) {
  ExtenderReader reader;
  const auto args =
      reader.read(R"({"Pod":{"metadata":{"labels":{"carbon-tolerance":7}}},"NodeNames":["a"]})");
  ASSERT_TRUE(args);
  EXPECT_EQ(args->tolerance, std::nullopt);
}

}  // namespace
}  // namespace tidewatt::k8s_json
