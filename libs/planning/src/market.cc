#include "market.h"

#include <algorithm>
#include <numeric>

namespace tidewatt::planning {
namespace {

constexpr Minute kMostAtoms = 4'000'000;
/// A suspension charges the slot of the last minute, so that a minute more or less can matter; tried where
/// that is affordable.
constexpr Minute kMostSingleMinutes = 3000;
constexpr std::size_t kMostSingleMinuteJobs = 8;

Minute up_to(Minute at, Minute step) { return (at + step - 1) / step * step; }

/// The largest step that all that matters lies on.
Minute common_step(const Problem& problem, const std::vector<Task>& tasks, Minute last) {
  Minute step = problem.slot;
  bool overheads = false;
  for (const auto& task : tasks) {
    const auto& job = *task.job;
    for (const Minute at : {job.release, task.earliest, job.duration, job.min_run}) step = std::gcd(step, at);
    if (task.deadline < last) step = std::gcd(step, std::max<Minute>(0, task.deadline));
    overheads = overheads || job.migration_kwh > 0 ||
                (job.interruptible && (job.suspend_kwh > 0 || job.resume_kwh > 0));
  }
  for (const auto& site : problem.sites) {
    for (const auto& event : site.events)
      step = std::gcd(step, std::gcd(std::max<Minute>(0, event.from), event.to));
    if (const auto& thermal = site.thermal)
      for (const Minute at : {thermal->min_on, thermal->min_off, thermal->pump_pre, thermal->pump_post})
        step = std::gcd(step, at);
  }
  if (overheads && last <= kMostSingleMinutes && tasks.size() <= kMostSingleMinuteJobs) return 1;
  return step;
}

/// How long a queue may get behind the horizon: caps are at least half used while jobs wait that fit under
/// them.
Minute queue_length(const Problem& problem, const Grid& grid, const std::vector<Task>& tasks) {
  bool limited = false, counted = false;
  double cap = kNoLimit;
  for (std::size_t s = 0; s < grid.sites(); ++s) {
    const int site = static_cast<int>(s);
    limited = limited || grid.site(site).limited || problem.sites[s].thermal;
    counted = counted || problem.sites[s].devices || problem.sites[s].thermal;
    if (grid.site(site).limited) cap = std::min(cap, grid.cap_at(site, grid.end_of_change()));
  }
  if (!limited) return 0;
  double work = 0, minutes = 0;
  for (const auto& task : tasks) {
    const Minute length = task.baseline.empty() ? 0 : task.baseline.back().end - task.baseline.back().begin;
    minutes += static_cast<double>(up_to(std::min(length, kMostAtoms), problem.slot));
    work += task.baseline.empty()
                ? 0
                : task.baseline.back().kw *
                      static_cast<double>(up_to(std::min(length, kMostAtoms), problem.slot));
  }
  const double queue = counted || cap <= 0 ? minutes : std::min(minutes, 2 * work / cap);
  return static_cast<Minute>(std::min(queue, static_cast<double>(kMostAtoms)));
}

}  // namespace

Atoms::Atoms(const Problem& problem, const Grid& grid, const std::vector<Task>& tasks)
    : slot_(problem.slot), by_minute_(problem.by_minute) {
  Minute last = grid.end_of_change();
  Minute longest = 0;
  for (const auto& task : tasks) {
    Minute length = task.duration();
    if (task.elastic() && !task.baseline.empty())
      length = task.baseline.back().end - task.baseline.back().begin;
    length = std::min<Minute>(length, kMostAtoms);
    last = std::max(last, task.earliest + length);
    longest = std::max(longest, length);
  }
  // Where caps hold, jobs may queue up behind the horizon.
  last = up_to(last + longest + queue_length(problem, grid, tasks), problem.slot) + problem.slot;
  Minute step = problem.by_minute ? common_step(problem, tasks, last) : problem.slot;
  if (last / step > kMostAtoms) last = up_to(std::max(grid.end_of_change(), step * kMostAtoms), problem.slot);
  for (Minute at = 0; at <= last; at += step) begin_.push_back(at);
  step_ = step;
  if (problem.by_minute) return;
  const auto regular = begin_.size();
  const auto add = [&](Minute at) {
    if (at > 0 && at < last && at % step != 0) begin_.push_back(at);
  };
  for (const auto& task : tasks) {
    add(task.job->release);
    for (const int site : task.job->sites) add(first_minute(problem, site, task.job->release));
  }
  for (const auto& site : problem.sites)
    for (const auto& event : site.events) {
      add(event.from);
      add(event.to);
    }
  if (begin_.size() == regular) return;
  std::sort(begin_.begin(), begin_.end());
  begin_.erase(std::unique(begin_.begin(), begin_.end()), begin_.end());
  step_ = 0;
}

std::size_t Atoms::at(Minute minute) const {
  if (step_ != 0) return std::min(static_cast<std::size_t>(minute / step_), size() - 1);
  const auto after = std::upper_bound(begin_.begin(), begin_.end(), minute);
  return std::min(static_cast<std::size_t>(after - begin_.begin()) - 1, size() - 1);
}

Market::Market(const Problem& problem, const Grid& grid, const Atoms& atoms)
    : problem_(problem), grid_(grid), atoms_(atoms) {
  places_.resize(grid.sites());
  for (std::size_t s = 0; s < places_.size(); ++s) {
    auto& place = places_[s];
    const int site = static_cast<int>(s);
    place.limited = grid.site(site).limited;
    place.unknown.assign(atoms.size() + 1, 0);
    for (std::size_t a = 0; a < atoms.size(); ++a)
      place.unknown[a + 1] =
          place.unknown[a] +
          (grid.site(site).unknown[grid.slot_of(atoms.begin(a))] != 0 ? atoms.end(a) - atoms.begin(a) : 0);
    set_prices(site, {}, {});
    if (!place.limited) continue;
    for (std::size_t a = 0; a < atoms.size(); ++a) place.free_kw.push_back(grid.cap_at(site, atoms.begin(a)));
    if (const auto& devices = problem.sites[s].devices)
      place.free_devices.assign(atoms.size(), static_cast<double>(*devices));
  }
}

void Market::set_prices(int site, const std::vector<double>& per_kw, const std::vector<double>& per_device) {
  auto& place = places_[static_cast<std::size_t>(site)];
  place.price = per_kw;
  place.device_price = per_device;
  place.cost.assign(atoms_.size() + 1, 0);
  for (std::size_t a = 0; a < atoms_.size(); ++a) {
    const double rate = grid_.site(site).rate[grid_.slot_of(atoms_.begin(a))];
    place.cost[a + 1] = place.cost[a] +
                        rate * static_cast<double>(atoms_.end(a) - atoms_.begin(a)) / kMinutesPerHour +
                        (per_kw.empty() ? 0 : per_kw[a]);
  }
  place.device_cost.clear();
  if (per_device.empty()) return;
  place.device_cost.assign(1, 0);
  for (std::size_t a = 0; a < atoms_.size(); ++a)
    place.device_cost.push_back(place.device_cost[a] + per_device[a]);
}

double Market::cost(int site, Minute from, Minute to, double kw, double devices) const {
  if (to <= from) return 0;
  const auto& place = places_[static_cast<std::size_t>(site)];
  const auto& rate = grid_.site(site).rate;
  const auto first = atoms_.at(from);
  const auto last = atoms_.at(to - 1);
  // All of the atoms from the first to the last, less what isn't run of either; their prices are whole.
  const double before =
      static_cast<double>(from - atoms_.begin(first)) * rate[grid_.slot_of(atoms_.begin(first))];
  const double after = static_cast<double>(atoms_.end(last) - to) * rate[grid_.slot_of(atoms_.begin(last))];
  double cost = kw * (place.cost[last + 1] - place.cost[first] - (before + after) / kMinutesPerHour);
  if (!place.device_cost.empty()) cost += devices * (place.device_cost[last + 1] - place.device_cost[first]);
  return cost;
}

Minute Market::unknown_minutes(int site, Minute from, Minute to) const {
  if (to <= from) return 0;
  const auto& place = places_[static_cast<std::size_t>(site)];
  const auto& unknown = grid_.site(site).unknown;
  const auto first = atoms_.at(from);
  const auto last = atoms_.at(to - 1);
  Minute minutes = place.unknown[last + 1] - place.unknown[first];
  if (unknown[grid_.slot_of(atoms_.begin(first))] != 0) minutes -= from - atoms_.begin(first);
  if (unknown[grid_.slot_of(atoms_.begin(last))] != 0) minutes -= atoms_.end(last) - to;
  return minutes;
}

Minute Market::free_minutes(int site, std::size_t atom, Minute to, double kw, double devices) const {
  const Minute from = atoms_.begin(atom);
  if (!limited(site)) return to - from;
  for (auto a = atom; a < atoms_.size() && atoms_.begin(a) < to; ++a)
    if (!free(site, a, kw, devices)) return atoms_.begin(a) - from;
  return to - from;
}

bool Market::fits(const Segments& segments, double devices) const {
  for (const auto& piece : segments)
    for (auto a = atoms_.at(piece.begin); a < atoms_.size() && atoms_.begin(a) < piece.end; ++a)
      if (!free(piece.site, a, piece.kw, devices)) return false;
  return true;
}

void Market::change(const Segments& segments, double devices, double sign) {
  for (const auto& piece : segments) {
    auto& place = places_[static_cast<std::size_t>(piece.site)];
    if (!place.limited) continue;
    for (auto a = atoms_.at(piece.begin); a < atoms_.size() && atoms_.begin(a) < piece.end; ++a) {
      place.free_kw[a] += sign * piece.kw;
      if (!place.free_devices.empty()) place.free_devices[a] += sign * devices;
    }
  }
}

}  // namespace tidewatt::planning
