// Do no harm: whether waiting by a forecast is worth it, judged by what that forecaster's errors have cost of
// late. Nothing here looks ahead: only what was known when a decision is made goes into it.
// Source: docs/method/planning.md#do-no-harm
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

namespace tidewatt::planning {

/// What a forecaster said of the slots up to now, and what came. gCO2e/kWh, oldest first, the last ends now.
struct ForecastPast {
  std::vector<double> foreseen, actual;  ///< of one length
};

/// The column of a CSV, beside what came, that says what was foreseen.
inline constexpr std::string_view kForeseenColumn = "forecast_gco2_per_kwh";

/// A forecaster's recent error: the mean of each time of day over the last four weeks, and of the last slot's
/// error what is left of it after as many slots (its correlation from slot to slot over those weeks).
class RecentError {
 public:
  /// @param foreseen, actual  the slots up to now, oldest first; less than a day of them says nothing
  /// @param slots_per_day     at least 1
  RecentError(std::span<const double> foreseen, std::span<const double> actual, std::size_t slots_per_day);
  /// The slots from now on with that error taken out. Never below 0.
  [[nodiscard]] std::vector<double> corrected(std::span<const double> forecast) const;

 private:
  std::vector<double> bias_;  ///< from now on, a day; empty: nothing is known
  double persistence_ = 0, last_ = 0;
};

/// What a wait in the past was expected to save and what it saved, both as a share of anything, but of the
/// same thing throughout (gCO2e/kWh here). Negative: it cost.
struct Judged {
  double expected = 0, realised = 0;
};

/// The decisions of one kind (length, slack, pieces or not) whose slots have passed.
class HarmRecord {
 public:
  /// @param most   decisions kept; the oldest goes first
  /// @param least  decisions below which nothing is allowed
  HarmRecord(std::size_t most, std::size_t least) : most_(most), least_(least) {}

  void add(Judged decision);
  /// Whether a wait that is expected to save this much has, after what the error took, saved: the line
  /// through the kept decisions (drawn a little towards "a fixed share is realised") lies above 0 there.
  [[nodiscard]] bool allows(double expected) const;
  /// What waits that were expected to save this much have saved; 0 where the record is too short to say.
  [[nodiscard]] double realised_at(double expected) const;
  [[nodiscard]] std::size_t size() const { return kept_.size(); }

 private:
  void count(const Judged& decision, double sign);

  std::size_t most_, least_;
  std::deque<Judged> kept_;
  double waits_ = 0, expected_ = 0, realised_ = 0, squares_ = 0, products_ = 0;
};

/// A choice of slots within [now, now + length + slack).
struct WaitKind {
  std::size_t length = 1, slack = 0;
  bool pieces = false;  ///< the least slots; else as many in a row
  friend bool operator<(const WaitKind& a, const WaitKind& b) {
    return std::tie(a.length, a.slack, a.pieces) < std::tie(b.length, b.slack, b.pieces);
  }
};

/// Chooses by `seen`, pays by `paid`, both of the window's length. Per slot of work.
/// Of equal choices the earliest; of windows those that differ by rounding are equal.
Judged judge(const WaitKind& kind, std::span<const double> seen, std::span<const double> paid);

/// The past decided again: one wait an hour, each by what was known then.
class Replay {
 public:
  Replay(ForecastPast past, std::size_t slots_per_day);
  /// Of the waits of a kind whose slots have passed.
  [[nodiscard]] HarmRecord record(const WaitKind& kind) const;

 private:
  ForecastPast past_;
  std::size_t step_, first_;
  std::vector<RecentError> errors_;  ///< at first_, first_ + step_, …
};

/// Decisions a record keeps: eight weeks of hours; and needs: one week.
inline constexpr std::size_t kJudgedMost = 56 * 24;
inline constexpr std::size_t kJudgedLeast = 7 * 24;
/// Days from which errors are learnt.
inline constexpr std::size_t kErrorDays = 28;
/// Days of past that are of use: those of a record and of a month's window, and those before from which
/// errors are learnt.
inline constexpr std::size_t kPastDays = 56 + 31 + kErrorDays;

}  // namespace tidewatt::planning
