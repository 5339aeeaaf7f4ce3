#include "tidewatt/slurm/controller.h"

#include <gtest/gtest.h>

namespace tidewatt::slurm {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

const UtcTime kNow = *parse_rfc3339("2026-01-01T00:00:00Z");

QueuedJob pending(std::string comment = "carbon:daily") {
  QueuedJob job;
  job.id = "7";
  job.state = "PENDING";
  job.reason = "Priority";
  job.submitted = job.eligible = kNow;
  job.limit = hours{2};
  job.may_requeue = true;
  job.comment = std::move(comment);
  return job;
}

QueuedJob running(Milliseconds since) {
  auto job = pending("carbon:daily:requeue");
  job.state = "RUNNING";
  job.started = kNow - since;
  job.submitted = job.eligible = kNow - since;
  return job;
}

Planner clean_at(UtcTime at, double grams = 50, double now_grams = 500) {
  return [=](Milliseconds, UtcTime) { return Begin{at, grams, now_grams}; };
}
const Planner kNoGain = [](Milliseconds, UtcTime) { return Begin{std::nullopt, 500, 500}; };
const Planner kUnknown = [](Milliseconds, UtcTime) { return Begin{}; };

Round one(const QueuedJob& job, const Planner& planner, const Jobs& jobs = {}, UtcTime now = kNow) {
  return next_round(jobs, {{job}, 0}, planner, {}, now);
}

TEST(Controller, AWaitingJobGetsABeginTimeOfSlurmsOwn) {
  const auto round = one(pending(), clean_at(kNow + hours{5}));
  ASSERT_EQ(round.actions.size(), 1U);
  EXPECT_EQ(round.actions[0].act, Act::set_begin);
  EXPECT_EQ(round.actions[0].begin, kNow + hours{5});
  EXPECT_EQ(round.jobs.at("7").latest_start, kNow + hours{24});
}

TEST(Controller, NoBeginLiesBeyondTheLatestStart) {
  const auto round = one(pending(), clean_at(kNow + hours{50}));
  ASSERT_EQ(round.actions.size(), 1U);
  EXPECT_EQ(round.actions[0].begin, kNow + hours{24});
}

TEST(Controller, ADeadlineOfSlurmIsNeverMissed) {
  auto job = pending();
  job.deadline = kNow + hours{5};
  auto round = one(job, clean_at(kNow + hours{4}));
  ASSERT_EQ(round.actions.size(), 1U);
  EXPECT_EQ(round.actions[0].begin, kNow + hours{3} - minutes{1});
  // The hook can't see deadlines: what it set too late comes forward.
  job.admin_comment = "tidewatt";
  job.eligible = kNow + hours{4};
  round = one(job, kUnknown);
  ASSERT_EQ(round.actions.size(), 1U);
  EXPECT_EQ(round.actions[0].begin, kNow + hours{3} - minutes{1});
}

TEST(Controller, LeavesAloneWhatItsOwnerChose) {
  auto chosen = pending();
  chosen.eligible = kNow + hours{10};
  EXPECT_TRUE(one(chosen, clean_at(kNow + hours{5})).actions.empty());
  auto held = pending();
  held.held = true;
  EXPECT_TRUE(one(held, clean_at(kNow + hours{5})).actions.empty());
  EXPECT_TRUE(one(pending("carbon:immediate"), clean_at(kNow + hours{5})).actions.empty());
  EXPECT_TRUE(one(pending("nothing"), clean_at(kNow + hours{5})).jobs.empty());
}

TEST(Controller, WithoutASignalNothingIsDelayedAndNothingMoves) {
  EXPECT_TRUE(one(pending(), kUnknown).actions.empty());
  auto waiting = pending();
  waiting.admin_comment = "tidewatt";
  waiting.eligible = kNow + hours{5};
  EXPECT_TRUE(one(waiting, kUnknown).actions.empty());
}

TEST(Controller, FollowsAForecastThatChanges) {
  auto job = pending();
  job.admin_comment = "tidewatt";
  job.eligible = kNow + hours{5};
  EXPECT_TRUE(one(job, clean_at(kNow + hours{5} + minutes{10})).actions.empty());  // not for so little
  EXPECT_EQ(one(job, clean_at(kNow + hours{2})).actions.at(0).begin, kNow + hours{2});
  EXPECT_EQ(one(job, kNoGain).actions.at(0).begin, kNow);
}

TEST(Controller, WhoseWindowCameIsNotDelayedAgain) {
  Jobs jobs = one(pending(), clean_at(kNow + hours{5})).jobs;
  const auto at = kNow + hours{5};
  auto job = pending();
  job.eligible = at;
  jobs = one(job, clean_at(at + hours{3}), jobs, at).jobs;
  EXPECT_EQ(jobs.at("7").stage, Stage::released);
  EXPECT_TRUE(one(job, clean_at(at + hours{3}), jobs, at + minutes{1}).actions.empty());
}

TEST(Controller, ARequeueIsHeldThenGivenItsBeginAndReleasedAlsoAfterACrash) {
  auto round = one(running(hours{2}), clean_at(kNow + hours{5}));
  ASSERT_EQ(round.actions.size(), 1U);
  EXPECT_EQ(round.actions[0].act, Act::requeue_hold);
  EXPECT_EQ(round.jobs.at("7").stage, Stage::requeueing);
  // Slurm counts its submission anew; its latest start stays.
  auto held = pending("carbon:daily:requeue");
  held.held = true;
  held.submitted = kNow;
  const auto next = one(held, clean_at(kNow + hours{5}), round.jobs, kNow + minutes{1});
  ASSERT_EQ(next.actions.size(), 2U);
  EXPECT_EQ(next.actions[0].act, Act::set_begin);
  EXPECT_EQ(next.actions[0].begin, kNow + hours{5});
  EXPECT_EQ(next.actions[1].act, Act::release);
  EXPECT_EQ(next.jobs.at("7").latest_start, kNow + hours{22});
  // The process died after the begin time, or before both, or the release failed: it is done again.
  EXPECT_EQ(one(held, clean_at(kNow + hours{5}), next.jobs, kNow + minutes{2}).actions.size(), 2U);
  auto freed = held;
  freed.held = false;
  freed.eligible = kNow + hours{5};
  const auto last = one(freed, clean_at(kNow + hours{5}), next.jobs, kNow + minutes{2});
  EXPECT_TRUE(last.actions.empty());
  EXPECT_EQ(last.jobs.at("7").stage, Stage::waiting);
  // Without a signal it is released at once rather than kept.
  const auto blind = one(held, kUnknown, round.jobs, kNow + minutes{1});
  ASSERT_EQ(blind.actions.size(), 2U);
  EXPECT_EQ(blind.actions[0].begin, kNow + minutes{1});
}

TEST(Controller, ARequeuedJobThatIsNotSeenForAWhileIsNotForgotten) {
  const auto jobs = one(running(hours{2}), clean_at(kNow + hours{5})).jobs;
  EXPECT_EQ(next_round(jobs, {}, kUnknown, {}, kNow + minutes{1}).jobs, jobs);
  EXPECT_TRUE(next_round(jobs, {}, kUnknown, {}, kNow + hours{48}).jobs.empty());
}

TEST(Controller, RequeuesOnlyWhoAskedForItAndGainsByIt) {
  auto plain = running(hours{2});
  plain.comment = "carbon:daily";
  EXPECT_TRUE(one(plain, clean_at(kNow + hours{5})).actions.empty());
  EXPECT_TRUE(one(running(minutes{30}), clean_at(kNow + hours{5})).actions.empty());
  EXPECT_TRUE(one(running(hours{2}), clean_at(kNow + hours{5}, 460)).actions.empty());
  EXPECT_TRUE(one(running(hours{2}), kUnknown).actions.empty());
  Jobs often = one(running(hours{2}), kNoGain).jobs;
  often.at("7").requeues = 3;
  EXPECT_TRUE(one(running(hours{2}), clean_at(kNow + hours{5}), often).actions.empty());
}

TEST(Controller, ForgetsJobsThatAreGone) {
  const auto jobs = one(pending(), clean_at(kNow + hours{5})).jobs;
  EXPECT_TRUE(next_round(jobs, {}, kNoGain, {}, kNow).jobs.empty());
}

}  // namespace
}  // namespace tidewatt::slurm
