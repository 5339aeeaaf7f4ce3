#include "tidewatt/k8s/placement.h"

#include <algorithm>
#include <array>

namespace tidewatt::k8s {
namespace {

constexpr std::size_t kPercentLevels = 101;  ///< 0..100
constexpr double kMiddle = 0.5;              ///< what isn't known is neither good nor bad
constexpr double kMostGrams = 1e6;
/// Products of binary fractions miss a half by less than this; a half rounds up.
constexpr double kHalf = 1e-9;

/// The scores of one intensity by per cent of power left; the last is for unknown power.
using Row = std::array<int, kPercentLevels + 1>;

/// Of what isn't negative.
int nearest(double value) { return static_cast<int>(value + 0.5); }

double power_part(std::size_t level) {
  return level < kPercentLevels ? static_cast<double>(level) / 100.0 : kMiddle;
}

std::size_t level_of(const Candidate& candidate) {
  if (!candidate.power_left) return kPercentLevels;
  return static_cast<std::size_t>(nearest(std::clamp(*candidate.power_left, 0.0, 1.0) * 100));
}

std::optional<int> grams_of(const Candidate& candidate) {
  if (!candidate.intensity) return std::nullopt;
  return nearest(std::clamp(candidate.intensity->value(), 0.0, kMostGrams));
}

int points(double part) { return nearest(std::clamp(part, 0.0, 1.0) * kBestScore + kHalf); }

class Scale {
 public:
  Scale(const ScoreRules& rules, std::optional<Tolerance> tolerance, std::vector<int> grams)
      : rules_(rules), flexibility_(flexibility(tolerance, rules.mode)), grams_(std::move(grams)) {
    rows_.resize(grams_.size() + 1);
    for (std::size_t level = 0; level <= kPercentLevels; ++level) fill(level);
  }
  [[nodiscard]] int score(const Candidate& candidate) const {
    const auto grams = grams_of(candidate);
    const auto row = grams ? static_cast<std::size_t>(std::lower_bound(grams_.begin(), grams_.end(), *grams) -
                                                      grams_.begin())
                           : grams_.size();
    return rows_[row][level_of(candidate)];
  }

 private:
  [[nodiscard]] double carbon_weight() const {
    return rules_.mode == ScoreMode::fixed ? rules_.fixed_carbon : rules_.carbon_weight * flexibility_;
  }
  /// 1 = clean.
  [[nodiscard]] double carbon_part(int grams) const {
    if (rules_.mode == ScoreMode::fixed)
      return std::clamp(1 - (grams - rules_.clean.value()) / (rules_.dirty - rules_.clean).value(), 0.0, 1.0);
    const int cleanest = grams_.front();
    const int dirtiest = grams_.back();
    return cleanest == dirtiest ? 1.0 : static_cast<double>(dirtiest - grams) / (dirtiest - cleanest);
  }
  [[nodiscard]] double whole(double carbon, double power) const {
    if (rules_.mode == ScoreMode::fixed)
      return rules_.fixed_carbon * carbon + rules_.fixed_power * power +
             rules_.fixed_flexibility * flexibility_;
    return carbon_weight() * carbon + (1 - carbon_weight()) * power;
  }
  void fill(std::size_t level) {
    const double power = power_part(level);
    rows_.back()[level] = points(grams_.empty() ? power : whole(kMiddle, power));
    for (std::size_t i = 0; i < grams_.size(); ++i)
      rows_[i][level] = points(whole(carbon_part(grams_[i]), power));
    if (carbon_weight() > 0 && grams_.size() <= kBestScore + 1) part_ties(level);
  }
  /// Rounding may give two intensities one score: the dirtier gets the next lower, and where the lowest is
  /// reached the cleaner the next higher.
  void part_ties(std::size_t level) {
    for (std::size_t i = 1; i < grams_.size(); ++i)
      rows_[i][level] = std::min(rows_[i][level], rows_[i - 1][level] - 1);
    for (std::size_t i = grams_.size(); i-- > 0;)
      rows_[i][level] = std::max(rows_[i][level], i + 1 == grams_.size() ? 0 : rows_[i + 1][level] + 1);
  }

  const ScoreRules& rules_;
  double flexibility_;
  std::vector<int> grams_;  ///< those that are known, each once, rising
  std::vector<Row> rows_;   ///< by intensity; the last is for unknown ones
};

/// Each once. Candidates are many, intensities as few as zones.
std::vector<int> known_grams(std::span<const Candidate> candidates) {
  std::vector<int> known;
  for (const auto& candidate : candidates) {
    const auto grams = grams_of(candidate);
    if (!grams) continue;
    const auto place = std::lower_bound(known.begin(), known.end(), *grams);
    if (place == known.end() || *place != *grams) known.insert(place, *grams);
  }
  return known;
}

}  // namespace

double flexibility(std::optional<Tolerance> tolerance, ScoreMode mode) {
  if (!tolerance) return 0.5;
  switch (*tolerance) {
    case Tolerance::immediate:
      return mode == ScoreMode::fixed ? 0.5 : 0.0;
    case Tolerance::daily:
      return 0.8;
    case Tolerance::weekly:
      return 0.9;
    case Tolerance::monthly:
      break;
  }
  return 1.0;
}

std::vector<int> scores(std::span<const Candidate> candidates, const ScoreRules& rules,
                        std::optional<Tolerance> tolerance) {
  const Scale scale{rules, tolerance, known_grams(candidates)};
  std::vector<int> result;
  result.reserve(candidates.size());
  for (const auto& candidate : candidates) result.push_back(scale.score(candidate));
  return result;
}

}  // namespace tidewatt::k8s
