// A report as one HTML file with its figures in it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "shown.h"
#include "statements.h"
#include "tables.h"
#include "tidewatt/reports/text.h"

namespace tidewatt::reports {
namespace {

constexpr int kWidth = 900;
constexpr int kLeft = 56;
constexpr int kPlotHeight = 150;
constexpr int kTop = 14;
constexpr int kCell = 13;
constexpr std::size_t kLongestWhole = 12;
constexpr std::array<std::string_view, 7> kCiColours{"#FFF2B8", "#FEDB80", "#FDB84A", "#F28E2B",
                                                     "#D9630F", "#AD4406", "#702A04"};
constexpr std::array<double, 6> kCiBreaks{50, 100, 200, 300, 450, 600};
constexpr std::array<std::string_view, 7> kCfeColours{"#E0F0F4", "#B9DEE6", "#86C4D1", "#4FA4B6",
                                                      "#287E93", "#145F74", "#083F50"};
constexpr std::array<double, 6> kCfeBreaks{0.10, 0.25, 0.40, 0.60, 0.75, 0.90};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out;
}

std::string_view colour(double value, const std::array<double, 6>& breaks,
                        const std::array<std::string_view, 7>& colours) {
  const auto at = std::upper_bound(breaks.begin(), breaks.end(), value) - breaks.begin();
  return colours.at(static_cast<std::size_t>(at));
}

double nice_step(double highest) {
  const double rough = std::max(highest, 1e-9) / 4;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (rough <= factor * power) return factor * power;
  return 10 * power;
}

/// A bar a day; a day without a row is hatched, never a bar of height 0.
std::string day_bars(const Report& report, const Words& words) {
  double highest = 0;
  for (const auto& day : report.days) highest = std::max(highest, day.kwh.value_or(0));
  const double step = nice_step(highest);
  const double top = std::max(step, step * std::ceil(highest / step));
  const double width =
      static_cast<double>(kWidth - kLeft) / static_cast<double>(std::max<std::size_t>(1, report.days.size()));
  std::string out = fmt::format(
      "<figure><figcaption>{}</figcaption><svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">",
      words.f_days, kWidth, kPlotHeight + kTop + 26, words.f_days_name);
  for (double value = 0; value <= top * 1.0001; value += step) {
    const double y = kTop + kPlotHeight * (1 - value / top);
    out += fmt::format(
        "<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
        "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>",
        kLeft, kWidth, y, y, kLeft - 6, y + 4, shown(value));
  }
  const std::size_t every = std::max<std::size_t>(1, report.days.size() / 10);
  for (std::size_t i = 0; i < report.days.size(); ++i) {
    const auto& day = report.days[i];
    const double x = kLeft + width * static_cast<double>(i);
    const double height = day.kwh ? kPlotHeight * *day.kwh / top : kPlotHeight;
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" {}><title>{}: {} "
        "kWh</title></rect>",
        x + width * 0.1, kTop + kPlotHeight - height, width * 0.8, height,
        day.kwh ? "class=\"bar\"" : "fill=\"url(#none)\"", day_text(day.begin), shown(day.kwh));
    if (i % every == 0)
      out += fmt::format("<text x=\"{:.1f}\" y=\"{}\">{}</text>", x, kTop + kPlotHeight + 18,
                         day_text(day.begin).substr(5));
  }
  return out + "</svg></figure>\n";
}

template <class Value>
std::string heat_map(const Report& report, std::string_view caption, const std::array<double, 6>& breaks,
                     const std::array<std::string_view, 7>& colours, Value value, bool percent) {
  if (std::none_of(report.days.begin(), report.days.end(), [&](const Day& day) {
        return std::any_of(value(day).begin(), value(day).end(),
                           [](const auto& cell) { return cell.has_value(); });
      }))
    return {};
  const double width =
      std::min(26.0, static_cast<double>(kWidth - kLeft) / static_cast<double>(report.days.size()));
  std::string out = fmt::format(
      "<figure><figcaption>{}</figcaption><svg viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-label=\"{}\">",
      caption, kWidth, 24 * kCell + 46, caption);
  for (int hour = 0; hour < 24; hour += 6)
    out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{:02}:00</text>", kLeft - 6,
                       hour * kCell + 11, hour);
  const std::size_t every = std::max<std::size_t>(1, report.days.size() / 10);
  for (std::size_t i = 0; i < report.days.size(); ++i) {
    const auto& cells = value(report.days[i]);
    const double x = kLeft + width * static_cast<double>(i);
    for (std::size_t hour = 0; hour < cells.size(); ++hour)
      out += fmt::format("<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>", x,
                         static_cast<int>(hour) * kCell, std::max(width - 1, 0.5), kCell - 1,
                         cells.at(hour) ? colour(*cells.at(hour), breaks, colours) : "url(#none)");
    if (i % every == 0)
      out += fmt::format("<text x=\"{:.1f}\" y=\"{}\">{}</text>", x, 24 * kCell + 14,
                         day_text(report.days[i].begin).substr(5));
  }
  for (std::size_t i = 0; i < colours.size(); ++i) {
    const auto bound = [&](double number) {
      return percent ? fmt::format("{:.0f}%", number * 100) : fmt::format("{:.0f}", number);
    };
    const std::string label = i == 0               ? "< " + bound(breaks.front())
                              : i == breaks.size() ? "≥ " + bound(breaks.back())
                                                   : bound(breaks.at(i - 1)) + "–" + bound(breaks.at(i));
    out += fmt::format(
        "<rect x=\"{0}\" y=\"{1}\" width=\"12\" height=\"12\" fill=\"{2}\"/><text x=\"{3}\" y=\"{4}\">{5}"
        "</text>",
        kLeft + static_cast<int>(i) * 100, 24 * kCell + 26, colours.at(i),
        kLeft + 16 + static_cast<int>(i) * 100, 24 * kCell + 37, escaped(label));
  }
  return out + "</svg></figure>\n";
}

std::string table_html(const Table& table) {
  // Long tables may go over pages, short ones stay whole.
  std::string out = fmt::format("<h2>{}</h2>\n<table{}><thead><tr>", escaped(table.title),
                                table.rows.size() > kLongestWhole ? "" : " class=\"short\"");
  for (const auto& name : table.head) out += "<th scope=\"col\">" + escaped(name) + "</th>";
  out += "</tr></thead><tbody>\n";
  for (std::size_t at = 0; at < table.rows.size(); ++at) {
    const auto& row = table.rows[at];
    out += at == table.total_row ? "<tr class=\"total\">" : "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i)
      out += (i == 0 ? "<th scope=\"row\">" : "<td>") + escaped(row[i]) + (i == 0 ? "</th>" : "</td>");
    out += "</tr>\n";
  }
  return out + "</tbody></table>\n";
}

std::string list_html(std::string_view title, const std::vector<std::string>& items) {
  if (items.empty()) return {};
  std::string out = fmt::format("<h2>{}</h2>\n<ul>\n", title);
  for (const auto& item : items) out += "<li>" + escaped(item) + "</li>\n";
  return out + "</ul>\n";
}

constexpr std::string_view kStyle = R"(<style>
@page{size:A4 landscape;margin:12mm}
body{font:13px/1.45 -apple-system,BlinkMacSystemFont,"Segoe UI",Roboto,"Helvetica Neue","PingFang SC","Microsoft YaHei","Noto Sans SC","Noto Sans CJK SC",sans-serif;color:#16191F;background:#fff;margin:24px auto;max-width:1040px;padding:0 16px}
h1{font-size:20px;margin:0 0 12px}h2{font-size:15px;margin:20px 0 6px;break-after:avoid}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:4px 8px;border-bottom:1px solid #D9DDE4;text-align:right;font-weight:400}
th:first-child{text-align:left;overflow-wrap:anywhere;min-width:10em}thead th{color:#454D5B;vertical-align:bottom;word-break:keep-all}
.total th,.total td{font-weight:600;border-top:1px solid #7A8394}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px;margin:0}dt{color:#454D5B}dd{margin:0;overflow-wrap:anywhere}
.warn{border-left:4px solid #855300;background:#FFF3D6;padding:6px 10px;margin:0 0 8px}
figure{margin:16px 0;break-inside:avoid}figcaption{color:#454D5B;margin-bottom:4px}svg{width:100%;height:auto}
svg text{font-size:11px;fill:#454D5B}.grid{stroke:#D9DDE4}.bar{fill:#0B5CAD}
tr,.short{break-inside:avoid}ul{padding-left:18px}
@media (max-width:700px){.wide,figure{overflow-x:auto}figure svg{min-width:640px}dl{grid-template-columns:1fr}dt{margin-top:6px}}
html[lang|=zh] body{line-height:1.6}
@media print{body{margin:0;max-width:none;padding:0}.bar{fill:#454D5B}}
</style>
)";

}  // namespace

std::string to_html(const Report& report, Language language) {
  const Words& words = words_of(language);
  const std::string title = escaped(title_of(report, words));
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"{}\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"><title>{}</title>\n",
      words.code, title);
  out += kStyle;
  out +=
      "</head><body>\n<svg width=\"0\" height=\"0\" style=\"position:absolute\" "
      "aria-hidden=\"true\"><defs><pattern "
      "id=\"none\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
      "patternTransform=\"rotate(45)\"><line "
      "x1=\"0\" x2=\"0\" y1=\"0\" y2=\"6\" stroke=\"#7A8394\" stroke-width=\"1\"/></pattern></defs></svg>\n";
  out += "<h1>" + title + "</h1>\n";
  for (const auto& warning : warnings_of(report, words))
    out += "<p class=\"warn\">" + escaped(warning) + "</p>\n";
  out += "<dl>\n";
  for (const auto& fact : facts_of(report, words))
    out += "<dt>" + escaped(fact.name) + "</dt><dd>" + escaped(fact.text) + "</dd>\n";
  out += "</dl>\n<div class=\"wide\">\n";
  const auto tables = tables_of(report, language);
  for (const auto& table : tables.tables) out += table_html(table);
  out += fmt::format("</div>\n<h2>{}</h2>\n", words.figures) + day_bars(report, words);
  out += heat_map(
      report, words.f_intensity, kCiBreaks, kCiColours, [](const Day& day) -> const auto& { return day.ci; },
      false);
  out += heat_map(
      report, words.f_cfe, kCfeBreaks, kCfeColours, [](const Day& day) -> const auto& { return day.cfe; },
      true);
  out += list_html(words.unknown_title, tables.unknown);
  out += list_html(words.notes, notes_of(report, words));
  return out + "</body></html>\n";
}

}  // namespace tidewatt::reports
