#include "market_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core.h"
#include "tidewatt/base/log.h"
#include "tidewatt/reports/gather.h"
#include "tidewatt/store/market_journal.h"

namespace tidewatt::api {
namespace {

using market::Micrograms;
using market::Period;

constexpr std::string_view kServer = "tidewatt";
constexpr std::int64_t kPartsOfABudget = 2'000;  ///< less change than one of them isn't written down
constexpr std::size_t kMostParts = 1'000;

std::string at_key(std::string_view what, UtcTime at) {
  return fmt::format("{}/{}/{}", kServer, what, at.time_since_epoch().count());
}

struct Due {
  std::string team;
  Period period;
  market::Budget budget;
  std::vector<market::Reservation> reservations;
};

/// Budgets of this month and the last, with the reservations that stand in them.
Result<std::vector<Due>> budgets_to_measure(Core& core, Period now) {
  return core.market->read([&](const market::Book& book) {
    std::vector<Due> due;
    for (const auto& [whose, budget] : book.budgets()) {
      if (whose.first != now && whose.first.n != now.n - 1) continue;
      due.push_back({whose.second, whose.first, budget, {}});
      for (const auto& [id, reservation] : book.reservations())
        if (reservation.team == whose.second && reservation.period == whose.first &&
            !reservation.task.empty() && due.back().reservations.size() < kMostParts)
          due.back().reservations.push_back(reservation);
    }
    return due;
  });
}

using CarbonBy = std::map<std::string, Micrograms>;

std::vector<market::Measure::Part> parts_of(const Due& due, const CarbonBy& by_task, const Registry& registry,
                                            UtcTime now) {
  std::map<std::string, const ledger::TaskInfo*> known;
  for (const auto& task : registry.tasks) known[task.cluster + "/" + task.task_id] = &task;
  std::vector<market::Measure::Part> parts;
  for (const auto& reservation : due.reservations) {
    const auto task = known.find(reservation.task);
    const auto carbon = by_task.find(reservation.task);
    const bool ended = task != known.end() && task->second->finished_at &&
                       *task->second->finished_at <= now && *task->second->finished_at >= reservation.made_at;
    const bool started = (task != known.end() && task->second->started_at) || carbon != by_task.end();
    const auto measured = carbon == by_task.end() ? Micrograms{} : carbon->second;
    const auto left = std::max<std::int64_t>(0, reservation.estimate.n - measured.n);
    const bool moved = std::abs(left - reservation.left.n) > reservation.estimate.n / 100;
    if (ended || (started && (!reservation.started || moved)))
      parts.push_back({reservation.id, measured, ended});
  }
  return parts;
}

Status measure_team(Core& core, const Due& due, const CarbonBy& by_team, const CarbonBy& by_task,
                    const Registry& registry, UtcTime now) {
  const auto found = by_team.find(due.team);
  const auto used = found == by_team.end() ? Micrograms{} : found->second;
  auto parts = parts_of(due, by_task, registry, now);
  const auto least = static_cast<std::int64_t>(due.budget.budget() / kPartsOfABudget);
  if (parts.empty() && std::abs(used.n - due.budget.used) <= std::max<std::int64_t>(0, least)) return {};
  const auto done =
      core.market->run({at_key(fmt::format("measure/{}/{}", to_string(due.period), due.team), now),
                        std::string{kServer}, market::Measure{due.team, due.period, used, std::move(parts)}},
                       now);
  // Another server may have ended the same reservation meanwhile.
  if (!done && done.error().code != ErrorCode::not_found) return tl::unexpected(done.error());
  return {};
}

Status measure_all(Core& core, UtcTime now) {
  TW_TRY(const auto all, budgets_to_measure(core, market::period_of(now)));
  if (all.empty() || !knows_carbon(core)) return {};
  TW_TRY(const auto registry, core.registry());
  std::map<Period, CarbonBy> by_team;
  std::map<Period, std::set<std::pair<std::string, std::string>>> tasks;
  for (const auto& due : all)
    for (const auto& reservation : due.reservations) {
      const auto slash = reservation.task.find('/');
      if (slash != std::string::npos)
        tasks[due.period].emplace(reservation.task.substr(0, slash), reservation.task.substr(slash + 1));
    }
  std::map<Period, CarbonBy> by_task;
  for (const auto& due : all) {
    if (!by_team.contains(due.period)) {
      TW_TRY(by_team[due.period], measured_carbon(core, due.period, nullptr));
      if (const auto wanted = tasks.find(due.period); wanted != tasks.end()) {
        TW_TRY(by_task[due.period], measured_carbon(core, due.period, &wanted->second));
      }
    }
    TW_TRY_STATUS(measure_team(core, due, by_team[due.period], by_task[due.period], *registry, now));
  }
  return {};
}

/// What has nothing to do says not_found, what another server did says conflict: both are fine.
Status run_due(Core& core, const std::string& key, const market::Command& command, UtcTime now) {
  const auto done = core.market->run({key, std::string{kServer}, command}, now);
  if (done || done.error().code == ErrorCode::not_found || done.error().code == ErrorCode::conflict)
    return {};
  return tl::unexpected(done.error());
}

Status close_months(Core& core, UtcTime now) {
  const auto current = market::period_of(now);
  TW_TRY(const auto open, core.market->read([&](const market::Book& book) {
    std::set<Period> periods;
    for (const auto& [whose, budget] : book.budgets())
      if (whose.first < current && !book.closed(whose.first)) periods.insert(whose.first);
    return periods;
  }));
  for (const auto period : open) {
    TW_TRY_STATUS(run_due(core, fmt::format("{}/close/{}", kServer, to_string(period)),
                          market::CloseMonth{period, core.options.market.carry_percent}, now));
    log::info("a month's budgets are closed", {{"month", to_string(period)}});
  }
  return {};
}

Status hold_call(Core& core, UtcTime now) {
  if (!core.options.market.daily_call) return {};
  const auto day = std::chrono::floor<std::chrono::days>(now);
  TW_TRY(const auto periods, core.market->read([&](const market::Book& book) {
    std::set<Period> found;
    for (const auto& [id, order] : book.orders()) found.insert(order.period);
    return found;
  }));
  for (const auto period : periods)
    TW_TRY_STATUS(run_due(
        core, fmt::format("{}/call/{}/{}", kServer, to_string(period), day.time_since_epoch().count()),
        market::Clear{period}, now));
  return {};
}

}  // namespace

MarketDesk::MarketDesk(ledger::Store& store) : journal_(store::market_journal(store)), market_(*journal_) {}
MarketDesk::~MarketDesk() = default;

Result<market::Outcome> MarketDesk::run(const market::Request& request, UtcTime at) {
  const std::scoped_lock lock{mutex_};
  return market_.run(request, at);
}

Result<market::Admission> MarketDesk::admit(const market::Request& request, UtcTime at, bool dry_run) {
  const std::scoped_lock lock{mutex_};
  return market_.admit(request, at, dry_run);
}

bool knows_carbon(const Core& core) { return core.options.factor.factor.configured || core.options.signals; }

std::optional<Micrograms> carbon_of_kwh(const Core& core, double kwh) {
  const auto& factor = core.options.factor.factor;
  return factor.configured ? market::micrograms_of_kg(kwh * factor.value.value()) : std::nullopt;
}

Result<CarbonBy> measured_carbon(Core& core, Period period,
                                 const std::set<std::pair<std::string, std::string>>* tasks) {
  TW_TRY(const auto nodes, core.store.nodes());
  TW_TRY(const auto seals, core.store.seals());
  reports::Question question;
  question.scope = tasks != nullptr ? reports::Scope::task : reports::Scope::team;
  question.window = {hour_of(period.begin()),
                     std::min(hour_of(period.end()), hour_of(core.clock.utc_now()) + std::chrono::hours{1})};
  question.tasks = tasks;
  reports::Policy policy = core.options.accounting;
  policy.factor = core.options.factor.factor;
  policy.contracted_kwh_per_month.reset();
  policy.supply_kwh = {};
  policy.battery.reset();
  if (core.options.signals) policy.zones = reports::zones_of(*core.options.signals, question.window, seals);
  std::shared_ptr<const Registry> registry;
  const reports::ReadTasks read = [&]() -> Result<std::span<const ledger::TaskInfo>> {
    TW_TRY(registry, core.registry());
    return std::span<const ledger::TaskInfo>{registry->tasks};
  };
  TW_TRY(const auto booked, reports::gather_asking(core.store, question, read, nodes, seals));
  TW_TRY(const auto report,
         reports::make_report(booked, policy,
                              carbon::carbon_view(policy.factor, carbon::Viewer::platform_operator)));
  CarbonBy carbon;
  for (const auto& line : report.lines) {
    const auto& kg = policy.factor.configured ? line.annual_kg : line.hourly.kg;
    const auto amount = kg.value ? market::micrograms_of_kg(*kg.value) : std::nullopt;
    if (!amount || line.id.empty()) continue;
    auto& sum = carbon[tasks != nullptr ? line.cluster + "/" + line.id : line.id];
    sum = sum + Micrograms{std::max<std::int64_t>(0, amount->n)};
  }
  return carbon;
}

Status tend_market(Core& core) {
  const auto now = core.clock.utc_now();
  TW_TRY_STATUS(measure_all(core, now));
  TW_TRY_STATUS(run_due(core, at_key("expire", now), market::Expire{}, now));
  TW_TRY_STATUS(close_months(core, now));
  return hold_call(core, now);
}

}  // namespace tidewatt::api
