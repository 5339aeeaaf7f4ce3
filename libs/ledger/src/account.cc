#include "tidewatt/ledger/account.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace tidewatt::ledger {
namespace {

constexpr std::array<std::pair<Scope, std::string_view>, 4> kScopes{{{Scope::device, "device"},
                                                                     {Scope::node, "node"},
                                                                     {Scope::task, "task"},
                                                                     {Scope::task_device, "task_device"}}};

}  // namespace

std::string_view to_string(Scope scope) { return kScopes.at(static_cast<std::size_t>(scope)).second; }

std::optional<Scope> scope_from(std::string_view text) {
  for (const auto& [scope, name] : kScopes)
    if (name == text) return scope;
  return std::nullopt;
}

Measures& AccountDelta::at(UtcHour hour) {
  const auto place = std::lower_bound(hours.begin(), hours.end(), hour,
                                      [](const HourMeasures& row, UtcHour h) { return row.hour < h; });
  if (place != hours.end() && place->hour == hour) return place->measures;
  return hours.insert(place, HourMeasures{hour, {}})->measures;
}

Measures AccountDelta::total() const {
  Measures sum;
  for (const auto& row : hours) sum += row.measures;
  return sum;
}

void AccountDelta::add(const AccountDelta& other) {
  for (const auto& row : other.hours) at(row.hour) += row.measures;
  if (other.first_sample_at && (!first_sample_at || *other.first_sample_at < *first_sample_at))
    first_sample_at = other.first_sample_at;
  if (other.last_sample_at && (!last_sample_at || *other.last_sample_at > *last_sample_at))
    last_sample_at = other.last_sample_at;
}

std::string coverage_text(double share, bool whole) {
  if (!(share > 0)) return "0%";
  if (share >= 1 && whole) return "100%";
  constexpr double kTenths = 1000;
  constexpr int kBelowWhole = 999;
  // 0.982 * 1000 is 981.9999...: the epsilon is far below a printed digit.
  constexpr double kNoise = 1e-7;
  const auto tenths = static_cast<int>(std::min<double>(kBelowWhole, std::floor(share * kTenths + kNoise)));
  if (tenths == 0) return "<0.1%";
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + "%";
}

std::string coverage_text(Milliseconds covered, Milliseconds gap, Milliseconds partial) {
  const auto all = covered + gap;
  if (all <= Milliseconds{0}) return "—";
  return coverage_text(static_cast<double>(covered.count()) / static_cast<double>(all.count()),
                       gap <= Milliseconds{0} && partial <= Milliseconds{0});
}

std::string_view attribution_of(const WideMeasures& totals) {
  return totals.shared_time > Milliseconds{0} ? "shared_estimated" : "exclusive";
}

}  // namespace tidewatt::ledger
