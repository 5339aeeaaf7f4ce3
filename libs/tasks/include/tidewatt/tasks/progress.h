// What a running task's own reports say of what it will still need, and how good the first prediction was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tidewatt/ledger/reports.h"
#include "tidewatt/tasks/epoch.h"
#include "tidewatt/tasks/prediction.h"

namespace tidewatt::tasks {

/// With fewer nothing is predicted: warm-up can't be told from the steady level yet.
inline constexpr std::size_t kFewestEpochs = 5;
/// A prediction is made of the latest ones only.
inline constexpr std::size_t kMostEpochs = 1'000;

/// Epochs from reports, which say what was used since the task began. The energy of an epoch is the
/// difference to the report before, the time likewise: known where both are, follow each other without a gap,
/// and don't count back. The very first epoch (number 0 or 1) has all that was used until its end.
/// @param reports  by epoch, each number once
std::vector<Epoch> epochs_of(std::span<const ledger::EpochReport> reports);

/// What remains, or why it isn't known; never both.
struct Outlook {
  std::optional<Prediction> remaining;
  std::string_view reason;  ///< a word for programs; empty when there is a prediction
};
/// Reasons, in the order they are looked for: no_progress_reported, epochs_total_unknown, all_epochs_done,
/// energy_not_reported (fewer than kFewestEpochs of many epochs have one), too_few_epochs.
Outlook outlook(std::span<const ledger::EpochReport> reports);

/// The prediction from the first kFewestEpochs epochs beside what came of it.
struct Hindsight {
  Prediction predicted;  ///< for as many epochs as were done since
  Joules actual;
  double error_percent = 0;  ///< of the actual energy; above 0: too much was predicted
  bool in_interval = false;
};
/// @param reports  from the task's first one on
/// @return nullopt: no epoch was done since, or one of them is of unknown energy
std::optional<Hindsight> first_prediction(std::span<const ledger::EpochReport> reports);

}  // namespace tidewatt::tasks
