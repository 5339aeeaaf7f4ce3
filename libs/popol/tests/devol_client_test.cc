#include "tidewatt/popol/devol_client.h"

#include <gtest/gtest.h>

namespace tidewatt::popol {
namespace {

TEST(DevolAnswers, ReadWhatTheDocumentationShows) {
  const auto spec = parse_spec(
      R"({"service":"shop","parameters":[{"name":"workers"}],"metrics":[{"name":"latency_ms"}],"objectives":["p99(latency_ms) <= 150 over 5m"]})");
  ASSERT_TRUE(spec) << spec.error().to_string();
  EXPECT_EQ(spec->parameters[0], "workers");
  EXPECT_EQ(spec->objectives[0].threshold, 150);
  const auto state = parse_state(
      R"({"parameters":{"workers":4},"samples":{"latency_ms":[[1800000000000,12.5]]},"next":7,"dropped":2})");
  ASSERT_TRUE(state) << state.error().to_string();
  EXPECT_EQ(state->parameters.at("workers"), 4);
  EXPECT_EQ(state->samples.at("latency_ms")[0].value, 12.5);
  EXPECT_EQ(state->next, 7U);
  EXPECT_EQ(state->dropped, 2U);
}

TEST(DevolAnswers, RefuseWhatIsElse) {
  for (const char* text :
       {"", "[]", "{}", R"({"service":"","parameters":[],"metrics":[],"objectives":[]})",
        R"({"service":"a","parameters":[1],"metrics":[],"objectives":[]})",
        R"({"service":"a","parameters":[],"metrics":[],"objectives":["latency <= 1 over 5m"]})"})
    EXPECT_FALSE(parse_spec(text)) << text;
  for (const char* text :
       {"{}", R"({"parameters":{},"samples":{"x":[[1]]},"next":1})",
        R"({"parameters":{},"samples":{"x":[[-1,2]]},"next":1})",
        R"({"parameters":{},"samples":{},"next":-1})", R"({"parameters":[],"samples":{},"next":1})"})
    EXPECT_FALSE(parse_state(text)) << text;
}

}  // namespace
}  // namespace tidewatt::popol
