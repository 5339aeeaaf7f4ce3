#include "tidewatt/tasks/receipt.h"

#include <fmt/format.h>

#include <cmath>

namespace tidewatt::tasks {
namespace {

constexpr double kWholeEnough = 0.995;

/// Two digits, three from 100 on: 0.94, 2.4, 24, 240.
std::string two_digits(double value) {
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size >= 10) return fmt::format("{:.0f}", value);
  const int digits = size >= 1 ? 1 : std::min(6, static_cast<int>(std::ceil(-std::log10(size))) + 1);
  auto text = fmt::format("{:.{}f}", value, digits);
  while (text.find('.') != std::string::npos && (text.back() == '0' || text.back() == '.')) {
    const bool point = text.back() == '.';
    text.pop_back();
    if (point) break;
  }
  return text;
}

std::string in_thousands(double value, const char* unit, const char* kilo, const char* mega) {
  // 995 is shown as 995, 999.6 as 1 of the next.
  if (std::abs(value) < 999.5) return two_digits(value) + " " + unit;
  if (std::abs(value) < 999.5e3) return two_digits(value / 1e3) + " " + kilo;
  return two_digits(value / 1e6) + " " + mega;
}

std::string against_run_now(GramsCo2 carbon, GramsCo2 run_now) {
  const double percent = std::round(100 * (1 - carbon / run_now));
  if (percent == 0) return "as run-now";
  return fmt::format("{:.0f} % {} run-now", std::abs(percent), percent > 0 ? "under" : "over");
}

}  // namespace

std::string receipt_text(const JobReceipt& receipt) {
  if (!receipt.energy) return "energy unknown";
  std::string out = in_thousands(to_watt_hours(*receipt.energy).value(), "Wh", "kWh", "MWh") +
                    (receipt.estimated ? " (estimated)" : "");
  out += receipt.carbon ? ", " + in_thousands(receipt.carbon->value(), "g", "kg", "t") : ", carbon unknown";
  if (receipt.carbon && receipt.run_now && receipt.run_now->value() > 0)
    out += ", " + against_run_now(*receipt.carbon, *receipt.run_now);
  if (receipt.coverage < kWholeEnough)
    out += fmt::format("; {:.0f} % of its time measured", std::floor(100 * std::max(0.0, receipt.coverage)));
  return out;
}

}  // namespace tidewatt::tasks
