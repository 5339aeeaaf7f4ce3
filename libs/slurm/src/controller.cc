#include "tidewatt/slurm/controller.h"

#include <algorithm>

namespace tidewatt::slurm {
namespace {

/// One job's turn.
class Turn {
 public:
  Turn(const QueuedJob& job, Tracked tracked, const Planner& planner, const Rules& rules, UtcTime now)
      : job_(job), tracked_(std::move(tracked)), planner_(planner), rules_(rules), now_(now) {}

  void take(bool may_requeue, std::vector<Action>& actions) {
    if (job_.state == "PENDING")
      waiting(actions);
    else if (job_.state == "RUNNING")
      running(may_requeue, actions);
  }

  [[nodiscard]] const Tracked& tracked() const { return tracked_; }

 private:
  void waiting(std::vector<Action>& actions) {
    if (tracked_.stage == Stage::requeueing && job_.held) {
      // Again each round until it is seen to be free: after a crash nobody knows which command was carried
      // out.
      const auto begin = wanted_begin();
      tracked_.begin = begin;
      actions.push_back({job_.id, Act::set_begin, begin, "requeued for a cleaner window"});
      actions.push_back({job_.id, Act::release, {}, "its begin time is set"});
      return;
    }
    if (tracked_.stage == Stage::requeueing) tracked_.stage = Stage::waiting;
    if (job_.held) return;  // by its owner or an operator
    const auto eligible = job_.eligible.value_or(now_);
    if (eligible > now_ && !is_ours()) return;  // its owner has chosen
    if (tracked_.stage == Stage::released) return;
    if (eligible <= now_ && (is_ours() || tracked_.begin)) {
      tracked_.stage = Stage::released;  // its window came; now it waits for resources alone
      return;
    }
    const auto begin = wanted_begin();
    const auto now_set = std::max(eligible, now_);
    const bool late = now_set > most_late();
    if (!late && std::chrono::abs(begin - now_set) < rules_.least_move) return;
    if (begin == now_set) return;
    tracked_.begin = begin;
    if (begin <= now_) tracked_.stage = Stage::released;
    actions.push_back({job_.id, Act::set_begin, begin,
                       begin <= now_ ? "nothing is gained by waiting" : "a cleaner window"});
  }

  void running(bool may_requeue, std::vector<Action>& actions) {
    if (tracked_.stage == Stage::requeueing) tracked_.stage = Stage::released;  // it started before the hold
    if (!may_requeue || !job_.may_requeue || !job_.started || !job_.limit) return;
    if (tracked_.requeues >= rules_.most_requeues || now_ - *job_.started < rules_.least_run) return;
    const auto plan = planner_(*job_.limit, most_late());
    if (!plan.at || *plan.at < now_ + rules_.least_move || !plan.g_per_kwh || !plan.now_g_per_kwh) return;
    if (*plan.g_per_kwh > *plan.now_g_per_kwh * (1 - rules_.least_gain)) return;
    tracked_.stage = Stage::requeueing;
    ++tracked_.requeues;
    actions.push_back({job_.id, Act::requeue_hold, {}, "a cleaner window"});
  }

  [[nodiscard]] bool is_ours() const { return tracked_.begin || job_.admin_comment.starts_with(kHookMark); }

  /// The latest start, and early enough for a deadline at which Slurm removes the job.
  [[nodiscard]] UtcTime most_late() const {
    auto latest = tracked_.latest_start;
    if (job_.deadline && job_.limit) latest = std::min(latest, *job_.deadline - *job_.limit - rules_.margin);
    return latest;
  }

  [[nodiscard]] UtcTime wanted_begin() const {
    const auto latest = most_late();
    if (!job_.limit || latest <= now_) return now_;
    const auto plan = planner_(*job_.limit, latest);
    if (plan.at) return std::clamp(*plan.at, now_, latest);
    // Known and nothing to gain, or not known: then what was decided before stays.
    return plan.now_g_per_kwh ? now_ : std::clamp(job_.eligible.value_or(now_), now_, latest);
  }

  const QueuedJob& job_;
  Tracked tracked_;
  const Planner& planner_;
  const Rules& rules_;
  UtcTime now_;
};

Tracked first_seen(const QueuedJob& job, k8s::Tolerance tolerance, UtcTime now) {
  Tracked tracked;
  tracked.submitted = std::min(job.submitted.value_or(now), now);
  tracked.latest_start = tracked.submitted + slack_of(tolerance);
  return tracked;
}

}  // namespace

std::string_view to_string(Stage stage) {
  switch (stage) {
    case Stage::waiting:
      return "waiting";
    case Stage::requeueing:
      return "requeueing";
    case Stage::released:
      break;
  }
  return "released";
}

std::string_view to_string(Act act) {
  switch (act) {
    case Act::set_begin:
      return "set_begin";
    case Act::requeue_hold:
      return "requeue_hold";
    case Act::release:
      break;
  }
  return "release";
}

Round next_round(const Jobs& jobs, const Queue& queue, const Planner& planner, const Rules& rules,
                 UtcTime now) {
  Round round;
  for (const auto& job : queue.jobs) {
    const auto wish = wish_of(job.comment);
    if (!wish || wish->tolerance == k8s::Tolerance::immediate) continue;
    if (round.jobs.contains(job.id)) continue;  // another task of the same array
    const auto known = jobs.find(job.id);
    if (known == jobs.end() && round.jobs.size() >= rules.most_jobs) continue;
    Turn turn{job, known != jobs.end() ? known->second : first_seen(job, wish->tolerance, now), planner,
              rules, now};
    turn.take(wish->requeue, round.actions);
    round.jobs.emplace(job.id, turn.tracked());
  }
  // One that is about to be requeued is in neither state for a while; forgotten it would stay held.
  constexpr std::chrono::hours kKept{24};
  for (const auto& [id, tracked] : jobs)
    if (tracked.stage == Stage::requeueing && now < tracked.latest_start + kKept)
      round.jobs.emplace(id, tracked);
  return round;
}

}  // namespace tidewatt::slurm
