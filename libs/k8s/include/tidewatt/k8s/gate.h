// Work that is held until its window: pods behind our gate and suspended Jobs. All that a decision needs
// stands on the object itself, so that whoever comes after a crash decides the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tidewatt/k8s/admission.h"
#include "tidewatt/k8s/tolerance.h"
#include "tidewatt/units/time.h"

namespace tidewatt::k8s {

/// When work is planned to start; RFC 3339. Holds while no newer plan can be had.
inline constexpr std::string_view kPlannedStartAnnotation = "tidewatt.io/planned-start";
/// On what was let go: by what ("window", "latest-start", ...).
inline constexpr std::string_view kOpenedLabel = "tidewatt.io/opened";
inline constexpr std::string_view kOpenedAtAnnotation = "tidewatt.io/opened-at";
/// Why, in words.
inline constexpr std::string_view kDecisionAnnotation = "tidewatt.io/decision";
/// Of work that has ended: what it came to, or why that isn't known.
inline constexpr std::string_view kEnergyAnnotation = "tidewatt.io/energy-kwh";
inline constexpr std::string_view kCarbonAnnotation = "tidewatt.io/carbon-kgco2e";
inline constexpr std::string_view kCarbonMissingAnnotation = "tidewatt.io/carbon-missing";
/// On a suspended Job: "hold" lets us resume it. Others are never touched.
inline constexpr std::string_view kSuspendAnnotation = "tidewatt.io/suspended-until-clean";
inline constexpr std::string_view kDurationLabel = "tidewatt.io/estimated-duration-hours";
inline constexpr std::string_view kPlainDurationLabel = "estimated-duration-hours";
inline constexpr std::string_view kKueueQueueLabel = "kueue.x-k8s.io/queue-name";

/// A pod or Job that is, or was, held.
struct Held {
  ObjectKind kind = ObjectKind::pod;
  std::string name_space, name, uid, resource_version;
  UtcTime created;
  bool held = false;           ///< our gate is there; a Job: suspended, and ours to resume
  std::size_t gate_index = 0;  ///< among the pod's gates
  bool has_labels = false;
  bool has_annotations = false;
  bool deleting = false;
  std::string tolerance;
  std::string topology;                  ///< region or zone that its nodeSelector asks for; may be empty
  std::string job_uid;                   ///< of the batch Job that controls it
  std::optional<Milliseconds> duration;  ///< as its label says
  std::optional<UtcTime> latest_start, planned_start;  ///< as annotated; nullopt also for what is no time
  std::string opened;                                  ///< the label
  std::optional<UtcTime> opened_at;
  std::string decision;
  bool ended = false;
  bool accounted = false;           ///< it bears energy, carbon or why not
  std::optional<UtcTime> ended_at;  ///< of its last container, or of the Job
};

inline constexpr Milliseconds kUsualDuration = std::chrono::hours{8};
/// When it is let go whatever the signal says: as annotated, else as long after its creation as its tolerance
/// allows. Of something without a tolerance: its creation, so at once.
UtcTime latest_start_of(const Held& held);
inline Milliseconds duration_of(const Held& held) { return held.duration.value_or(kUsualDuration); }
/// By when it has ended, if it starts at the latest and lasts as long as it says.
inline UtcTime deadline_of(const Held& held) { return latest_start_of(held) + duration_of(held); }

/// What the planner said. Without a start: no time is better than now as far as is known.
struct PlannedStart {
  std::optional<UtcTime> start;
  std::string why;
};

struct GateDecision {
  bool open = false;
  std::string_view by;  ///< "window", "latest-start", "no-signal", "job": a label's value
  std::string why;      ///< in words
  UtcTime start;        ///< when it is opened as far as is known now
};

/// @param planned     nullopt: the planner can't be asked now
/// @param job_opened  the Job that the pod belongs to was let go: its pods needn't wait once more
GateDecision decide_gate(const Held& held, const std::optional<PlannedStart>& planned, bool job_opened,
                         UtcTime now);

}  // namespace tidewatt::k8s
