#include "tidewatt/devol/objective.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "tidewatt/units/text.h"

namespace tidewatt::devol {
namespace {

constexpr double kHighestWeight = 1000;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Walks over the line and knows the column for messages.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  [[nodiscard]] bool done() const { return at_ == text_.size(); }
  [[nodiscard]] std::size_t column() const { return at_ + 1; }
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  /// Letters, digits, '_' and '.'; empty when none begins here.
  std::string_view word() {
    const auto begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.')) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  std::string_view number() {
    const auto begin = at_;
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    while (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) ++at_;
    if (const auto rest = text_.substr(at_); rest.size() > 1 && rest.front() == 'e') {
      const std::size_t sign = rest[1] == '-' || rest[1] == '+' ? 1 : 0;
      if (rest.size() > 1 + sign && is_digit(rest[1 + sign])) {
        at_ += 1 + sign;
        while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
      }
    }
    return text_.substr(begin, at_ - begin);
  }
  /// What stands here, for messages.
  [[nodiscard]] std::string here() const {
    if (done()) return "the end";
    const auto rest = text_.substr(at_, 20);
    return fmt::format("\"{}\"", rest.substr(0, rest.find(' ')));
  }
  void back_to(std::size_t column) { at_ = column - 1; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

tl::unexpected<Error> wrong(std::size_t column, const std::string& what, std::string hint) {
  return fail(ErrorCode::invalid_input, fmt::format("column {}: {}", column, what), std::move(hint));
}

/// "p99.9" is a percentile of 99.9; nullopt for what is no statistic.
bool set_statistic(std::string_view word, Objective& objective) {
  if (word == "mean")
    objective.statistic = Statistic::mean;
  else if (word == "min")
    objective.statistic = Statistic::least;
  else if (word == "max")
    objective.statistic = Statistic::greatest;
  else if (word == "rate")
    objective.statistic = Statistic::rate;
  else if (word.size() > 1 && word.front() == 'p' && is_digit(word[1])) {
    const auto percentile = parse_double(word.substr(1));
    if (!percentile || *percentile < 1 || *percentile > 100) return false;
    objective.statistic = Statistic::percentile;
    objective.percentile = *percentile;
  } else
    return false;
  return true;
}

Status read_subject(Reader& in, Objective& objective) {
  const auto column = in.column();
  const auto statistic = in.word();
  in.skip_blanks();
  if (!in.take("(")) {
    if (statistic.empty())
      return wrong(column, in.here() + " where a statistic begins",
                   "write for example p99(latency_ms) <= 150 over 5m");
    return wrong(column, fmt::format("\"{}\" has no statistic", statistic),
                 fmt::format("write p99({0}), mean({0}), min({0}), max({0}) or rate({0})", statistic));
  }
  if (!set_statistic(statistic, objective))
    return wrong(column, fmt::format("\"{}\" is no statistic", statistic),
                 "there are mean, min, max, rate, and percentiles from p1 to p100, such as p99 or p99.9");
  in.skip_blanks();
  const auto metric_column = in.column();
  objective.metric = in.word();
  if (objective.metric.empty() || !is_letter(objective.metric.front()))
    return wrong(metric_column, "no metric's name between the brackets",
                 "write a name of the service's spec: letters, digits, _ and ., not beginning with a digit");
  in.skip_blanks();
  if (!in.take(")"))
    return wrong(in.column(), in.here() + " where the bracket should close",
                 "write ) behind the metric's name");
  return {};
}

Status read_relation(Reader& in, Objective& objective) {
  in.skip_blanks();
  if (in.take("<="))
    objective.relation = Relation::at_most;
  else if (in.take(">="))
    objective.relation = Relation::at_least;
  else if (in.take("<"))
    objective.relation = Relation::below;
  else if (in.take(">"))
    objective.relation = Relation::above;
  else
    return wrong(in.column(), in.here() + " where a comparison should stand", "write <=, <, >= or >");
  return {};
}

Status read_threshold(Reader& in, Objective& objective) {
  in.skip_blanks();
  const auto column = in.column();
  const auto value = parse_double(in.number());
  if (!value) return wrong(column, "no number to compare with", "write a number such as 150 or 0.1%");
  objective.threshold = *value;
  const auto unit_column = in.column();
  if (in.take("%"))
    objective.unit = ThresholdUnit::percent;
  else if (in.take("/s"))
    objective.unit = ThresholdUnit::per_second;
  else if (const auto unit = in.word(); unit.starts_with("over"))
    in.back_to(unit_column);
  else if (!unit.empty())
    return wrong(unit_column, fmt::format("\"{}\" behind the number", unit),
                 "a unit stands in the metric's name (latency_ms); behind the number only % or /s");
  if (objective.statistic == Statistic::rate && objective.unit == ThresholdUnit::plain)
    return wrong(unit_column, "a rate without a unit",
                 "write % for the share of samples that are not 0, or /s for their sum per second");
  if (objective.unit == ThresholdUnit::percent && objective.statistic == Statistic::rate &&
      (objective.threshold < 0 || objective.threshold > 100))
    return wrong(column, fmt::format("a share of {}%", format_double(objective.threshold)),
                 "write 0 to 100 %");
  return {};
}

Status read_window(Reader& in, Objective& objective) {
  in.skip_blanks();
  const auto column = in.column();
  if (in.done() || !in.take("over"))
    return wrong(column, "no window behind the number but " + in.here(), "write for example: over 5m");
  in.skip_blanks();
  const auto window_column = in.column();
  const auto window = parse_duration(in.word());
  constexpr Milliseconds kLongest{31LL * 24 * 3600 * 1000};
  if (!window || *window < Milliseconds{1000} || *window > kLongest)
    return wrong(window_column, "no window of 1s to 31d",
                 "write a whole number and s, m, h or d, such as 5m");
  objective.window = *window;
  return {};
}

Status read_weight(Reader& in, Objective& objective) {
  in.skip_blanks();
  const auto column = in.column();
  const auto weight = parse_double(in.number());
  if (!weight || !(*weight > 0) || *weight > kHighestWeight)
    return wrong(column, "no weight above 0 and up to 1000", "write for example: weight 3");
  objective.weight = *weight;
  return {};
}

Status read_tier(Reader& in, Objective& objective) {
  in.skip_blanks();
  const auto column = in.column();
  const auto tier = in.word();
  for (const auto known : {Tier::gold, Tier::silver, Tier::bronze})
    if (tier == to_string(known)) {
      objective.tier = known;
      return {};
    }
  return wrong(column, fmt::format("\"{}\" is no tier", tier), "there are gold, silver and bronze");
}

/// "weight 3" and "tier gold", each at most once, in any order.
Status read_options(Reader& in, Objective& objective) {
  bool weight = false;
  bool tier = false;
  for (in.skip_blanks(); !in.done(); in.skip_blanks()) {
    const auto column = in.column();
    const auto word = in.word();
    bool& seen = word == "tier" ? tier : weight;
    if (word != "weight" && word != "tier") {
      in.back_to(column);
      return wrong(column, in.here() + " behind the window",
                   "only weight N and tier gold|silver|bronze may follow");
    }
    if (seen) return wrong(column, fmt::format("a second {}", word), "write it once");
    seen = true;
    TW_TRY_STATUS(word == "tier" ? read_tier(in, objective) : read_weight(in, objective));
  }
  return {};
}

std::string statistic_text(const Objective& objective) {
  switch (objective.statistic) {
    case Statistic::mean:
      return "mean";
    case Statistic::least:
      return "min";
    case Statistic::greatest:
      return "max";
    case Statistic::rate:
      return "rate";
    case Statistic::percentile:
      return "p" + format_double(objective.percentile);
  }
  return "mean";
}

std::string window_text(Milliseconds window) {
  for (const auto& [length, unit] :
       {std::pair{86'400'000LL, "d"}, {3'600'000LL, "h"}, {60'000LL, "m"}, {1000LL, "s"}})
    if (window.count() % length == 0) return fmt::format("{}{}", window.count() / length, unit);
  return fmt::format("{}ms", window.count());
}

}  // namespace

std::string_view to_string(Tier tier) {
  switch (tier) {
    case Tier::gold:
      return "gold";
    case Tier::silver:
      return "silver";
    case Tier::bronze:
      return "bronze";
  }
  return "silver";
}

Result<Objective> parse_objective(std::string_view text) {
  if (text.size() > kLongestObjective)
    return wrong(kLongestObjective + 1, fmt::format("an objective of {} bytes", text.size()),
                 fmt::format("at most {}: one objective a line", kLongestObjective));
  Objective objective;
  Reader in{text};
  in.skip_blanks();
  TW_TRY_STATUS(read_subject(in, objective));
  TW_TRY_STATUS(read_relation(in, objective));
  TW_TRY_STATUS(read_threshold(in, objective));
  TW_TRY_STATUS(read_window(in, objective));
  TW_TRY_STATUS(read_options(in, objective));
  return objective;
}

std::string to_text(const Objective& objective) {
  static constexpr std::string_view kRelations[] = {"<=", "<", ">=", ">"};
  static constexpr std::string_view kUnits[] = {"", "%", "/s"};
  auto text = fmt::format("{}({}) {} {}{} over {}", statistic_text(objective), objective.metric,
                          kRelations[static_cast<std::size_t>(objective.relation)],
                          format_double(objective.threshold),
                          kUnits[static_cast<std::size_t>(objective.unit)], window_text(objective.window));
  if (objective.weight != 1) text += " weight " + format_double(objective.weight);
  if (objective.tier != Tier::silver) text += fmt::format(" tier {}", to_string(objective.tier));
  return text;
}

}  // namespace tidewatt::devol
