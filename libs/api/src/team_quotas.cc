// What teams used of their quotas this month, for those who admit new work.
#include "core.h"
#include "energy_view.h"
#include "tidewatt/base/log.h"
#include "tidewatt/ledger/seal.h"

namespace tidewatt::api {
namespace {

constexpr Milliseconds kOldestQuotas{60'000};

/// Measured energy of a month's tasks by team; simulated energy is nobody's.
Result<std::map<std::string, WattHours, std::less<>>> used_by_team(Core& core) {
  const auto now = hour_of(core.clock.utc_now());
  TW_TRY(const auto registry, core.registry());
  const ledger::AccountFilter filter{ledger::Scope::task, core.options.kubernetes.cluster, {}, {}};
  TW_TRY(const auto accounts,
         core.store.sums(filter, ledger::month_of(now).begin(), now + std::chrono::hours{1}));
  std::map<std::string, WattHours, std::less<>> used;
  for (const auto& [subject, totals] : totals_by_subject(accounts)) {
    const auto* task = registry->find(subject.first, subject.second);
    const auto energy = totals.energy();
    if (task == nullptr || !energy) continue;
    used[task->team] += energy->to_watt_hours() - totals.sum->simulated.to_watt_hours();
  }
  return used;
}

}  // namespace

std::shared_ptr<const k8s::TeamQuotas> Core::team_quotas() {
  const std::scoped_lock lock{team_quotas_mutex};
  if (cached_team_quotas && clock.mono_now() - team_quotas_at <= kOldestQuotas) return cached_team_quotas;
  k8s::TeamQuotas quotas;
  for (const auto& [team, most] : options.kubernetes.team_quotas) quotas[team] = {most, std::nullopt};
  if (!quotas.empty()) {
    if (const auto used = used_by_team(*this)) {
      for (auto& [team, quota] : quotas) {
        const auto found = used->find(team);
        quota.used = found == used->end() ? WattHours{0} : found->second;
      }
    } else {
      log::warning("nobody is held to a quota: the ledger can't be read",
                   {{"error", used.error().to_string()}});
    }
  }
  cached_team_quotas = std::make_shared<const k8s::TeamQuotas>(std::move(quotas));
  team_quotas_at = clock.mono_now();
  return cached_team_quotas;
}

}  // namespace tidewatt::api
