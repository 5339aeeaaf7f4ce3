#include "tidewatt/carbon/visibility.h"

#include <gtest/gtest.h>

namespace tidewatt::carbon {
namespace {

struct Row {
  bool configured;
  Viewer viewer;
  bool visible;
  bool placeholder;
  std::string_view hidden_reason;
};

TEST(CarbonView, FollowsTheTable) {
  const Row rows[] = {
      {true, Viewer::platform_operator, true, false, ""},
      {true, Viewer::other, true, false, ""},
      {false, Viewer::platform_operator, true, true, ""},
      {false, Viewer::other, false, false, "no_factor_configured"},
  };
  for (const auto& row : rows) {
    Factor factor;
    factor.configured = row.configured;
    const auto view = carbon_view(factor, row.viewer);
    EXPECT_EQ(view.visible, row.visible);
    EXPECT_EQ(view.placeholder, row.placeholder);
    EXPECT_EQ(view.hidden_reason, row.hidden_reason);
  }
}

}  // namespace
}  // namespace tidewatt::carbon
