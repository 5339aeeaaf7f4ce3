#include "bill.h"

#include <algorithm>

namespace tidewatt::planning {
namespace {

/// Books `kwh` of facility energy in a slot.
void book(Bill& bill, const Grid& grid, int site, std::size_t k, double kwh, const Weights& weights) {
  const auto& values = grid.site(site);
  bill.energy_kwh += kwh;
  if (values.unknown[k] == 0) {
    bill.known_kwh += kwh;
    bill.carbon_g += kwh * values.ci[k];
    bill.objective += weights.carbon * kwh * values.ci[k];
  }
  const auto price = grid.price(site, k);
  if (!price) {
    bill.money.reset();
    return;
  }
  if (bill.money) *bill.money += kwh * *price;
  bill.objective += weights.price * kwh * *price;
}

/// One-off IT energy in the slot of a minute.
void book_at(Bill& bill, const Grid& grid, int site, Minute at, double it_kwh, const Weights& weights) {
  const auto k = grid.slot_of(at);
  book(bill, grid, site, k, it_kwh * grid.site(site).pue[k], weights);
}

}  // namespace

void Bill::add(const Bill& other) {
  carbon_g += other.carbon_g;
  energy_kwh += other.energy_kwh;
  known_kwh += other.known_kwh;
  if (money && other.money)
    *money += *other.money;
  else
    money.reset();
  unknown_minutes += other.unknown_minutes;
  interpolated_minutes += other.interpolated_minutes;
  moved_gb += other.moved_gb;
  breaks += other.breaks;
  objective += other.objective;
}

Bill bill_of(const Problem& problem, const Grid& grid, const Job& job, const Segments& segments) {
  const Weights weights = problem.weights.value_or(Weights{});
  Bill bill;
  int data_at = job.sites.front();
  const Segment* last = nullptr;
  for (const auto& piece : segments) {
    if (last != nullptr && (last->end != piece.begin || last->site != piece.site)) {
      book_at(bill, grid, last->site, last->end - 1, job.suspend_kwh, weights);
      book_at(bill, grid, piece.site, piece.begin, job.resume_kwh, weights);
      ++bill.breaks;
    }
    if (piece.site != data_at) {
      book_at(bill, grid, data_at, piece.begin, job.migration_kwh, weights);
      book_at(bill, grid, piece.site, piece.begin, job.migration_kwh, weights);
      bill.moved_gb += job.move_gb;
      bill.objective += weights.bytes * job.move_gb;
      ++bill.breaks;
      data_at = piece.site;
    }
    for (Minute at = piece.begin; at < piece.end;) {
      const auto k = grid.slot_of(at);
      const auto until = std::min(piece.end, grid.slot_end(k));
      const auto minutes = static_cast<double>(until - at);
      book(bill, grid, piece.site, k, piece.kw / kMinutesPerHour * minutes * grid.site(piece.site).pue[k],
           weights);
      const auto known = grid.known(piece.site, k);
      if (known == Known::unknown) bill.unknown_minutes += until - at;
      if (known == Known::interpolated) bill.interpolated_minutes += until - at;
      at = until;
    }
    last = &piece;
  }
  if (last != nullptr)
    bill.objective += weights.delay * static_cast<double>(last->end - job.release) / kMinutesPerHour;
  return bill;
}

std::vector<OnTime> on_times(const std::vector<const Segment*>& sorted_by_begin) {
  std::vector<OnTime> on;
  for (const auto* piece : sorted_by_begin) {
    if (!on.empty() && piece->begin <= on.back().end)
      on.back().end = std::max(on.back().end, piece->end);
    else
      on.push_back({piece->begin, piece->end});
  }
  return on;
}

Bill pump_bill(const Problem& problem, const Grid& grid, int site, const std::vector<OnTime>& on) {
  Bill bill;
  const auto& thermal = problem.sites[static_cast<std::size_t>(site)].thermal;
  if (!thermal || thermal->pump_kw == 0) return bill;
  const Weights weights = problem.weights.value_or(Weights{});
  const Minute horizon = static_cast<Minute>(problem.slots) * problem.slot;
  const auto run = [&](Minute begin, Minute end) {
    for (Minute at = begin; at < end;) {
      const auto k = grid.slot_of(at);
      const auto until = std::min(end, grid.slot_end(k));
      book(bill, grid, site, k, thermal->pump_kw / kMinutesPerHour * static_cast<double>(until - at),
           weights);
      at = until;
    }
  };
  Minute done = 0;  // the pump is booked, or the site on, until here
  for (std::size_t i = 0; i < on.size(); ++i) {
    run(std::max({done, Minute{0}, on[i].begin - thermal->pump_pre}), on[i].begin);
    const Minute next = i + 1 < on.size() ? on[i + 1].begin : horizon;
    done = std::max(on[i].end, std::min({on[i].end + thermal->pump_post, next, horizon}));
    run(on[i].end, done);
  }
  return bill;
}

Segments merged(const Segments& segments) {
  Segments result;
  for (const auto& piece : segments) {
    if (!result.empty() && result.back().end == piece.begin && result.back().site == piece.site &&
        result.back().replicas == piece.replicas)
      result.back().end = piece.end;
    else
      result.push_back(piece);
  }
  return result;
}

}  // namespace tidewatt::planning
