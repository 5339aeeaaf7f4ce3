#include "tidewatt/attribution/relabel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "tidewatt/units/printable.h"
#include "tidewatt/units/text.h"

namespace tidewatt::attribution {
namespace {

constexpr std::size_t kMaxRuleBytes = 512;
constexpr std::size_t kMaxStars = 9;
constexpr std::size_t kMaxNameBytes = 256;
constexpr std::string_view kArrow = "->";
constexpr std::string_view kDrop = "drop";
constexpr std::array<std::string_view, 9> kLabels{"pod_uid",   "container_id", "runtime",
                                                  "slurm_job", "slurm_sluid",  "slurm_step",
                                                  "machine",   "unit",         "user"};

tl::unexpected<Error> bad(const std::string& rule, std::string_view why) {
  return fail(ErrorCode::invalid_input,
              fmt::format("\"{}\": {}; write PATTERN -> NAME, such as \"unit/*.service -> service/$1\"",
                          rule.substr(0, 100), why));
}

// nullopt = the workload lacks a label that the name wants: an empty place would merge every such task.
std::optional<std::string> filled(std::string_view name, std::string_view whole,
                                  const std::vector<std::string_view>& stars, const Workload& workload) {
  std::string out;
  while (!name.empty()) {
    const auto close = name.starts_with("${") ? name.find('}') : std::string_view::npos;
    if (close != std::string_view::npos) {
      const auto* value = workload.label(name.substr(2, close - 2));
      if (value == nullptr) return std::nullopt;
      out += *value;
      name.remove_prefix(close + 1);
    } else if (name.size() > 1 && name[0] == '$' && name[1] >= '0' && name[1] <= '9') {
      const auto n = static_cast<std::size_t>(name[1] - '0');
      if (n == 0) out += whole;
      if (n >= 1 && n <= stars.size()) out += stars[n - 1];
      name.remove_prefix(2);
    } else {
      out += name[0];
      name.remove_prefix(1);
    }
  }
  return printable(out, kMaxNameBytes);
}

/// What of `name` can't be filled in, in words; empty = all can. It would merge every task that it names.
std::string unfillable(std::string_view name, std::size_t stars) {
  for (std::size_t at = name.find('$'); at != std::string_view::npos; at = name.find('$', at + 1)) {
    const auto rest = name.substr(at + 1);
    if (rest.starts_with('{')) {
      const auto close = rest.find('}');
      if (close == std::string_view::npos) return "has a ${ without its }";
      const auto label = rest.substr(1, close - 1);
      if (std::find(kLabels.begin(), kLabels.end(), label) == kLabels.end())
        return fmt::format("\"${{{}}}\" is no label; known: {}", label, fmt::join(kLabels, ", "));
    } else if (!rest.empty() && rest[0] >= '0' && rest[0] <= '9') {
      if (static_cast<std::size_t>(rest[0] - '0') > stars)
        return fmt::format("${} stands for a star that the pattern doesn't have", rest[0]);
    } else {
      return "has a $ that isn't $1 or ${label}";
    }
  }
  return {};
}

}  // namespace

std::optional<std::vector<std::string_view>> match_stars(std::string_view pattern, std::string_view text) {
  std::vector<std::string_view> stars;
  const auto first = pattern.find('*');
  if (first == std::string_view::npos) {
    if (pattern != text) return std::nullopt;
    return stars;
  }
  if (!text.starts_with(pattern.substr(0, first))) return std::nullopt;
  text.remove_prefix(first);
  pattern.remove_prefix(first + 1);
  for (;;) {
    const auto next = pattern.find('*');
    const auto literal = pattern.substr(0, next);
    if (next == std::string_view::npos) {
      if (!text.ends_with(literal)) return std::nullopt;
      stars.push_back(text.substr(0, text.size() - literal.size()));
      return stars;
    }
    const auto at = text.find(literal);
    if (at == std::string_view::npos) return std::nullopt;
    stars.push_back(text.substr(0, at));
    text.remove_prefix(at + literal.size());
    pattern.remove_prefix(next + 1);
  }
}

Result<Relabel> Relabel::parse(const std::vector<std::string>& rules) {
  Relabel out;
  if (rules.size() > kMaxRules)
    return fail(ErrorCode::invalid_input,
                fmt::format("{} rules; at most {} are read", rules.size(), kMaxRules));
  for (const auto& text : rules) {
    if (text.size() > kMaxRuleBytes) return bad(text, "is too long");
    const auto arrow = text.find(kArrow);
    if (arrow == std::string::npos) return bad(text, "has no ->");
    Rule rule;
    std::string_view left = trim(std::string_view(text).substr(0, arrow));
    rule.name = trim(std::string_view(text).substr(arrow + kArrow.size()));
    const auto equals = left.find('=');
    if (equals != std::string_view::npos) {
      rule.label = left.substr(0, equals);
      left.remove_prefix(equals + 1);
      if (std::find(kLabels.begin(), kLabels.end(), rule.label) == kLabels.end())
        return bad(text, fmt::format("\"{}\" is no label; known: {}", rule.label, fmt::join(kLabels, ", ")));
    }
    rule.pattern = left;
    if (rule.pattern.empty() || rule.name.empty()) return bad(text, "lacks a side");
    const auto stars = static_cast<std::size_t>(std::count(left.begin(), left.end(), '*'));
    if (stars > kMaxStars) return bad(text, "has more than nine stars");
    if (const auto wrong = unfillable(rule.name, stars); !wrong.empty()) return bad(text, wrong);
    out.rules_.push_back(std::move(rule));
  }
  return out;
}

std::optional<std::string> Relabel::name_of(const Workload& workload) const {
  for (const auto& rule : rules_) {
    const std::string* value = rule.label.empty() ? &workload.task_id : workload.label(rule.label);
    if (value == nullptr) continue;
    const auto stars = match_stars(rule.pattern, *value);
    if (!stars) continue;
    if (rule.name == kDrop) return std::nullopt;
    auto name = filled(rule.name, *value, *stars, workload);
    if (!name) continue;
    return name->empty() ? workload.task_id : std::move(*name);
  }
  return workload.task_id;
}

}  // namespace tidewatt::attribution
