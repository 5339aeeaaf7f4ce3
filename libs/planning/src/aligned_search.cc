// Searches over whole atoms of one length: what the joint planner asks thousands of times.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "job_search.h"

namespace tidewatt::planning {
namespace {

struct Pick {
  double cost;
  std::uint32_t atom;
  std::int32_t site;
};

struct Range {
  std::size_t first = 0, last = 0;  ///< atoms [first, last)
};

Range range_of(const Market& market, const Task& task, Minute latest) {
  const auto& atoms = market.atoms();
  const Minute step = atoms.step();
  const auto last = static_cast<std::size_t>(std::min(latest, atoms.last()) / step);
  return {static_cast<std::size_t>(task.job->release / step), std::min(last, atoms.size())};
}

std::optional<Found> cheapest_window(const Market& market, const Task& task, const SearchLimits& limits) {
  const Job& job = *task.job;
  const Minute step = market.atoms().step();
  const auto length = static_cast<std::size_t>(job.duration / step);
  const auto [first, last] = range_of(market, task, limits.latest);
  if (last < first + length) return std::nullopt;
  const double devices = static_cast<double>(job.devices);
  double least = 0;
  std::optional<std::size_t> at;
  int where = 0;
  for (const int site : task.sites) {
    const auto& sums = market.sums(site);
    const bool check = limits.room && market.limited(site);
    std::size_t scanned = first, after_block = first;
    for (auto a = first; a + length <= last; ++a) {
      if (check) {
        for (; scanned < a + length; ++scanned)
          if (!market.free(site, scanned, job.power_kw, devices)) after_block = scanned + 1;
        if (after_block > a) continue;
      }
      const double cost = sums[a + length] - sums[a];
      if (!at || cost * job.power_kw < least * job.power_kw - kTie) {
        at = a;
        least = cost;
        where = site;
      }
    }
  }
  if (!at) return std::nullopt;
  const Minute begin = static_cast<Minute>(*at) * step;
  Found found{{{where, begin, begin + job.duration, job.power_kw, 1}}, {}};
  found.value.cost = least * job.power_kw;
  found.value.breaks = where == job.sites.front() ? 0 : 1;
  found.value.start = begin;
  found.value.end = begin + job.duration;
  found.value.late = std::max<Minute>(0, found.value.end - task.deadline);
  return found;
}

std::optional<Found> atoms_in_order_of_cost(const Market& market, const Task& task,
                                            const SearchLimits& limits, bool* unique) {
  const Job& job = *task.job;
  const Minute step = market.atoms().step();
  const auto length = static_cast<std::size_t>(job.duration / step);
  const auto [first, last] = range_of(market, task, limits.latest);
  const double devices = static_cast<double>(job.devices);
  thread_local std::vector<Pick> picks;
  picks.clear();
  picks.reserve(last > first ? last - first : 0);
  if (task.sites.size() == 1 && !(limits.room && market.limited(task.sites.front()))) {
    const auto& sums = market.sums(task.sites.front());
    for (auto a = first; a < last; ++a)
      picks.push_back({sums[a + 1] - sums[a], static_cast<std::uint32_t>(a), task.sites.front()});
  }
  for (auto a = first; a < last && picks.size() < last - first; ++a) {
    double least = 0;
    std::int32_t where = -1;
    for (const int site : task.sites) {
      if (limits.room && market.limited(site) && !market.free(site, a, job.power_kw, devices)) continue;
      const auto& sums = market.sums(site);
      const double cost = sums[a + 1] - sums[a];
      if (unique != nullptr && where >= 0 && std::abs(cost - least) * job.power_kw < kTie) *unique = false;
      if (where < 0 || cost < least) {
        least = cost;
        where = site;
      }
    }
    if (where >= 0) picks.push_back({least, static_cast<std::uint32_t>(a), where});
  }
  if (picks.size() < length) return std::nullopt;
  const auto cut = picks.begin() + static_cast<std::ptrdiff_t>(length);
  if (cut != picks.end())
    std::nth_element(picks.begin(), cut, picks.end(), [](const Pick& a, const Pick& b) {
      return a.cost != b.cost ? a.cost < b.cost : a.atom < b.atom;
    });
  if (unique != nullptr && cut != picks.end()) {
    const auto dearest =
        std::max_element(picks.begin(), cut, [](const Pick& a, const Pick& b) { return a.cost < b.cost; });
    if ((cut->cost - dearest->cost) * job.power_kw < kTie) *unique = false;
  }
  std::sort(picks.begin(), cut, [](const Pick& a, const Pick& b) { return a.atom < b.atom; });
  Found found;
  double cost = 0;
  int data_at = job.sites.front();
  for (auto pick = picks.begin(); pick != cut; ++pick) {
    const Minute begin = static_cast<Minute>(pick->atom) * step;
    cost += pick->cost;
    if (!found.segments.empty() && found.segments.back().end == begin &&
        found.segments.back().site == pick->site) {
      found.segments.back().end = begin + step;
      continue;
    }
    if (!found.segments.empty()) ++found.value.breaks;
    if (pick->site != data_at) ++found.value.breaks;
    data_at = pick->site;
    found.segments.push_back({pick->site, begin, begin + step, job.power_kw, 1});
  }
  found.value.cost = cost * job.power_kw;
  found.value.start = found.segments.front().begin;
  found.value.end = found.segments.back().end;
  found.value.late = std::max<Minute>(0, found.value.end - task.deadline);
  return found;
}

}  // namespace

bool is_aligned(const Market& market, const Task& task) {
  const Job& job = *task.job;
  const Minute step = market.atoms().step();
  if (task.elastic() || step == 0 || job.duration == 0) return false;
  if (job.release % step != 0 || job.duration % step != 0) return false;
  // A deadline inside an atom leaves a part of it to pieces; one piece of whole atoms has no use for that.
  if (!task.one_piece && task.deadline < market.atoms().last() && task.deadline % step != 0) return false;
  const auto weights = market.problem().weights.value_or(Weights{});
  if (weights.delay > 0 || (weights.bytes > 0 && job.move_gb > 0)) return false;
  if (job.sites.size() > 1 && job.migration_kwh > 0) return false;
  if (!task.one_piece && (job.suspend_kwh > 0 || job.resume_kwh > 0 || job.min_run > step)) return false;
  for (const int site : task.sites) {
    if (market.problem().sites[static_cast<std::size_t>(site)].thermal) return false;
    const auto& unknown = market.unknown_sums(site);
    const auto last = std::min<std::size_t>(
        static_cast<std::size_t>(std::max<Minute>(0, std::min(task.deadline, market.atoms().last())) / step),
        market.atoms().size());
    if (unknown[last] != unknown[std::min(last, static_cast<std::size_t>(job.release / step))]) return false;
  }
  return true;
}

std::optional<Found> best_aligned(const Market& market, const Task& task, const SearchLimits& limits,
                                  bool* unique) {
  if (task.one_piece || limits.one_piece) {
    if (unique != nullptr) *unique = task.sites.size() == 1;
    return cheapest_window(market, task, limits);
  }
  if (unique != nullptr) *unique = true;
  return atoms_in_order_of_cost(market, task, limits, unique);
}

}  // namespace tidewatt::planning
