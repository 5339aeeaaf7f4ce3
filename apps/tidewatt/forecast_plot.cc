#include "forecast_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "svg_text.h"

namespace tidewatt::cli {
namespace {

constexpr int kWidth = 960;
constexpr int kHeight = 360;
constexpr int kLeft = 64;
constexpr int kRight = 16;
constexpr int kTop = 48;
constexpr int kBottom = 40;
constexpr long kHistoryHours = 72;

struct Frame {
  UtcHour from;
  UtcHour to;
  double highest = 1;

  [[nodiscard]] double x(UtcHour at) const {
    return kLeft + (kWidth - kLeft - kRight) * static_cast<double>((at - from).count()) /
                       static_cast<double>((to - from).count());
  }
  [[nodiscard]] double y(double value) const {
    return kHeight - kBottom - (kHeight - kTop - kBottom) * value / highest;
  }
  [[nodiscard]] std::string point(UtcHour at, double value) const {
    return fmt::format("{:.1f},{:.1f} ", x(at), y(value));
  }
};

std::string axes(const Frame& frame, double step) {
  std::string out;
  for (double value = 0; value <= frame.highest * 1.0001; value += step)
    out += fmt::format(
        "<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
        "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:g}</text>\n",
        kLeft, kWidth - kRight, frame.y(value), frame.y(value), kLeft - 8, frame.y(value) + 4, value);
  for (auto day = std::chrono::ceil<std::chrono::days>(frame.from); UtcHour{day} < frame.to;
       day += std::chrono::days{1}) {
    const std::chrono::year_month_day date{day};
    out += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>"
        "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4:02}-{5:02}</text>\n",
        frame.x(UtcHour{day}), kTop, kHeight - kBottom, kHeight - kBottom + 18,
        static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  }
  return out;
}

/// The known hours, a line of its own for each stretch.
std::string past(const carbon::HourlySeries& history, const Frame& frame) {
  std::string out;
  std::string line;
  const auto close = [&] {
    if (!line.empty()) out += "<polyline class=\"past\" points=\"" + line + "\"/>\n";
    line.clear();
  };
  for (auto at = std::max(frame.from, history.begin); at < history.end(); at += std::chrono::hours{1}) {
    const auto& value = history.hours[static_cast<std::size_t>((at - history.begin).count())];
    if (value)
      line += frame.point(at, *value);
    else
      close();
  }
  close();
  return out;
}

}  // namespace

std::string forecast_svg(const carbon::HourlySeries& history, const carbon::Forecast& forecast,
                         const std::string& title) {
  const UtcHour issued = hour_of(forecast.issued_at);
  Frame frame{issued - std::chrono::hours{kHistoryHours},
              issued + std::chrono::hours{static_cast<long>(forecast.points.size())}};
  double highest = 1e-6;
  for (auto at = std::max(frame.from, history.begin); at < history.end(); at += std::chrono::hours{1})
    highest =
        std::max(highest, history.hours[static_cast<std::size_t>((at - history.begin).count())].value_or(0));
  for (const auto& point : forecast.points) highest = std::max(highest, point.p90.value());
  const double step = step_between_lines(highest);
  frame.highest = step * std::ceil(highest / step);

  std::string band;
  std::string middle;
  for (const auto& point : forecast.points) {
    band += frame.point(hour_of(point.start), point.p90.value());
    middle += frame.point(hour_of(point.start), point.expected.value());
  }
  for (auto point = forecast.points.rbegin(); point != forecast.points.rend(); ++point)
    band += frame.point(hour_of(point->start), point->p10.value());

  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
             "role=\"img\">\n<title>{2}</title>\n"
             "<style>text{{font:12px sans-serif;fill:#444}} .grid{{stroke:#e4e4e4}} "
             ".past{{fill:none;stroke:#555;stroke-width:1.5}} "
             ".said{{fill:none;stroke:#0b6e4f;stroke-width:2}} "
             ".band{{fill:#0b6e4f;fill-opacity:.18}} .now{{stroke:#999;stroke-dasharray:4 3}}</style>\n"
             "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n"
             "<text x=\"{3}\" y=\"20\" style=\"font-size:14px;fill:#111\">{2}</text>\n"
             "<text x=\"{3}\" y=\"38\">gCO2/kWh, UTC; grey: as measured, green: forecast, shaded: 80 % band"
             "</text>\n",
             kWidth, kHeight, escape_xml(title), kLeft) +
         axes(frame, step) + "<polygon class=\"band\" points=\"" + band + "\"/>\n" + past(history, frame) +
         "<polyline class=\"said\" points=\"" + middle + "\"/>\n" +
         fmt::format("<line class=\"now\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>\n</svg>\n",
                     frame.x(issued), kTop, kHeight - kBottom);
}

}  // namespace tidewatt::cli
