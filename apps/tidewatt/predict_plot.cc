#include "predict_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "svg_text.h"

namespace tidewatt::cli {
namespace {

constexpr int kWidth = 720;
constexpr int kHeight = 360;
constexpr int kLeft = 72;
constexpr int kRight = 16;
constexpr int kTop = 48;
constexpr int kBottom = 40;
constexpr std::size_t kMostPoints = 2000;

struct Frame {
  double epochs = 1;
  double joules = 1;

  [[nodiscard]] double x(double epoch) const { return kLeft + (kWidth - kLeft - kRight) * epoch / epochs; }
  [[nodiscard]] double y(double energy) const {
    return kHeight - kBottom - (kHeight - kTop - kBottom) * energy / joules;
  }
  [[nodiscard]] std::string point(double epoch, double energy) const {
    return fmt::format("{:.1f},{:.1f} ", x(epoch), y(energy));
  }
};

double sum_of(std::span<const tasks::Epoch> epochs) {
  double sum = 0;
  for (const auto& epoch : epochs)
    if (epoch.energy) sum += epoch.energy->value();
  return sum;
}

/// Cumulative energy from `start`, at most kMostPoints points.
std::string cumulative(const Frame& frame, std::span<const tasks::Epoch> epochs, double first, double start) {
  std::string out = frame.point(first, start);
  const std::size_t every = epochs.size() / kMostPoints + 1;
  for (std::size_t i = 0; i < epochs.size(); ++i) {
    if (epochs[i].energy) start += epochs[i].energy->value();
    if (i % every == 0 || i + 1 == epochs.size())
      out += frame.point(first + static_cast<double>(i + 1), start);
  }
  return out;
}

std::string grid(const Frame& frame) {
  std::string out;
  const double energy_step = step_between_lines(frame.joules);
  for (double value = 0; value <= frame.joules * 1.0001; value += energy_step)
    out += fmt::format(
        "<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
        "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:g}</text>\n",
        kLeft, kWidth - kRight, frame.y(value), frame.y(value), kLeft - 8, frame.y(value) + 4, value / 1000);
  const double epoch_step = step_between_lines(frame.epochs);
  for (double value = 0; value <= frame.epochs * 1.0001; value += epoch_step)
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:g}</text>\n", frame.x(value),
                       kHeight - kBottom + 18, value);
  return out;
}

}  // namespace

std::string prediction_svg(std::span<const tasks::Epoch> trained, std::span<const tasks::Epoch> after,
                           const tasks::Prediction& prediction, const std::string& title) {
  const auto ahead = static_cast<double>(prediction.horizon);
  const auto done = static_cast<double>(trained.size());
  const double so_far = sum_of(trained);
  const auto came = after.first(std::min(after.size(), static_cast<std::size_t>(prediction.horizon)));
  Frame frame{done + ahead, std::max({so_far + prediction.high.value(), so_far + sum_of(came), 1e-6})};
  const double end = done + ahead;

  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "role=\"img\">\n<title>{2}</title>\n"
      "<style>text{{font:12px sans-serif;fill:#444}} .grid{{stroke:#e4e4e4}} "
      ".past{{fill:none;stroke:#555;stroke-width:2}} .said{{fill:none;stroke:#0b6e4f;stroke-width:2}} "
      ".band{{fill:#0b6e4f;fill-opacity:.18}} .now{{stroke:#999;stroke-dasharray:4 3}}</style>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n"
      "<text x=\"{3}\" y=\"20\" style=\"font-size:14px;fill:#111\">{2}</text>\n"
      "<text x=\"{3}\" y=\"38\">kJ since the start, by epoch; grey: measured, green: predicted, shaded: 90 % "
      "interval</text>\n",
      kWidth, kHeight, escape_xml(title), kLeft);
  out += grid(frame);
  out += "<polygon class=\"band\" points=\"" + frame.point(done, so_far) +
         frame.point(end, so_far + prediction.high.value()) +
         frame.point(end, so_far + prediction.low.value()) + "\"/>\n";
  out += "<polyline class=\"said\" points=\"" + frame.point(done, so_far) +
         frame.point(end, so_far + prediction.energy.value()) + "\"/>\n";
  out += "<polyline class=\"past\" points=\"" + cumulative(frame, trained, 0, 0) + "\"/>\n";
  if (!came.empty())
    out += "<polyline class=\"past\" stroke-dasharray=\"3 2\" points=\"" +
           cumulative(frame, came, done, so_far) + "\"/>\n";
  return out +
         fmt::format("<line class=\"now\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>\n</svg>\n",
                     frame.x(done), kTop, kHeight - kBottom);
}

}  // namespace tidewatt::cli
