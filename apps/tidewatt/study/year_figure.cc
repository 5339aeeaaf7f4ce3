#include "year_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "../svg_text.h"

namespace tidewatt::cli {
namespace {

using Json = nlohmann::json;

constexpr double kWidth = 760, kHeight = 330, kLeft = 52, kRight = 12, kTop = 58, kBottom = 52;
constexpr std::array kSlacks = {6.0, 24.0, 168.0};
constexpr std::array kLengths = {"<1 h", "1-4 h", "4-12 h", "12-24 h", ">24 h", "all"};
/// Shades for rising slack; the bar's number and the legend say the same without colour.
constexpr std::array kFills = {"#B9DEE6", "#4FA4B6", "#145F74"};

double value_of(const Json& rows, const std::string& length, double slack, const std::string& policy) {
  for (const auto& row : rows)
    if (row["length"] == length && row["slack_hours"] == slack && row["policy"] == policy)
      return row["saved_percent"].get<double>();
  return 0;
}

std::string svg_of(const Json& rows) {
  double highest = 1;
  for (const auto& row : rows) highest = std::max(highest, row["saved_percent"].get<double>());
  const double step = step_between_lines(highest);
  const double bottom = kHeight - kBottom;
  const auto y = [&](double percent) { return bottom - std::max(0.0, percent) / highest * (bottom - kTop); };
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "role=\"img\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<title>Carbon saved by waiting in pieces</title>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#FFFFFF\"/>\n"
      "<text x=\"{2}\" y=\"20\" font-size=\"15\" fill=\"#16191F\">Carbon saved against running now under the "
      "same cap, %</text>\n",
      kWidth, kHeight, kLeft);
  double legend = kLeft;
  for (std::size_t s = 0; s < kSlacks.size(); ++s) {
    out += fmt::format(
        "<rect x=\"{:.0f}\" y=\"32\" width=\"12\" height=\"12\" fill=\"{}\"/>"
        "<text x=\"{:.0f}\" y=\"42\" fill=\"#454D5B\">may wait {:.0f} h</text>\n",
        legend, kFills[s], legend + 17, kSlacks[s]);
    legend += 120;
  }
  out += fmt::format(
      "<text x=\"{:.0f}\" y=\"42\" fill=\"#454D5B\">bar: last week as forecast; line: perfect "
      "knowledge</text>\n",
      legend);
  for (double percent = 0; percent <= highest; percent += step)
    out += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#D9DDE4\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\" fill=\"#454D5B\">{5:g}</text>\n",
        kLeft, kWidth - kRight, y(percent), kLeft - 6, y(percent) + 4, percent);
  const double group = (kWidth - kLeft - kRight) / static_cast<double>(kLengths.size());
  const double bar = (group - 20) / static_cast<double>(kSlacks.size());
  for (std::size_t l = 0; l < kLengths.size(); ++l) {
    const double x = kLeft + static_cast<double>(l) * group + 10;
    for (std::size_t s = 0; s < kSlacks.size(); ++s) {
      const double at = x + static_cast<double>(s) * bar;
      const double saved = value_of(rows, kLengths[l], kSlacks[s], "pieces");
      const double perfect = value_of(rows, kLengths[l], kSlacks[s], "pieces_perfect");
      out += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>"
          "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#16191F\" "
          "stroke-width=\"1.5\"/>"
          "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" fill=\"#16191F\">{:.0f}</text>\n",
          at + 1, y(saved), bar - 2, bottom - y(saved), kFills[s], at + 1, at + bar - 1, y(perfect),
          y(perfect), at + bar / 2, y(std::max(saved, perfect)) - 4, saved);
    }
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" fill=\"#16191F\">{}</text>\n",
                       x + (group - 20) / 2, bottom + 18, escape_xml(kLengths[l]));
  }
  out += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" fill=\"#454D5B\">length of the "
      "job</text>\n</svg>\n",
      (kWidth + kLeft) / 2, bottom + 38);
  return out;
}

}  // namespace

Status write_year_figure(const std::string& path, const Json& rows) {
  std::ofstream file{path, std::ios::binary};
  file << svg_of(rows);
  file.close();
  if (!file) return fail(ErrorCode::io, path + " can't be written");
  return {};
}

}  // namespace tidewatt::cli
