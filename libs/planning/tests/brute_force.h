// A random small job, planned by trying every minute at every site: what the planner must equal.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tidewatt/planning/planner.h"

namespace tidewatt::planning::brute {

/// One job on one or two sites without caps, a horizon of at most ten minutes.
inline Problem random_problem(std::mt19937_64& random) {
  const auto pick = [&](int least, int most) {
    return least + static_cast<int>(random() % static_cast<std::uint64_t>(most - least + 1));
  };
  Problem problem;
  problem.start = parse_rfc3339("2026-02-03T00:00:00Z").value_or(UtcTime{});
  problem.slot = pick(1, 4);
  problem.by_minute = pick(0, 2) == 0;
  const int sites = pick(1, 2);
  const int minutes = sites == 1 ? 10 : 7;
  const int slots = std::max(1, static_cast<int>(minutes / problem.slot));
  const bool coarse = pick(0, 1) == 0;  // few different intensities: ties
  for (int s = 0; s < sites; ++s) {
    Zone zone;
    zone.name = std::string(1, static_cast<char>('A' + s));
    for (int k = 0; k < slots; ++k) {
      const bool known = pick(0, 9) != 0;
      zone.known.push_back(known ? Known::known : Known::unknown);
      zone.ci.push_back(known ? (coarse ? 100.0 * pick(0, 2) : pick(0, 400)) : 0);
    }
    problem.zones.push_back(zone);
    Site site;
    site.id = zone.name;
    site.zone = static_cast<std::size_t>(s);
    site.pue = {1.0 + 0.1 * pick(0, 3)};
    problem.sites.push_back(site);
  }
  problem.slots = static_cast<std::size_t>(slots);
  const Minute horizon = problem.slot * slots;
  Job job;
  job.id = "j";
  job.duration = pick(1, static_cast<int>(std::min<Minute>(6, horizon)));
  job.release = pick(0, static_cast<int>(horizon - job.duration));
  job.deadline = pick(static_cast<int>(job.release + job.duration), static_cast<int>(horizon));
  job.power_kw = 60.0 * pick(1, 3);
  job.interruptible = pick(0, 3) != 0;
  if (pick(0, 1) == 0) job.suspend_kwh = 0.5 * pick(0, 4);
  if (pick(0, 1) == 0) job.resume_kwh = 0.5 * pick(0, 4);
  if (pick(0, 2) == 0) job.min_run = pick(0, 4);
  if (pick(0, 1) == 0) job.migration_kwh = 0.5 * pick(0, 3);
  job.sites = {0};
  if (sites == 2) job.sites = pick(0, 1) == 0 ? std::vector<int>{0, 1} : std::vector<int>{1, 0};
  problem.jobs.push_back(job);
  return problem;
}

/// What decides, in the order of the plan file's rules.
struct Score {
  Minute unknown = 0;
  double carbon = 0;
  int breaks = 0;
  Minute start = 0, end = 0;
};

class Search {
 public:
  explicit Search(const Problem& problem) : problem_(problem), job_(problem.jobs[0]) {
    where_.assign(static_cast<std::size_t>(*job_.deadline), -1);
    step(job_.release, job_.duration);
  }
  [[nodiscard]] const std::optional<Score>& best() const { return best_; }

 private:
  void step(Minute at, Minute left) {
    if (left == 0) return judge();
    if (*job_.deadline - at < left) return;
    auto& here = where_[static_cast<std::size_t>(at)];
    for (const int site : job_.sites) {
      const bool goes_on = at > job_.release && where_[static_cast<std::size_t>(at - 1)] == site;
      if (!goes_on && !problem_.by_minute && at % problem_.slot != 0 && at != job_.release) continue;
      here = site;
      step(at + 1, left - 1);
    }
    here = -1;
    if (job_.interruptible || left == job_.duration) step(at + 1, left);
  }

  [[nodiscard]] double rate(int site, Minute at) const {
    const auto k = static_cast<std::size_t>(at / problem_.slot);
    const auto& place = problem_.sites[static_cast<std::size_t>(site)];
    const auto& zone = problem_.zones[place.zone];
    return zone.known[k] == Known::unknown ? 0 : zone.ci[k] * place.pue[0];
  }

  void judge() {
    Score score;
    int data_at = job_.sites.front();
    int last = -1;
    Minute last_at = -1, piece = 0;
    const Minute least = std::min(job_.min_run, job_.duration);
    for (Minute at = job_.release; at < *job_.deadline; ++at) {
      const int site = where_[static_cast<std::size_t>(at)];
      if (site < 0) continue;
      const bool goes_on = last >= 0 && last_at == at - 1 && last == site;
      if (!goes_on) {
        if (last >= 0) {
          if (!job_.interruptible || piece < least) return;
          score.carbon += job_.suspend_kwh * rate(last, last_at) + job_.resume_kwh * rate(site, at);
          ++score.breaks;
        } else {
          score.start = at;
        }
        piece = 0;
        if (site != data_at) {
          score.carbon += job_.migration_kwh * (rate(data_at, at) + rate(site, at));
          ++score.breaks;
          data_at = site;
        }
      }
      ++piece;
      score.carbon += job_.power_kw / 60 * rate(site, at);
      const auto k = static_cast<std::size_t>(at / problem_.slot);
      if (problem_.zones[problem_.sites[static_cast<std::size_t>(site)].zone].known[k] == Known::unknown)
        ++score.unknown;
      last = site;
      last_at = at;
    }
    if (piece < least) return;
    score.end = last_at + 1;
    if (!best_ || better(score, *best_)) best_ = score;
  }

  static bool better(const Score& a, const Score& b) {
    if (a.unknown != b.unknown) return a.unknown < b.unknown;
    if (std::abs(a.carbon - b.carbon) > 1e-6) return a.carbon < b.carbon;
    return std::tuple{a.breaks, a.start, a.end} < std::tuple{b.breaks, b.start, b.end};
  }

  const Problem& problem_;
  const Job& job_;
  std::vector<int> where_;  ///< per minute the site, -1: paused
  std::optional<Score> best_;
};

/// Empty when the planner's plan of a problem is the best there is; else what differs.
inline std::string difference(const Problem& problem) {
  const auto best = Search{problem}.best();
  const auto answer = plan(problem, nullptr);
  const auto& job = answer.jobs[0];
  if (!best) return "";  // no admissible plan: not what is compared here
  if (job.segments.empty()) return "no segments";
  if (std::abs(job.carbon_g - best->carbon) > 1e-6)
    return "carbon " + std::to_string(job.carbon_g) + ", best " + std::to_string(best->carbon);
  int breaks = 0;
  int data_at = problem.jobs[0].sites.front();
  for (std::size_t k = 0; k < job.segments.size(); ++k) {
    if (k > 0) ++breaks;
    if (job.segments[k].site != data_at) ++breaks;
    data_at = job.segments[k].site;
  }
  const auto found = std::tuple{breaks, job.segments.front().begin, job.segments.back().end};
  if (found != std::tuple{best->breaks, best->start, best->end})
    return "breaks, start, end " + std::to_string(breaks) + " " + std::to_string(job.segments.front().begin) +
           " " + std::to_string(job.segments.back().end) + ", best " + std::to_string(best->breaks) + " " +
           std::to_string(best->start) + " " + std::to_string(best->end);
  return "";
}

}  // namespace tidewatt::planning::brute
