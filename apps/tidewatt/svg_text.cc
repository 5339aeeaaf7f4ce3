#include "svg_text.h"

#include <algorithm>
#include <cmath>

namespace tidewatt::cli {

std::string escape_xml(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out;
}

double step_between_lines(double highest) {
  constexpr int kLines = 5;
  const double rough = std::max(highest, 1e-6) / kLines;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (rough <= factor * power) return factor * power;
  return 10 * power;
}

}  // namespace tidewatt::cli
