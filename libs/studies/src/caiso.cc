#include "tidewatt/studies/caiso.h"

#include <algorithm>
#include <array>

#include "tidewatt/planning/do_no_harm.h"

namespace tidewatt::studies {
namespace {

using planning::HarmRecord;
using planning::Judged;
using planning::WaitKind;

constexpr std::size_t kDay = 24;
constexpr std::size_t kDays = 7;

/// Mean of each hour of the day over the week before, repeated.
std::vector<double> week_profile(std::span<const double> actual, std::size_t now, std::size_t length) {
  std::array<double, kDay> mean{};
  for (std::size_t hour = 0; hour < kDay; ++hour) {
    for (std::size_t day = 1; day <= kDays; ++day) mean[hour] += actual[now - day * kDay + hour];
    mean[hour] /= kDays;
  }
  std::vector<double> profile(length);
  for (std::size_t i = 0; i < length; ++i) profile[i] = mean[i % kDay];
  return profile;
}

/// The rule for jobs of one kind: each hour's decision is judged once its hours have passed.
class RuledWaits {
 public:
  explicit RuledWaits(const WaitKind& kind)
      : kind_(kind), record_(planning::kJudgedMost, planning::kJudgedLeast) {}

  /// What one slot's work saves at this hour. Hours are given in order, without a gap.
  /// @param paid  for later hours' judgement; this hour's decision doesn't look at it
  double saved(std::span<const double> seen, std::span<const double> paid, bool* waited) {
    const auto window = kind_.length + kind_.slack;
    // The decision made `window` hours ago has ended now.
    if (open_.size() >= window) record_.add(open_[open_.size() - window]);
    const auto decision = planning::judge(kind_, seen.first(window), paid.first(window));
    open_.push_back(decision);
    *waited = record_.allows(decision.expected);
    return *waited ? decision.realised : 0;
  }

 private:
  WaitKind kind_;
  HarmRecord record_;
  std::vector<Judged> open_;
};

}  // namespace

std::vector<ForecastStudy> forecast_study(std::span<const double> actual, std::span<const double> forecast,
                                          std::size_t first, std::size_t last,
                                          const std::vector<WaitCell>& cells) {
  std::vector<ForecastStudy> sums(cells.size());
  std::vector<RuledWaits> one_window;
  std::vector<RuledWaits> interrupting;
  std::size_t longest = 0;
  for (const auto& cell : cells) {
    one_window.emplace_back(WaitKind{cell.job, cell.slack, false});
    interrupting.emplace_back(WaitKind{cell.job, cell.slack, true});
    longest = std::max(longest, cell.job + cell.slack);
  }
  // The rule learns from all hours that came before.
  for (std::size_t start = kDay; start < last && start + longest <= actual.size(); ++start) {
    const planning::RecentError error{forecast.first(start), actual.first(start), kDay};
    const auto seen = error.corrected(forecast.subspan(start, longest));
    const auto paid = actual.subspan(start, longest);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto& [job, slack] = cells[i];
      const auto length = job + slack;
      auto& sum = sums[i];
      bool waits = false;
      bool breaks = false;
      const double by_window = one_window[i].saved(seen, paid, &waits);
      const double by_pieces = interrupting[i].saved(seen, paid, &breaks);
      if (start < first || start + length >= last) continue;
      const auto perfect = shift(paid.first(length), paid.first(length), job);
      sum.perfect += perfect;
      sum.forecast += shift(forecast.subspan(start, length), paid.first(length), job);
      sum.profile += shift(week_profile(actual, start, length), paid.first(length), job);
      const auto slots = static_cast<double>(job);
      sum.no_harm +=
          Shifted{perfect.at_once, perfect.at_once - slots * by_window, perfect.at_once - slots * by_pieces};
      ++sum.starts;
      sum.waits_one_window += waits ? 1U : 0U;
      sum.waits_interrupting += breaks ? 1U : 0U;
    }
  }
  return sums;
}

}  // namespace tidewatt::studies
