#include "job_search.h"

#include <algorithm>
#include <cmath>

namespace tidewatt::planning {
namespace {

Weights weights_of(const Market& market) { return market.problem().weights.value_or(Weights{}); }

bool has_overheads(const Market& market, const Job& job) {
  if (job.suspend_kwh > 0 || job.resume_kwh > 0 || job.min_run > 0) return true;
  const auto weights = weights_of(market);
  if (weights.delay > 0) return true;
  return job.sites.size() > 1 && (job.migration_kwh > 0 || (weights.bytes > 0 && job.move_gb > 0));
}

struct Offer {
  std::size_t cell;
  int site;
  bool unknown;
  double per_minute;
  Minute minutes;
};

bool cheaper(const Offer& a, const Offer& b) {
  if (a.unknown != b.unknown) return b.unknown;
  if (a.per_minute != b.per_minute) return a.per_minute < b.per_minute;
  return a.cell < b.cell;
}

/// The cheapest cells until the duration is filled: optimal where pieces cost nothing extra.
/// @param unique  out: no other plan costs the same
std::optional<Found> cheapest_cells(const Market& market, const Task& task, const SearchLimits& limits,
                                    bool& unique) {
  const Job& job = *task.job;
  const double devices = static_cast<double>(job.devices);
  const auto cells = cells_of(market, task, limits.latest);
  std::vector<Offer> offers;
  unique = true;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    std::optional<Offer> best;
    for (const int site : task.sites) {
      if (cells[c].begin < first_minute(market.problem(), site, job.release)) continue;
      const Minute length = cells[c].end - cells[c].begin;
      const Minute minutes =
          limits.room ? market.free_minutes(site, cells[c].atom, cells[c].end, job.power_kw, devices)
                      : length;
      if (minutes <= 0) continue;
      if (minutes < length) unique = false;
      const Offer offer{c, site, market.unknown_minutes(site, cells[c].begin, cells[c].begin + 1) != 0,
                        market.cost(site, cells[c].begin, cells[c].begin + minutes, job.power_kw, devices) /
                            static_cast<double>(minutes),
                        minutes};
      if (!best || cheaper(offer, *best)) {
        if (best && best->unknown == offer.unknown && best->per_minute - offer.per_minute < kTie)
          unique = false;
        best = offer;
      } else if (best->unknown == offer.unknown && offer.per_minute - best->per_minute < kTie) {
        unique = false;
      }
    }
    if (best) offers.push_back(*best);
  }
  std::sort(offers.begin(), offers.end(), cheaper);
  Minute left = job.duration;
  std::size_t taken = 0;
  for (; taken < offers.size() && left > 0; ++taken) {
    offers[taken].minutes = std::min(offers[taken].minutes, left);
    left -= offers[taken].minutes;
  }
  if (left > 0) return std::nullopt;
  const auto near = [&](std::size_t a, std::size_t b) {
    return offers[a].unknown == offers[b].unknown &&
           std::abs(offers[a].per_minute - offers[b].per_minute) < kTie;
  };
  if (taken < offers.size() && near(taken - 1, taken)) unique = false;
  if (taken > 1 && near(taken - 2, taken - 1) &&
      cells[offers[taken - 1].cell].end - cells[offers[taken - 1].cell].begin != offers[taken - 1].minutes)
    unique = false;
  offers.resize(taken);
  std::sort(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) { return a.cell < b.cell; });
  Segments segments;
  for (const auto& offer : offers)
    segments.push_back(
        {offer.site, cells[offer.cell].begin, cells[offer.cell].begin + offer.minutes, job.power_kw, 1});
  segments = merged(segments);
  Found found{segments, value_of(market, task, segments)};
  if (limits.exact_ties) return found;
  // Part of a cell at part of its shadow price: never above what the best plan costs, so that bounds stay
  // bounds.
  found.value.cost = 0;
  for (const auto& offer : offers) found.value.cost += offer.per_minute * static_cast<double>(offer.minutes);
  return found;
}

}  // namespace

std::vector<Cell> cells_of(const Market& market, const Task& task, Minute latest) {
  const auto& atoms = market.atoms();
  const Job& job = *task.job;
  std::vector<Cell> cells;
  std::vector<Minute> own{job.release};
  for (const int site : task.sites) own.push_back(first_minute(market.problem(), site, job.release));
  const Minute from = *std::min_element(own.begin() + 1, own.end());
  latest = std::min(latest, atoms.last());
  for (auto a = atoms.at(from); a < atoms.size() && atoms.begin(a) < latest; ++a) {
    const Minute begin = atoms.begin(a);
    if (begin < from || !(atoms.starts(a) || std::find(own.begin(), own.end(), begin) != own.end())) continue;
    if (!cells.empty()) cells.back().end = begin;
    cells.push_back({begin, latest, a});
  }
  return cells;
}

double one_off_cost(const Market& market, int site, Minute at, double kwh) {
  return kwh == 0 ? 0 : kwh * market.grid().site(site).rate[market.grid().slot_of(at)];
}

double move_cost(const Market& market, const Job& job, int from, int to, Minute at) {
  return one_off_cost(market, from, at, job.migration_kwh) + one_off_cost(market, to, at, job.migration_kwh) +
         weights_of(market).bytes * job.move_gb;
}

Value value_of(const Market& market, const Task& task, const Segments& segments) {
  const Job& job = *task.job;
  Value value;
  if (segments.empty()) return value;
  int data_at = job.sites.front();
  const Segment* last = nullptr;
  for (const auto& piece : segments) {
    if (last != nullptr && (last->end != piece.begin || last->site != piece.site)) {
      value.cost += one_off_cost(market, last->site, last->end - 1, job.suspend_kwh) +
                    one_off_cost(market, piece.site, piece.begin, job.resume_kwh);
      ++value.breaks;
    }
    if (piece.site != data_at) {
      value.cost += move_cost(market, job, data_at, piece.site, piece.begin);
      ++value.breaks;
      data_at = piece.site;
    }
    value.cost += market.cost(piece.site, piece.begin, piece.end, piece.kw, static_cast<double>(job.devices));
    value.unknown += market.unknown_minutes(piece.site, piece.begin, piece.end);
    last = &piece;
  }
  value.start = segments.front().begin;
  value.end = last->end;
  value.late = std::max<Minute>(0, value.end - task.deadline);
  value.cost += weights_of(market).delay * static_cast<double>(value.end - job.release) / kMinutesPerHour;
  return value;
}

std::optional<Found> best_window(const Market& market, const Task& task, const SearchLimits& limits) {
  const Job& job = *task.job;
  const auto& atoms = market.atoms();
  const double devices = static_cast<double>(job.devices);
  const double delay = weights_of(market).delay;
  std::optional<Found> best;
  for (const int site : task.sites) {
    const Minute from = first_minute(market.problem(), site, job.release);
    const Minute until = std::min(limits.latest, atoms.last()) - job.duration;
    const bool check_room = limits.room && market.limited(site);
    auto scanned = atoms.at(from);  // room is known up to here
    std::size_t after_block = 0;    // the first atom behind the last one without room
    const bool away = site != job.sites.front();
    for (auto a = atoms.at(from); a < atoms.size() && atoms.begin(a) <= until; ++a) {
      const Minute begin = atoms.begin(a);
      if (begin < from || !(atoms.starts(a) || begin == job.release || begin == from)) continue;
      const Minute end = begin + job.duration;
      if (check_room) {
        for (scanned = std::max(scanned, a); scanned < atoms.size() && atoms.begin(scanned) < end; ++scanned)
          if (!market.free(site, scanned, job.power_kw, devices)) after_block = scanned + 1;
        if (after_block > a) continue;
      }
      Value value;
      value.cost = market.cost(site, begin, end, job.power_kw, devices) +
                   delay * static_cast<double>(end - job.release) / kMinutesPerHour;
      if (away) {
        value.cost += move_cost(market, job, job.sites.front(), site, begin);
        value.breaks = 1;
      }
      value.unknown = market.unknown_minutes(site, begin, end);
      value.start = begin;
      value.end = end;
      value.late = std::max<Minute>(0, end - task.deadline);
      if (!best || better(value, best->value)) best = Found{{{site, begin, end, job.power_kw, 1}}, value};
    }
  }
  return best;
}

std::optional<Found> best_run(const Market& market, const Task& task, const SearchLimits& limits) {
  if (task.elastic()) return best_elastic(market, task, limits);
  if (limits.latest <= task.deadline && is_aligned(market, task)) {
    bool unique = true;
    auto found = best_aligned(market, task, limits, &unique);
    if (!found || unique || !limits.exact_ties) return found;
  }
  if (task.one_piece || limits.one_piece) return best_window(market, task, limits);
  if (has_overheads(market, *task.job)) return best_pieces(market, task, limits);
  bool unique = true;
  auto found = cheapest_cells(market, task, limits, unique);
  if (!found || unique || !limits.exact_ties) return found;
  auto exact = best_pieces(market, task, limits);
  return exact && better(exact->value, found->value) ? exact : found;
}

}  // namespace tidewatt::planning
