#include "tidewatt/tasks/progress.h"

#include <algorithm>

namespace tidewatt::tasks {
namespace {

using ledger::EpochReport;

Joules joules(Microjoules energy) { return Joules{static_cast<double>(energy.n) / 1e6}; }

Epoch first_epoch(const EpochReport& report) {
  Epoch epoch{report.epoch, std::nullopt, std::nullopt};
  if (report.epoch <= 1 && report.energy_total) epoch.energy = joules(*report.energy_total);
  return epoch;
}

Epoch next_epoch(const EpochReport& before, const EpochReport& report) {
  Epoch epoch{report.epoch, std::nullopt, std::nullopt};
  if (report.epoch != before.epoch + 1) return epoch;
  if (before.energy_total && report.energy_total && *report.energy_total >= *before.energy_total)
    epoch.energy = joules(*report.energy_total - *before.energy_total);
  if (report.at > before.at)
    epoch.seconds = Seconds{static_cast<double>((report.at - before.at).count()) / 1000.0};
  return epoch;
}

std::size_t with_energy(std::span<const Epoch> epochs) {
  return static_cast<std::size_t>(std::count_if(epochs.begin(), epochs.end(),
                                                [](const Epoch& epoch) { return epoch.energy.has_value(); }));
}

/// What the latest report that says so says.
std::optional<std::int64_t> epochs_total(std::span<const EpochReport> reports) {
  for (auto report = reports.rbegin(); report != reports.rend(); ++report)
    if (report->epochs_total) return report->epochs_total;
  return std::nullopt;
}

}  // namespace

std::vector<Epoch> epochs_of(std::span<const EpochReport> reports) {
  std::vector<Epoch> epochs;
  epochs.reserve(reports.size());
  for (std::size_t i = 0; i < reports.size(); ++i)
    epochs.push_back(i == 0 ? first_epoch(reports[i]) : next_epoch(reports[i - 1], reports[i]));
  return epochs;
}

Outlook outlook(std::span<const EpochReport> reports) {
  if (reports.empty()) return {std::nullopt, "no_progress_reported"};
  const auto total = epochs_total(reports);
  if (!total) return {std::nullopt, "epochs_total_unknown"};
  const auto left = *total - reports.back().epoch;
  if (left <= 0) return {std::nullopt, "all_epochs_done"};
  const auto latest = reports.last(std::min(reports.size(), kMostEpochs));
  auto epochs = epochs_of(latest);
  if (with_energy(epochs) < kFewestEpochs)
    return {std::nullopt, epochs.size() < kFewestEpochs ? "too_few_epochs" : "energy_not_reported"};
  auto predicted = predict_energy(epochs, left);
  if (!predicted) return {std::nullopt, "too_few_epochs"};
  return {*std::move(predicted), {}};
}

std::optional<Hindsight> first_prediction(std::span<const EpochReport> reports) {
  if (reports.size() <= kFewestEpochs) return std::nullopt;
  const auto epochs = epochs_of(reports);
  const std::span all(epochs);
  const auto later = all.subspan(kFewestEpochs);
  if (with_energy(all.first(kFewestEpochs)) < kFewestEpochs || with_energy(later) < later.size())
    return std::nullopt;
  auto predicted = predict_energy(all.first(kFewestEpochs), static_cast<std::int64_t>(later.size()));
  if (!predicted) return std::nullopt;
  Hindsight hindsight{*std::move(predicted), Joules{0}, 0, false};
  for (const auto& epoch : later) hindsight.actual += *epoch.energy;
  if (hindsight.actual.value() <= 0) return std::nullopt;
  const auto& p = hindsight.predicted;
  hindsight.error_percent = (p.energy / hindsight.actual - 1.0) * 100.0;
  hindsight.in_interval = p.low <= hindsight.actual && hindsight.actual <= p.high;
  return hindsight;
}

}  // namespace tidewatt::tasks
