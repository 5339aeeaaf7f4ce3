#include "tidewatt/reports/tariff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tidewatt/units/printable.h"
#include "tidewatt/units/text.h"

namespace tidewatt::reports {
namespace {

constexpr std::array<std::string_view, 7> kDays{"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
constexpr int kHoursPerDay = 24;
constexpr double kHighest = 1000;
constexpr std::size_t kMostOfPart = 60;

std::optional<int> day_of(std::string_view text) {
  const auto found = std::find(kDays.begin(), kDays.end(), text);
  return found == kDays.end() ? std::nullopt : std::optional{static_cast<int>(found - kDays.begin())};
}

std::optional<double> price_of(std::string_view text) {
  const auto value = parse_double(text);
  return value && std::isfinite(*value) && std::abs(*value) <= kHighest ? value : std::nullopt;
}

std::optional<int> hour_number(std::string_view text) {
  if (text.ends_with(":00")) text.remove_suffix(3);
  const auto value = parse_int64(text);
  return value && *value >= 0 && *value <= kHoursPerDay ? std::optional{static_cast<int>(*value)}
                                                        : std::nullopt;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!(text = trim(text)).empty()) {
    const auto end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

/// "mon-fri" or "sat"
bool read_days(std::string_view text, std::array<bool, 7>& days) {
  const auto dash = text.find('-');
  const auto first = day_of(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : day_of(text.substr(dash + 1));
  if (!first || !last) return false;
  days.fill(false);
  for (int day = *first;; day = (day + 1) % 7) {
    days.at(static_cast<std::size_t>(day)) = true;
    if (day == *last) return true;
  }
}

tl::unexpected<Error> unreadable(std::string_view part) {
  return fail(ErrorCode::invalid_input,
              fmt::format("tariff part \"{}\" can't be read", printable(part, kMostOfPart)),
              "give a price, then parts like \"mon-fri 8-20 0.24\" behind semicolons");
}

}  // namespace

Result<Tariff> Tariff::parse(std::string_view text) {
  Tariff tariff;
  bool first = true;
  for (;;) {
    const auto end = text.find(';');
    const auto part = trim(text.substr(0, end));
    if (first) {
      const auto price = price_of(part);
      if (!price) return unreadable(part);
      tariff.base_ = *price;
      first = false;
    } else if (!part.empty()) {
      auto words = words_of(part);
      TimeWindow window;
      window.days.fill(true);
      if (words.size() == 3 && read_days(words.front(), window.days)) words.erase(words.begin());
      if (words.size() != 2) return unreadable(part);
      const auto dash = words[0].find('-');
      if (dash == std::string_view::npos) return unreadable(part);
      const auto from = hour_number(words[0].substr(0, dash));
      const auto to = hour_number(words[0].substr(dash + 1));
      const auto price = price_of(words[1]);
      if (!from || !to || !price) return unreadable(part);
      window.from = *from;
      window.to = *to;
      window.price = *price;
      tariff.windows_.push_back(window);
    }
    if (end == std::string_view::npos) return tariff;
    text.remove_prefix(end + 1);
  }
}

double Tariff::price(const LocalHour& hour) const {
  double price = base_;
  for (const auto& window : windows_) {
    if (!window.days.at(static_cast<std::size_t>(hour.weekday))) continue;
    const bool inside = window.from < window.to ? hour.hour >= window.from && hour.hour < window.to
                                                : hour.hour >= window.from || hour.hour < window.to;
    if (inside) price = window.price;
  }
  return price;
}

}  // namespace tidewatt::reports
