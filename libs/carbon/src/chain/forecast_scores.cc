#include "tidewatt/carbon/forecast_scores.h"

#include <algorithm>
#include <cmath>

namespace tidewatt::carbon {
namespace {

constexpr Milliseconds kDay = std::chrono::hours{24};
constexpr Milliseconds kApart = std::chrono::hours{6};
/// The newest slot's weight once there are many.
constexpr double kGain = 0.005;

}  // namespace

void ForecastScores::said(std::string_view forecaster, UtcTime issued_at, std::vector<SaidPoint> points) {
  auto& issues = forecasters_[std::string{forecaster}].issues;
  if (points.empty() || (!issues.empty() && issued_at - issues.back().at < kApart)) return;
  std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  issues.push_back({issued_at, std::move(points)});
  if (issues.size() > kMostIssues) issues.pop_front();
}

void ForecastScores::came(UtcTime start, double grams) {
  // Slots come in order; a restated one was scored already.
  if (scored_to_ && start <= *scored_to_) return;
  scored_to_ = start;
  if (!(grams > 0)) return;
  for (auto& [name, forecaster] : forecasters_) {
    for (const auto& issue : forecaster.issues) {
      if (start < issue.at || start - issue.at >= kDays * kDay) continue;
      const auto after =
          std::upper_bound(issue.points.begin(), issue.points.end(), start,
                           [](UtcTime at, const SaidPoint& point) { return at < point.start; });
      if (after == issue.points.begin() || std::prev(after)->end <= start) continue;
      auto& record = forecaster.records.at(static_cast<std::size_t>((start - issue.at) / kDay));
      ++record.slots;
      const double error = std::abs(std::prev(after)->grams - grams) / grams;
      record.error += (error - record.error) * std::max(kGain, 1.0 / record.slots);
    }
  }
}

std::optional<ForecastScores::Record> ForecastScores::record(std::string_view forecaster, int day) const {
  const auto found = forecasters_.find(forecaster);
  if (found == forecasters_.end() || day < 1 || day > kDays) return std::nullopt;
  const auto& record = found->second.records.at(static_cast<std::size_t>(day - 1));
  if (record.slots < kFewestScored) return std::nullopt;
  return record;
}

std::string ForecastScores::better(std::string_view a, std::string_view b, int day,
                                   std::string_view otherwise) const {
  const auto of_a = record(a, day);
  const auto of_b = record(b, day);
  if (!of_a || !of_b) return std::string{otherwise};
  return std::string{of_b->error < of_a->error ? b : a};
}

}  // namespace tidewatt::carbon
