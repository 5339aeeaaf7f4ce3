// What a job is told at its end.
#pragma once

#include <optional>
#include <string>

#include "tidewatt/units/quantity.h"

namespace tidewatt::tasks {

struct JobReceipt {
  std::optional<Joules> energy;     ///< nullopt: not known
  std::optional<GramsCo2> carbon;   ///< nullopt: not known, or not to be shown
  std::optional<GramsCo2> run_now;  ///< what it would have been, begun when it was submitted
  double coverage = 1;              ///< share of its time that was measured, 0 to 1
  bool estimated = false;           ///< a part of the energy is an estimated share
};

/// "2.4 kWh, 0.9 kg, 14 % under run-now"; what isn't known says so: "energy unknown".
std::string receipt_text(const JobReceipt& receipt);

}  // namespace tidewatt::tasks
