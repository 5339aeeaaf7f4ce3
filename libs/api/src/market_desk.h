// The carbon market of this server: one book on the store's journal, one caller at a time.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "tidewatt/ledger/store.h"
#include "tidewatt/market/market.h"

namespace tidewatt::api {

struct Core;

class MarketDesk {
 public:
  explicit MarketDesk(ledger::Store& store);
  ~MarketDesk();
  MarketDesk(const MarketDesk&) = delete;
  MarketDesk& operator=(const MarketDesk&) = delete;

  Result<market::Outcome> run(const market::Request& request, UtcTime at);
  Result<market::Admission> admit(const market::Request& request, UtcTime at, bool dry_run);
  /// Calls `look` with the book as it stands, also after what other servers wrote.
  template <class Look>
  auto read(const Look& look) -> Result<decltype(look(std::declval<const market::Book&>()))> {
    const std::scoped_lock lock{mutex_};
    TW_TRY_STATUS(market_.catch_up());
    return look(market_.book());
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<market::Journal> journal_;
  market::Market market_;
};

/// Whether carbon can be told at all: by a stated factor or by hourly signals.
bool knows_carbon(const Core& core);
/// Measured carbon by team, or by "cluster/task" of `tasks`; simulated energy is in none of it.
Result<std::map<std::string, market::Micrograms>> measured_carbon(
    Core& core, market::Period period, const std::set<std::pair<std::string, std::string>>* tasks);
/// An energy at the stated factor. nullopt = there is none.
std::optional<market::Micrograms> carbon_of_kwh(const Core& core, double kwh);
/// What is due: use of teams with a budget, reservations that ran out, months that ended, the daily call.
Status tend_market(Core& core);

}  // namespace tidewatt::api
