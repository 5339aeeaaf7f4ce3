// What to do with waiting and running jobs, one round at a time. A delay is a begin time in Slurm itself, so
// that a job starts at its latest start although nobody of us lives any more.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tidewatt/slurm/queue.h"
#include "tidewatt/slurm/table.h"
#include "tidewatt/slurm/wish.h"

namespace tidewatt::slurm {

enum class Stage : std::uint8_t {
  waiting,     ///< it has a begin time of ours, or may get one
  requeueing,  ///< it was, or was about to be, ended and held; it gets a begin time and is released
  released,    ///< its window has come: it isn't delayed again
};
std::string_view to_string(Stage stage);

/// What is remembered of a job.
struct Tracked {
  UtcTime submitted;  ///< the first time; Slurm counts a requeued one anew
  UtcTime latest_start;
  std::optional<UtcTime> begin;  ///< as we set it last
  Stage stage = Stage::waiting;
  int requeues = 0;
  friend bool operator==(const Tracked&, const Tracked&) = default;
};
using Jobs = std::map<std::string, Tracked, std::less<>>;

enum class Act : std::uint8_t {
  set_begin,     ///< scontrol update JobId= StartTime=now+N
  requeue_hold,  ///< scontrol requeuehold
  release,       ///< scontrol release
};
std::string_view to_string(Act act);

struct Action {
  std::string job;
  Act act = Act::set_begin;
  UtcTime begin;  ///< of set_begin; now or earlier: at once
  std::string why;
  friend bool operator==(const Action&, const Action&) = default;
};

struct Rules {
  Milliseconds least_move{15 * 60'000};  ///< a begin is moved by no less
  Milliseconds least_run{60 * 60'000};   ///< a running job isn't requeued before
  Milliseconds margin{60'000};           ///< kept between a job's end and its --deadline
  double least_gain = 0.1;  ///< of carbon, for a requeue: the work since its last checkpoint is lost
  int most_requeues = 3;
  std::size_t most_jobs = 100'000;  ///< tracked
};

/// The begin with the least carbon for a job of this length, no later than `latest`.
using Planner = std::function<Begin(Milliseconds length, UtcTime latest)>;

struct Round {
  Jobs jobs;                    ///< to be kept before the actions are carried out
  std::vector<Action> actions;  ///< in this order
};

/// The mark by which the hook says that a begin time is its own, in admin_comment.
inline constexpr std::string_view kHookMark = "tidewatt";

Round next_round(const Jobs& jobs, const Queue& queue, const Planner& planner, const Rules& rules,
                 UtcTime now);

}  // namespace tidewatt::slurm
