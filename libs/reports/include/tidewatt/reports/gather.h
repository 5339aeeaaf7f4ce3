// Reads what a report needs from a ledger, whatever keeps it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tidewatt/carbon/signals.h"
#include "tidewatt/ledger/image.h"
#include "tidewatt/ledger/reports.h"
#include "tidewatt/ledger/store.h"
#include "tidewatt/reports/report.h"

namespace tidewatt::reports {

/// Lines x hours beyond this are refused: ask for teams, or for a shorter window.
inline constexpr std::size_t kMostCells = 10'000'000;

struct Question {
  Scope scope = Scope::cluster;
  std::string id;       ///< empty = all of the scope, a line each
  std::string cluster;  ///< empty = all
  Window window;
  bool with_simulated = false;
  bool with_whole = false;  ///< the energy of all nodes, too: contracts are divided by it
  /// nullptr = everybody's; else the tasks that may be seen, (cluster, id). Not with node or cluster.
  const std::set<std::pair<std::string, std::string>>* tasks = nullptr;
  std::string team;  ///< where `tasks` are all those of one team: which
  /// Tokens by group and hour, of the window at least; they are told by task group alone.
  const std::vector<ledger::TokenHour>* tokens = nullptr;
  /// The tasks with at_once_at, at least; nullptr = nothing was recorded of any.
  const std::vector<ledger::TaskInfo>* moved = nullptr;
};

/// The registry's tasks; what it gives lives until gather() is over.
using ReadTasks = std::function<Result<std::span<const ledger::TaskInfo>>()>;

/// @param tasks  the registry: teams and groups of tasks. Not asked where sums by team tell as much
/// @param nodes  zones of nodes
/// @error invalid_input  too many lines for the window
Result<Booked> gather_asking(ledger::ImageSource& source, const Question& question, const ReadTasks& tasks,
                             const std::vector<ledger::SharedNode>& nodes, std::vector<ledger::Seal> seals);
/// The same with tasks that are at hand.
Result<Booked> gather(ledger::ImageSource& source, const Question& question,
                      const std::vector<ledger::TaskInfo>& tasks,
                      const std::vector<ledger::SharedNode>& nodes, std::vector<ledger::Seal> seals);

/// The values of a zone as they stood when the window was closed: of a restated slot the last value that was
/// told before its month was sealed (the first one that ever was, where all came later).
carbon::HourlySeries values_at_seal(const std::vector<carbon::StoredPoint>& revisions, const Window& window,
                                    const std::vector<ledger::Seal>& seals, bool cfe_share);
/// The window and the hours before it in which its moved tasks would have run; nullopt = there are none.
std::optional<Window> moved_window(const Booked& booked);
/// All zones' series of a window.
std::map<std::string, ZoneSeries> zones_of(const carbon::Signals& signals, const Window& window,
                                           const std::vector<ledger::Seal>& seals);

}  // namespace tidewatt::reports
