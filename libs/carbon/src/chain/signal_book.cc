#include "tidewatt/carbon/signal_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tidewatt::carbon {
namespace {

constexpr double kMostIntensity = 1e5;
constexpr Milliseconds kLongestSlot = std::chrono::hours{48};
constexpr Milliseconds kHour = std::chrono::hours{1};
constexpr std::int64_t kMostHours = std::int64_t{24} * 400;

bool usable(const SignalPoint& point) {
  const double value = point.intensity.value();
  return std::isfinite(value) && value >= 0 && value <= kMostIntensity && point.end > point.start &&
         point.end - point.start <= kLongestSlot;
}

std::optional<StoredPoint> holding(const std::map<UtcTime, std::vector<StoredPoint>>& slots, UtcTime now) {
  const auto after = slots.upper_bound(now);
  if (after == slots.begin()) return std::nullopt;
  const auto& stored = std::prev(after)->second.back();
  if (stored.point.end <= now) return std::nullopt;
  return stored;
}

}  // namespace

bool same_series(const SeriesIdentity& own, const SeriesIdentity& other) {
  return own.kind == other.kind && own.boundary == other.boundary && own.basis == other.basis;
}

std::string describe(const SeriesIdentity& identity) {
  return fmt::format("{}, {}, {}", to_string(identity.kind), to_string(identity.boundary),
                     to_string(identity.basis));
}

SignalBook::SignalBook(SeriesIdentity identity) : identity_{std::move(identity)} {}

SignalBook::Taken SignalBook::take(const std::vector<SignalPoint>& points, std::string_view provider,
                                   UtcTime fetched_at) {
  Taken taken;
  for (const auto& point : points) {
    if (!same_series(identity_, point.series)) {
      ++taken.foreign;
      continue;
    }
    if (!usable(point)) {
      ++taken.unusable;
      continue;
    }
    StoredPoint stored{point, std::string{provider}, fetched_at, 1};
    stored.point.series = identity_;
    if (point.quality == SignalQuality::forecast) {
      forecast_[point.start] = {std::move(stored)};
      continue;
    }
    auto& revisions = known_[point.start];
    if (revisions.empty()) {
      ++taken.fresh;
      revisions.push_back(std::move(stored));
      continue;
    }
    auto& last = revisions.back();
    // Another provider of the chain doesn't restate what the first one said.
    if (last.provider != provider && last.point.quality != SignalQuality::fixed) continue;
    if (last.point.intensity == point.intensity && last.point.end == point.end &&
        last.point.quality == point.quality)
      continue;
    ++taken.restated;
    stored.revision = last.revision + 1;
    revisions.push_back(std::move(stored));
    if (revisions.size() > kMostRevisions) revisions.erase(revisions.begin() + 1);
  }
  bound(known_);
  bound(forecast_);
  return taken;
}

void SignalBook::restore(StoredPoint stored) {
  if (!same_series(identity_, stored.point.series) || !usable(stored.point)) return;
  stored.point.series = identity_;
  auto& slot = (stored.point.quality == SignalQuality::forecast ? forecast_ : known_)[stored.point.start];
  if (!slot.empty() && slot.back().revision >= stored.revision) return;
  slot.push_back(std::move(stored));
  if (slot.size() > kMostRevisions) slot.erase(slot.begin() + 1);
}

void SignalBook::bound(Slots& slots) {
  while (slots.size() > kMostSlots) slots.erase(slots.begin());
}

std::optional<StoredPoint> SignalBook::known_at(UtcTime now) const { return holding(known_, now); }
std::optional<StoredPoint> SignalBook::forecast_at(UtcTime now) const { return holding(forecast_, now); }

std::optional<StoredPoint> SignalBook::last_known(UtcTime now) const {
  const auto after = known_.upper_bound(now);
  if (after == known_.begin()) return std::nullopt;
  return std::prev(after)->second.back();
}

std::vector<StoredPoint> SignalBook::history(const UtcRange& range, bool all_revisions) const {
  std::vector<StoredPoint> out;
  for (auto slot = known_.lower_bound(range.begin); slot != known_.end() && slot->first < range.end; ++slot)
    out.insert(out.end(), all_revisions ? slot->second.begin() : std::prev(slot->second.end()),
               slot->second.end());
  return out;
}

std::vector<StoredPoint> SignalBook::forecast(const UtcRange& range) const {
  std::vector<StoredPoint> out;
  for (auto slot = forecast_.lower_bound(range.begin); slot != forecast_.end() && slot->first < range.end;
       ++slot)
    out.push_back(slot->second.back());
  return out;
}

std::vector<StoredPoint> SignalBook::everything() const {
  std::vector<StoredPoint> out;
  for (const auto* slots : {&known_, &forecast_})
    for (const auto& [start, revisions] : *slots) out.insert(out.end(), revisions.begin(), revisions.end());
  return out;
}

HourlySeries SignalBook::hourly(UtcTime now) const {
  HourlySeries series;
  const auto last = last_known(now);
  if (!last) return series;
  const UtcHour end = hour_of(std::min(last->point.end, now));
  series.begin = std::max(hour_of(known_.begin()->first), end - std::chrono::hours{kMostHours});
  const auto hours = (end - series.begin).count();
  if (hours <= 0) return series;
  std::vector<double> sums(static_cast<std::size_t>(hours), 0.0);
  std::vector<double> covered(static_cast<std::size_t>(hours), 0.0);
  for (const auto& [start, revisions] : known_) {
    const auto& point = revisions.back().point;
    if (point.quality == SignalQuality::fixed) continue;
    for (UtcTime at = std::max(point.start, start_of(series.begin));
         at < std::min(point.end, start_of(end));) {
      const UtcTime until =
          std::min({point.end, start_of(hour_of(at) + std::chrono::hours{1}), start_of(end)});
      const auto index = static_cast<std::size_t>((hour_of(at) - series.begin).count());
      const double share = static_cast<double>((until - at).count()) / static_cast<double>(kHour.count());
      sums[index] += point.intensity.value() * share;
      covered[index] += share;
      at = until;
    }
  }
  series.hours.resize(static_cast<std::size_t>(hours));
  for (std::size_t i = 0; i < series.hours.size(); ++i)
    if (covered[i] >= 0.5 - 1e-9) series.hours[i] = sums[i] / covered[i];
  while (!series.hours.empty() && !series.hours.back()) series.hours.pop_back();
  return series;
}

}  // namespace tidewatt::carbon
