#include "token_view.h"

#include <algorithm>

#include "task_view.h"
#include "tidewatt/tasks/tokens.h"

namespace tidewatt::api {
namespace {

std::optional<tasks::TokenCounts> counts_of(const std::optional<ledger::Tokens>& tokens) {
  if (!tokens) return std::nullopt;
  return tasks::TokenCounts{static_cast<std::uint64_t>(std::max<std::int64_t>(tokens->prompt, 0)),
                            static_cast<std::uint64_t>(std::max<std::int64_t>(tokens->completion, 0))};
}

std::optional<Joules> joules_of(const std::optional<WideMicrojoules>& energy) {
  return energy ? std::optional{Joules{kwh(*energy) * 3.6e6}} : std::nullopt;
}

Json reason_or_null(std::string_view word) { return word.empty() ? Json(nullptr) : Json(word); }

}  // namespace

Result<TokenView> TokenView::load(Core& core, const Call& call, const TimeRange& range) {
  TokenView view;
  view.from_ = range.from;
  view.to_ = std::max(range.from, std::min(range.to, hour_of(core.clock.utc_now())));
  TW_TRY(const auto registry, core.registry());
  for (const auto& task : registry->tasks) {
    if (task.group_id.empty()) continue;
    Use& use = view.groups_[{task.cluster, task.group_id}];
    if (may_see(call, task))
      use.tasks.push_back(task.task_id);
    else
      use.others = true;
  }
  TW_TRY(const auto hours, core.store.token_hours(range.from, range.to));
  for (const auto& row : hours) {
    Use& use = view.groups_[{row.cluster, row.group_id}];
    if (row.hour >= view.to_) {
      use.in_running_hour = true;
      continue;
    }
    auto& tokens = use.tokens.emplace(use.tokens.value_or(ledger::Tokens{}));
    tokens.prompt += row.tokens.prompt;
    tokens.completion += row.tokens.completion;
  }
  return view;
}

Result<Json> TokenView::group_json(Core& core, const std::string& cluster, const std::string& group) const {
  const auto found = groups_.find({cluster, group});
  const Use use = group.empty() || found == groups_.end() ? Use{} : found->second;
  // Of a group that isn't all the caller's neither tokens nor energy are told: one would tell the other.
  const bool shown = !use.others;
  std::optional<WideMicrojoules> energy;
  std::optional<double> covered;
  if (shown && use.tokens && !use.tasks.empty()) {
    TW_TRY(const auto accounts, core.store.sums({ledger::Scope::task, cluster, use.tasks, {}}, from_, to_));
    Totals sum;
    for (const auto& [key, totals] : totals_by_subject(accounts)) add(sum, totals);
    energy = sum.energy();
    covered = sum.coverage();
  }
  auto got = tasks::token_efficiency(!group.empty(), shown ? counts_of(use.tokens) : std::nullopt,
                                     joules_of(energy));
  if (!shown)
    got.tokens_per_joule.reason = got.joules_per_output_token.reason = "group_of_several_teams";
  else if (!use.tokens && use.in_running_hour)
    got.tokens_per_joule.reason = got.joules_per_output_token.reason = "hour_not_over";
  Json out{{"tokens_per_joule", number(got.tokens_per_joule.value)},
           {"reason", reason_or_null(got.tokens_per_joule.reason)},
           {"joules_per_output_token", number(got.joules_per_output_token.value)},
           {"output_reason", reason_or_null(got.joules_per_output_token.reason)},
           {"scope", "task_group"},
           {"group_id", group}};
  out["tokens"] = shown && use.tokens
                      ? Json{{"prompt", use.tokens->prompt}, {"completion", use.tokens->completion}}
                      : Json(nullptr);
  out["energy_uj"] = energy ? Json(energy->to_string()) : Json(nullptr);
  out["coverage"] = number(covered);
  out["from"] = format_rfc3339_short(start_of(from_));
  out["to"] = format_rfc3339_short(start_of(to_));
  return out;
}

}  // namespace tidewatt::api
