// Messages of libraries and blank lines stand between the rows of drawn tables: the rows below them belong to
// the table as those above do.
#include "tool_text.h"

namespace tidewatt::metering {
namespace {

std::string two_cards(const std::string& label, const std::string& between, const std::string& within = "") {
  return "+-----+-----+\n"
         "| " +
         label +
         "  Name | Bus-Id |\n"
         "| Fan Temp Perf Pwr:Usage/Cap | Memory-Usage |\n"
         "+=====+=====+\n"
         "| 0 X | 3B:00.0 |\n" +
         within +
         "| N/A 35C P0 300W / 700W | 4 / 5 |\n"
         "+-----+-----+\n" +
         between +
         "| 1 X | 86:00.0 |\n"
         "| N/A 35C P0 310W / 700W | 4 / 5 |\n"
         "+-----+-----+\n";
}

struct Tool {
  std::string_view name;
  std::string label;
};
const std::vector<Tool>& tools() {
  static const std::vector<Tool> all{
      {"nvidia-smi", "GPU"}, {"mx-smi", "GPU"}, {"brsmi", "GPU"}, {"ixsmi", "GPU"},
      {"hl-smi", "AIP"},     {"cnmon", "Card"}, {"efsmi", "DEV"}, {"kunlunxin-xpu-smi", "XPU"},
      {"generic", "GPU"}};
  return all;
}

TEST(InterruptedTable, KeepsTheCardsBelowAMessageOrABlankLine) {
  for (const auto& [tool, label] : tools())
    for (const std::string between : {"libxyz: debug message\n", "\n", "\nlibxyz: card 1: 20 W\n\n"}) {
      const auto r = read(tool, two_cards(label, between));
      ASSERT_EQ(r.devices.size(), 2U) << tool << between;
      EXPECT_DOUBLE_EQ(r.total.value().value(), 610) << tool << between;
    }
}

TEST(InterruptedTable, KeepsACardThatIsCutInTwo) {
  for (const auto& [tool, label] : tools()) {
    const auto r = read(tool, two_cards(label, "", "libxyz: debug message\n\n"));
    ASSERT_EQ(r.devices.size(), 2U) << tool;
    EXPECT_DOUBLE_EQ(r.total.value().value(), 610) << tool;
  }
}

TEST(InterruptedTable, EndsAtATitleOrAtOtherNames) {
  for (const std::string other :
       {"\n| Versions | here |\n| 7 X | 3B:00.0 |\n| N/A 35C P0 900W / 950W | 4 / 5 |\n+-----+-----+\n",
        "\n+-----+\n| Processes: |\n| 3 X | 3B:00.0 |\n+-----+\n",
        "\n+-----+\n| Host  Name |\n+-----+\n| 5 X | 3B:00.0 |\n+-----+\n"}) {
    const auto r = read("brsmi", two_cards("GPU", "") + other);
    ASSERT_EQ(r.devices.size(), 2U) << other;
    EXPECT_DOUBLE_EQ(r.total.value().value(), 610) << other;
  }
}

TEST(InterruptedTable, RefusesRowsBelowThatLostTheirNumberOrTheirCells) {
  for (const std::string damaged : {"| N/A 35C P0 310W / 700W | 4 / 5 |\n", "| 1 X 86:00.0 |\n"}) {
    const auto text = two_cards("GPU", "libxyz: message\n" + damaged + "+-----+-----+\n");
    EXPECT_EQ(
        refusal("brsmi", text).message.find("brsmi: line 9: unknown layout: expected a whole row below"), 0U)
        << text;
  }
}

TEST(InterruptedTable, KeepsRowsWithABlankLineBehindEach) {
  const auto r =
      read("kunlunxin-xpu-smi",
           "+-----------------+\n| DEVICES |\n+-----------------+\n| DevID | PCI Addr | Power(W) |\n"
           "+-------+---+----+\n| 0 | 0000:53:00.0 | 62 |\n\n| 1 | 0000:56:00.0 | 63 |\n\n"
           "+-------+---+----+\n");
  ASSERT_EQ(r.devices.size(), 2U);
  EXPECT_DOUBLE_EQ(r.total.value().value(), 125);
}

TEST(RepeatedRow, LeavesTheLinesBelowItInTheirPlaces) {
  const auto r = read("npu-smi",
                      "+------+------+------+\n| NPU   Name | Health | Power(W) Temp(C) |\n"
                      "| Chip       | Bus-Id | AICore(%) |\n+======+======+======+\n"
                      "| 7     910B | OK     | 70.5     34 |\n| 7     910B | OK     | 70.5     34 |\n"
                      "| 0          | 0000:C1:00.0 | 0 |\n+======+======+======+\n");
  ASSERT_EQ(r.devices.size(), 1U);
  EXPECT_EQ(index(r), 7);
  EXPECT_EQ(part(r), 0);
  EXPECT_DOUBLE_EQ(watts(r), 70.5);
}

}  // namespace
}  // namespace tidewatt::metering
