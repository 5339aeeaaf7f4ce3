#include "outlook.h"

#include <algorithm>

#include "tidewatt/planning/do_no_harm.h"

namespace tidewatt::studies {
namespace {

constexpr std::size_t kHoursADay = 24;
constexpr std::size_t kWeekDays = 7;
constexpr std::size_t kWeekHours = kHoursADay * kWeekDays;

}  // namespace

Outlook::Outlook(std::span<const double> hours, bool perfect, std::vector<SignalOutage> outages,
                 std::size_t ahead)
    : hours_(hours),
      perfect_(perfect),
      outages_(std::move(outages)),
      ahead_(ahead),
      foreseen_(hours.size(), 0) {
  for (std::size_t hour = kWeekHours; hour < hours.size(); ++hour) {
    double sum = 0;
    for (std::size_t day = 1; day <= kWeekDays; ++day) sum += hours[hour - day * kHoursADay];
    foreseen_[hour] = sum / static_cast<double>(kWeekDays);
  }
}

std::size_t Outlook::known_at(std::size_t hour) const {
  for (const auto& outage : outages_)
    if (hour >= outage.from && hour < outage.to) return outage.from;
  return hour;
}

std::optional<std::vector<double>> Outlook::from(std::size_t hour) const {
  const auto count = std::min(ahead_, hours_.size() - hour);
  if (perfect_)
    return std::vector<double>(hours_.begin() + static_cast<std::ptrdiff_t>(hour),
                               hours_.begin() + static_cast<std::ptrdiff_t>(hour + count));
  const auto known = known_at(hour);
  if (known < kWeekHours + kHoursADay) return std::nullopt;
  const auto since = hour - known;
  std::vector<double> profile(since + count);
  for (std::size_t k = 0; k < profile.size(); ++k) {
    const auto place = k % kHoursADay;
    double sum = 0;
    for (std::size_t day = 1; day <= kWeekDays; ++day) sum += hours_[known - day * kHoursADay + place];
    profile[k] = sum / static_cast<double>(kWeekDays);
  }
  const std::span foreseen{foreseen_};
  const auto learnt = known - kWeekHours;
  const planning::RecentError error{foreseen.subspan(kWeekHours, learnt), hours_.subspan(kWeekHours, learnt),
                                    kHoursADay};
  auto seen = error.corrected(profile);
  seen.erase(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(since));
  return seen;
}

}  // namespace tidewatt::studies
