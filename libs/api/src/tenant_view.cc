#include "tenant_view.h"

#include "open_gaps.h"

namespace tidewatt::api {

Result<TenantView> tenant_view(Core& core, const Call& call, const TimeRange* range) {
  TenantView view;
  TW_TRY(const auto registry, core.registry());
  ledger::AccountFilter filter;
  filter.scope = ledger::Scope::task_device;
  for (const auto& task : registry->tasks) {
    if (call.principal.team.empty() || task.team != call.principal.team) continue;
    view.tasks.emplace(task.cluster, task.task_id);
    filter.ids.push_back(task.task_id);
  }
  // No ids would mean no filter: everybody's accounts.
  if (filter.ids.empty()) return view;
  const auto own = [&view](const ledger::AccountKey& key) {
    return view.tasks.contains({key.cluster, key.id});
  };
  TW_TRY(const auto accounts, core.store.accounts(filter));
  for (const auto& account : accounts)
    if (own(account.key)) view.nodes.emplace(account.key.cluster, split_part(account.key.part).first);
  if (range == nullptr) return view;
  TW_TRY(const auto sums, read_sums(core, filter, *range));
  std::map<SubjectKey, std::vector<ledger::Account>> grouped;
  for (const auto& account : sums.accounts)
    if (own(account.key))
      grouped[{account.key.cluster, split_part(account.key.part).first}].push_back(account);
  for (const auto& [key, group] : grouped) view.by_node.emplace(key, totals_of(group));
  return view;
}

}  // namespace tidewatt::api
