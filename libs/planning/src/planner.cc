#include "tidewatt/planning/planner.h"

#include <algorithm>
#include <set>

#include "belief.h"
#include "bill.h"
#include "placement.h"

namespace tidewatt::planning {
namespace {

constexpr double kPercent = 100;
constexpr double kWhole = 1e-12;

bool covered(const Bill& bill) { return bill.known_kwh >= bill.energy_kwh * (1 - kWhole); }

std::vector<const Segment*> at_site(const std::vector<Segments>& all, int site) {
  std::vector<const Segment*> segments;
  for (const auto& job : all)
    for (const auto& piece : job)
      if (piece.site == site) segments.push_back(&piece);
  std::stable_sort(segments.begin(), segments.end(),
                   [](const Segment* a, const Segment* b) { return a->begin < b->begin; });
  return segments;
}

class Planner {
 public:
  Planner(const Problem& problem, const MipSolver* solver)
      : problem_(problem),
        solver_(solver),
        grid_(problem),
        tasks_(prepare(problem, grid_)),
        atoms_(problem, grid_, tasks_) {}

  Answer run() {
    place();
    do_no_harm();
    for (std::size_t i = 0; i < tasks_.size(); ++i) answer_job(i);
    answer_sites();
    answer_totals();
    return std::move(answer_);
  }

 private:
  void place() {
    if (problem_.policy == Policy::robust && has_error_record(problem_)) {
      const Problem belief = believed(problem_);
      const Grid grid{belief};
      placement_ = place_all(belief, grid, atoms_, tasks_, solver_);
      Problem alone = problem_;
      alone.policy = Policy::immediate;
      placement_.bound = place_all(alone, grid_, atoms_, tasks_, solver_).bound;
      return;
    }
    placement_ = place_all(problem_, grid_, atoms_, tasks_, solver_);
  }

  /// A job whose move isn't expected to save runs at once, where there is room.
  void do_no_harm() {
    if (!problem_.do_no_harm) return;
    HarmGate gate{problem_};
    Market market{problem_, grid_, atoms_};
    for (std::size_t i = 0; i < tasks_.size(); ++i) market.take(placement_.segments[i], devices(i));
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      auto& segments = placement_.segments[i];
      if (tasks_[i].fate != Fate::normal || segments.empty() || segments == tasks_[i].baseline) continue;
      if (has_loop(tasks_[i]) || gate.allows(tasks_[i], segments)) continue;
      market.give(segments, devices(i));
      if (market.fits(tasks_[i].baseline, devices(i))) {
        segments = tasks_[i].baseline;
        kept_at_once_.insert(i);
      }
      market.take(segments, devices(i));
    }
  }

  [[nodiscard]] double devices(std::size_t i) const { return static_cast<double>(problem_.jobs[i].devices); }
  [[nodiscard]] bool has_loop(const Task& task) const {
    return std::any_of(task.job->sites.begin(), task.job->sites.end(), [&](int site) {
      return problem_.sites[static_cast<std::size_t>(site)].thermal.has_value();
    });
  }

  void answer_job(std::size_t i) {
    const auto& task = tasks_[i];
    const auto& job = problem_.jobs[i];
    JobAnswer answer;
    answer.segments = placement_.segments[i];
    answer.notes = job.notes;
    if (kept_at_once_.contains(i))
      answer.notes.emplace_back(
          "runs at once: by this forecast's own record, waiting isn't expected to save");
    const Bill bill = bill_of(problem_, grid_, job, answer.segments);
    if (!answer.segments.empty())
      answer.late_minutes = std::max<Minute>(0, answer.segments.back().end - task.deadline);
    bool runs = true;
    if (task.fate == Fate::too_short) {
      answer.status = JobStatus::infeasible;
      answer.reason = "deadline_before_duration";
    } else if (task.fate == Fate::over_every_cap || (task.fate == Fate::normal && answer.segments.empty())) {
      answer.status = JobStatus::infeasible;
      answer.reason = "power_over_cap";
      answer.late_minutes = 0;
      runs = false;
    } else if (answer.late_minutes > 0) {
      answer.status = JobStatus::late;
      answer.reason = "power_cap";
    }
    const Bill baseline = runs ? task.baseline_bill : Bill{};
    answer.carbon_g = bill.carbon_g;
    answer.energy_kwh = bill.energy_kwh;
    answer.cost = bill.money;
    answer.carbon_coverage = bill.coverage();
    answer.baseline_carbon_g = baseline.carbon_g;
    if (covered(bill) && covered(baseline)) {
      answer.savings_g = baseline.carbon_g - bill.carbon_g;
      if (baseline.carbon_g > 0) answer.savings_percent = kPercent * *answer.savings_g / baseline.carbon_g;
    }
    answer.binding = binding(i, answer, bill);
    const Minute horizon = static_cast<Minute>(problem_.slots) * problem_.slot;
    const Minute until = std::min(task.deadline, horizon);
    if (until > job.release)
      answer.considered = (until + problem_.slot - 1) / problem_.slot - job.release / problem_.slot;
    if (runs) {
      baseline_.add(baseline);
      baselines_.push_back(task.baseline);
    }
    total_.add(bill);
    unknown_ = unknown_ || bill.unknown_minutes > 0;
    interpolated_ = interpolated_ || bill.interpolated_minutes > 0;
    if (!job.team.empty()) spent_[job.team] += bill.carbon_g;
    answer_.jobs.push_back(std::move(answer));
  }

  [[nodiscard]] std::string binding(std::size_t i, const JobAnswer& answer, const Bill& bill) const {
    const auto& task = tasks_[i];
    const auto& job = problem_.jobs[i];
    if (task.fate == Fate::nothing) return "none";
    if (task.fate == Fate::too_short) return "deadline";
    if (answer.status != JobStatus::planned) return "power_cap";
    if (placement_.displaced[i]) return has_loop(task) ? "thermal" : "power_cap";
    if (bill.unknown_minutes > 0) return "signal";
    if (task.at_once) return "tolerance";
    if (answer.segments.back().end == task.deadline) return job.deadline ? "deadline" : "tolerance";
    if (answer.segments.front().begin == job.release) return "release";
    return "none";
  }

  void answer_sites() {
    for (std::size_t s = 0; s < problem_.sites.size(); ++s) {
      if (!problem_.sites[s].thermal) continue;
      const int site = static_cast<int>(s);
      const auto on = on_times(at_site(placement_.segments, site));
      const Bill pump = pump_bill(problem_, grid_, site, on);
      answer_.sites.push_back({site, pump.energy_kwh, pump.carbon_g, on.size()});
      total_.add(pump);
      baseline_.add(pump_bill(problem_, grid_, site, on_times(at_site(baselines_, site))));
    }
  }

  void answer_totals() {
    answer_.carbon_g = total_.carbon_g;
    answer_.energy_kwh = total_.energy_kwh;
    answer_.cost = total_.money;
    answer_.baseline_carbon_g = baseline_.carbon_g;
    answer_.baseline_capped_carbon_g = capped_baseline();
    if (problem_.weights) {
      if (total_.money || problem_.weights->price == 0) answer_.objective = total_.objective;
      if (answer_.objective && placement_.bound)
        answer_.objective_bound = std::min(*placement_.bound, total_.objective);
      answer_.lower_bound_g = carbon_bound();
    } else {
      answer_.lower_bound_g = placement_.bound;
    }
    if (answer_.lower_bound_g) answer_.lower_bound_g = std::min(*answer_.lower_bound_g, answer_.carbon_g);
    for (const auto& [team, budget] : problem_.budgets)
      if (const auto spent = spent_.find(team); spent != spent_.end() && spent->second > budget)
        answer_.over_budget[team] = spent->second - budget;
    answer_.quality = quality();
  }

  /// Where weights decide, the carbon itself is bounded by what each job could emit least.
  std::optional<double> carbon_bound() const {
    Problem alone = problem_;
    alone.weights.reset();
    alone.policy = Policy::immediate;
    const Grid grid{alone};
    return place_all(alone, grid, atoms_, tasks_, solver_).bound;
  }

  /// The carbon of first come, first served under the same caps; nullopt where the caps stand in nobody's
  /// way.
  std::optional<double> capped_baseline() const {
    bool limited = false;
    for (std::size_t s = 0; s < problem_.sites.size(); ++s)
      limited = limited || grid_.site(static_cast<int>(s)).limited;
    if (!limited) return std::nullopt;
    const auto all = place_first_come(problem_, grid_, atoms_, tasks_);
    double carbon = 0;
    bool differs = placement_.caps_bind;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      differs = differs || (tasks_[i].fate != Fate::over_every_cap && all[i] != tasks_[i].baseline);
      carbon += bill_of(problem_, grid_, problem_.jobs[i], all[i]).carbon_g;
    }
    for (std::size_t s = 0; s < problem_.sites.size(); ++s)
      if (problem_.sites[s].thermal)
        carbon += pump_bill(problem_, grid_, static_cast<int>(s), on_times(at_site(all, static_cast<int>(s))))
                      .carbon_g;
    return differs ? std::optional{carbon} : std::nullopt;
  }

  [[nodiscard]] std::string quality() const {
    const bool any = std::any_of(problem_.zones.begin(), problem_.zones.end(), [](const Zone& zone) {
      return std::any_of(zone.known.begin(), zone.known.end(),
                         [](Known known) { return known != Known::unknown; });
    });
    if (!any) return "none";
    if (unknown_) return "partial";
    return interpolated_ ? "interpolated" : "complete";
  }

  const Problem& problem_;
  const MipSolver* solver_;
  Grid grid_;
  std::vector<Task> tasks_;
  Atoms atoms_;
  Placement placement_;
  Answer answer_;
  Bill total_, baseline_;
  std::vector<Segments> baselines_;
  std::set<std::size_t> kept_at_once_;
  std::map<std::string, double> spent_;
  bool unknown_ = false, interpolated_ = false;
};

}  // namespace

Answer plan(const Problem& problem, const MipSolver* solver) { return Planner{problem, solver}.run(); }

std::string to_string(Policy policy) {
  switch (policy) {
    case Policy::immediate:
      return "immediate";
    case Policy::wait_awhile:
      return "wait_awhile";
    case Policy::wait_awhile_interrupting:
      return "wait_awhile_interrupting";
    case Policy::threshold:
      return "threshold";
    case Policy::elastic:
      return "elastic";
    case Policy::spatial:
      return "spatial";
    case Policy::joint:
      return "joint";
    case Policy::optimal:
      return "optimal";
    case Policy::robust:
      return "robust";
  }
  return "joint";
}

}  // namespace tidewatt::planning
