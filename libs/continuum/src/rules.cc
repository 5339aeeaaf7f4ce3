#include "tidewatt/continuum/rules.h"

#include <fmt/format.h>

#include "tidewatt/units/text.h"

namespace tidewatt::continuum {
namespace {

std::string_view next_word(std::string_view& rest) {
  rest = trim(rest);
  const auto end = rest.find_first_of(" \t");
  const auto word = rest.substr(0, end);
  rest.remove_prefix(word.size());
  return word;
}

tl::unexpected<Error> wrong_condition(std::string_view text, std::string_view what) {
  return fail(ErrorCode::invalid_input, fmt::format("condition \"{}\": {}", text, what),
              "write for example: load.shop < 10 for 30m");
}

bool holds(const Condition& condition, const std::map<std::string, std::optional<double>>& signals) {
  const auto found = signals.find(condition.signal);
  if (found == signals.end() || !found->second) return false;
  return condition.above ? *found->second > condition.value : *found->second < condition.value;
}

}  // namespace

Result<Condition> parse_condition(std::string_view text) {
  auto rest = text;
  Condition condition;
  condition.signal = next_word(rest);
  if (condition.signal.empty()) return wrong_condition(text, "it is empty");
  const auto relation = next_word(rest);
  if (relation != "<" && relation != ">") return wrong_condition(text, "neither < nor > behind the signal");
  condition.above = relation == ">";
  const auto value = parse_double(next_word(rest));
  if (!value) return wrong_condition(text, "no number to compare with");
  condition.value = *value;
  if (trim(rest).empty()) return condition;
  if (next_word(rest) != "for") return wrong_condition(text, "only \"for\" and a duration may follow");
  const auto lasting = parse_duration(next_word(rest));
  if (!lasting || !trim(rest).empty()) return wrong_condition(text, "no duration behind \"for\"");
  condition.lasting = *lasting;
  return condition;
}

RuleBook::RuleBook(std::vector<Rule> rules) : rules_(std::move(rules)) {
  for (const auto& rule : rules_) since_.emplace_back(rule.when.size());
}

std::optional<std::vector<std::size_t>> RuleBook::step(
    const std::map<std::string, std::optional<double>>& signals, UtcTime now,
    std::span<const std::size_t> levels) {
  std::optional<std::vector<std::size_t>> wanted;
  for (std::size_t r = 0; r < rules_.size(); ++r) {
    bool applies = true;
    for (std::size_t c = 0; c < rules_[r].when.size(); ++c) {
      auto& since = since_[r][c];
      if (!holds(rules_[r].when[c], signals))
        since.reset();
      else if (!since)
        since = now;
      applies = applies && since && now - *since >= rules_[r].when[c].lasting;
    }
    if (!applies || wanted) continue;  // the others' clocks go on
    wanted.emplace(levels.begin(), levels.end());
    for (const auto& [knob, level] : rules_[r].set) (*wanted)[knob] = level;
  }
  return wanted;
}

}  // namespace tidewatt::continuum
