#include "tidewatt/ledger/account.h"

#include <algorithm>
#include <array>
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

std::string_view attribution_of(const WideMeasures& totals) {
  return totals.shared_time > Milliseconds{0} ? "shared_estimated" : "exclusive";
}

}  // namespace tidewatt::ledger
