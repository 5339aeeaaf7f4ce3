#include "tokens.h"

#include <map>
#include <set>
#include <string>
#include <utility>

namespace tidewatt::reports {
namespace {

using GroupName = std::pair<std::string, std::string>;  ///< cluster, id

std::set<GroupName> groups_of_others(const Question& question, std::span<const ledger::TaskInfo> tasks) {
  std::set<GroupName> out;
  if (question.tasks == nullptr) return out;
  for (const auto& task : tasks)
    if (!task.group_id.empty() && !question.tasks->contains({task.cluster, task.task_id}))
      out.insert({task.cluster, task.group_id});
  return out;
}

}  // namespace

void take_tokens(std::vector<Subject>& groups, const Question& question,
                 std::span<const ledger::TaskInfo> tasks) {
  std::map<GroupName, std::int64_t> sums;
  if (question.tokens != nullptr)
    for (const auto& hour : *question.tokens)
      if (question.window.holds(hour.hour))
        sums[{hour.cluster, hour.group_id}] += hour.tokens.prompt + hour.tokens.completion;
  const auto others = groups_of_others(question, tasks);
  for (auto& group : groups) {
    const GroupName name{group.cluster, group.id};
    const auto found = sums.find(name);
    if (others.contains(name))
      group.tokens_reason = "group_of_several_teams";
    else if (found == sums.end())
      group.tokens_reason = "no_usage_reported";
    else
      group.tokens = found->second;
  }
}

}  // namespace tidewatt::reports
