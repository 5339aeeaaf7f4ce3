// What is known of a signal at an hour, when nobody forecasts it but its own last week.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tidewatt/studies/simulator.h"

namespace tidewatt::studies {

class Outlook {
 public:
  Outlook(std::span<const double> hours, bool perfect, std::vector<SignalOutage> outages, std::size_t ahead);
  /// The intensities from `hour` on, `ahead` of them (fewer at the series' end); nullopt: nothing is known
  /// yet.
  [[nodiscard]] std::optional<std::vector<double>> from(std::size_t hour) const;
  /// The hour whose knowledge holds at `hour`: itself, or the begin of the outage it lies in.
  [[nodiscard]] std::size_t known_at(std::size_t hour) const;

 private:
  std::span<const double> hours_;
  bool perfect_;
  std::vector<SignalOutage> outages_;
  std::size_t ahead_;
  std::vector<double> foreseen_;  ///< of each hour by the week before it
};

}  // namespace tidewatt::studies
