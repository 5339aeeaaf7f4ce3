#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tidewatt/agent/attribution_thread.h"
#include "tidewatt/agent/collector.h"
#include "tidewatt/agent/identity.h"
#include "tidewatt/agent/node.h"
#include "tidewatt/agent/source_runner.h"
#include "tidewatt/agent/spool.h"
#include "tidewatt/base/clock.h"
#include "tidewatt/base/rng.h"
#include "tidewatt/metering/beat.h"

namespace tidewatt::agent {

/// Makes beats at their time and spools them.
class Beats {
 public:
  /// @param attribution  nullptr: holders are those that the sources tell
  Beats(NodeFacts facts, const Clock& clock, const FileSystem& files, Collector& collector,
        std::vector<std::unique_ptr<SourceRunner>>& sources, AttributionThread* attribution = nullptr);

  /// The beat of the interval that ends now, without a number.
  Beat make();
  /// The same, numbered, as JSON in the spool.
  void make_and_spool(Spool& spool, Identity& identity);

 private:
  NodeFacts facts_;
  const Clock& clock_;
  Collector& collector_;
  std::vector<std::unique_ptr<SourceRunner>>& sources_;
  AttributionThread* attribution_;
  CpuMeter cpu_;
  bool degraded_ = false;
};

/// Calls `beat` at its deadlines until `wait` says stop.
/// The first comes after a random part of the period, so that agents started together don't speak together;
/// a last one comes at the stop. Any two are a second (or half a period) apart.
/// @param wait  returns after the time given, or with true as soon as the process shall stop
void run_beats(const Clock& clock, Rng& rng, Milliseconds period,
               const std::function<bool(Milliseconds)>& wait, const std::function<void()>& beat);

}  // namespace tidewatt::agent
