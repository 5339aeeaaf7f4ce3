// The intensities a report accounts with.
#include <algorithm>
#include <map>

#include "tidewatt/reports/gather.h"

namespace tidewatt::reports {
namespace {

constexpr Milliseconds kHour = std::chrono::hours{1};

}  // namespace

carbon::HourlySeries values_at_seal(const std::vector<carbon::StoredPoint>& revisions, const Window& window,
                                    const std::vector<ledger::Seal>& seals, bool cfe_share) {
  const auto sealed_at = [&](UtcTime at) -> std::optional<UtcTime> {
    for (const auto& seal : seals)
      if (at >= start_of(seal.month.begin()) && at < start_of(seal.month.end())) return seal.sealed_at;
    return std::nullopt;
  };
  std::map<UtcTime, const carbon::StoredPoint*> used;
  for (const auto& stored : revisions) {
    if (stored.point.quality == carbon::SignalQuality::fixed ||
        stored.point.quality == carbon::SignalQuality::heuristic ||
        stored.point.quality == carbon::SignalQuality::forecast)
      continue;
    const auto closed = sealed_at(stored.point.start);
    auto& place = used[stored.point.start];
    if (place == nullptr || !closed || stored.fetched_at <= *closed) place = &stored;
  }
  std::vector<double> sums(window.hours(), 0.0);
  std::vector<double> shares(window.hours(), 0.0);
  for (const auto& [start, stored] : used) {
    const auto value = cfe_share ? stored->point.cfe_share : std::optional{stored->point.intensity.value()};
    if (!value) continue;
    for (UtcTime at = std::max(start, start_of(window.from));
         at < std::min(stored->point.end, start_of(window.to));) {
      const auto until = std::min(stored->point.end, start_of(hour_of(at) + std::chrono::hours{1}));
      const auto index = static_cast<std::size_t>((hour_of(at) - window.from).count());
      const double share = static_cast<double>((until - at).count()) / static_cast<double>(kHour.count());
      sums[index] += *value * share;
      shares[index] += share;
      at = until;
    }
  }
  carbon::HourlySeries series{window.from, {}};
  series.hours.resize(window.hours());
  // An hour of which less than half is known is a missing hour.
  constexpr double kHalf = 0.5 - 1e-9;
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (shares[i] >= kHalf) series.hours[i] = sums[i] / shares[i];
  return series;
}

std::optional<Window> moved_window(const Booked& booked) {
  if (booked.moved.empty()) return std::nullopt;
  Window window = booked.window;
  for (const auto& task : booked.moved)
    for (const auto& piece : task.pieces) window.from = std::min(window.from, piece.at_once);
  return window;
}

std::map<std::string, ZoneSeries> zones_of(const carbon::Signals& signals, const Window& window,
                                           const std::vector<ledger::Seal>& seals) {
  std::map<std::string, ZoneSeries> out;
  for (const auto& status : signals.zones()) {
    const auto zone = status.identity.zone.value_or("");
    // A slot that began before the window may reach into it.
    const auto points =
        signals.history(zone, {start_of(window.from) - std::chrono::hours{1}, start_of(window.to)}, true);
    if (!points) continue;
    out[zone] = {status.identity, values_at_seal(*points, window, seals, false),
                 values_at_seal(*points, window, seals, true)};
  }
  return out;
}

}  // namespace tidewatt::reports
