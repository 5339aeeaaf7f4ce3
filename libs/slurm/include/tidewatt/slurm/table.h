// The table that deploy/slurm/job_submit.lua reads.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/k8s/tolerance.h"
#include "tidewatt/runner/plan.h"
#include "tidewatt/units/time.h"

namespace tidewatt::slurm {

/// Where a job of one length should begin.
struct Begin {
  std::optional<UtcTime> at;        ///< nullopt: at once
  std::optional<double> g_per_kwh;  ///< mean over that run; nullopt where any of it is unknown
  std::optional<double> now_g_per_kwh;
};

/// The begin in [now, latest] with the least carbon, as far as the signal reaches. At once where nothing is
/// known or nothing is gained.
Begin best_begin(Milliseconds length, UtcTime latest, const std::vector<runner::SignalSlot>& signal,
                 UtcTime now);

inline constexpr k8s::Tolerance kWaiting[] = {k8s::Tolerance::daily, k8s::Tolerance::weekly,
                                              k8s::Tolerance::monthly};

struct Row {
  Milliseconds length{0};  ///< for jobs up to so long
  Begin begins[3];         ///< in the order of kWaiting
};

struct Table {
  UtcTime made;
  UtcTime expires;
  std::vector<std::pair<std::string, k8s::Tolerance>> qos;  ///< jobs of these wait without saying so
  std::vector<Row> rows;                                    ///< by length
};

/// Rows for the usual lengths, 15 minutes to 4 days.
Table make_table(const std::vector<runner::SignalSlot>& signal, UtcTime now, Milliseconds valid);

/// "low=daily" as a QOS's tolerance. @return nullopt: another form, or a name that Slurm can't have
std::optional<std::pair<std::string, k8s::Tolerance>> qos_from(std::string_view text);

/// From a trial's time to seconds since 1970 and to lengths that Slurm sees; the identity outside of trials.
struct RealTime {
  UtcTime real_origin;   ///< when the trial's clock showed
  UtcTime shown_origin;  ///< this
  double speed = 1;
  [[nodiscard]] UtcTime shown(UtcTime real) const;
  [[nodiscard]] UtcTime real(UtcTime shown) const;
  [[nodiscard]] Milliseconds real(Milliseconds shown) const;
};

/// As the hook reads it: at most 16 kB, whole seconds since 1970.
std::string to_text(const Table& table, const RealTime& time);

}  // namespace tidewatt::slurm
