#include "grid.h"

#include <algorithm>

namespace tidewatt::planning {

Grid::Grid(const Problem& problem) : problem_(problem), slot_(problem.slot), last_(problem.slots) {
  for (const auto& zone : problem.zones) last_ = std::max(last_, zone.price.size());
  for (const auto& site : problem.sites) {
    last_ = std::max({last_, site.pue.size(), site.cap_kw.size()});
    for (const auto& event : site.events) {
      const auto reach = static_cast<std::size_t>((event.to + slot_ - 1) / slot_);
      last_ = std::max(last_, std::min(reach, problem.slots + 1));
    }
  }
  const Weights weights = problem.weights.value_or(Weights{});
  for (std::size_t s = 0; s < problem.sites.size(); ++s) {
    const auto& site = problem.sites[s];
    const auto& zone = problem.zones[site.zone];
    SiteValues values;
    values.limited = !site.cap_kw.empty() || !site.events.empty() || site.devices;
    for (std::size_t k = 0; k <= last_; ++k) {
      const bool known = k < zone.known.size() && zone.known[k] != Known::unknown;
      const double ci = known ? zone.ci[k] : 0;
      const double pue = held(site.pue, k);
      const double money = price(static_cast<int>(s), k).value_or(0);
      const double raw = weights.carbon * ci + weights.price * money;
      values.ci.push_back(ci);
      values.pue.push_back(pue);
      values.unknown.push_back(known ? 0 : 1);
      values.raw_rate.push_back(raw);
      values.rate.push_back(raw * pue);
    }
    sites_.push_back(std::move(values));
    highest_caps_.push_back(find_highest_cap(static_cast<int>(s)));
  }
}

std::optional<double> Grid::price(int site, std::size_t k) const {
  const auto& list = problem_.zones[problem_.sites[static_cast<std::size_t>(site)].zone].price;
  return list.empty() ? std::nullopt : held(list, k);
}

Known Grid::known(int site, std::size_t k) const {
  const auto& known = problem_.zones[problem_.sites[static_cast<std::size_t>(site)].zone].known;
  return k < known.size() ? known[k] : Known::unknown;
}

double Grid::cap_at(int site, Minute at) const {
  const auto& place = problem_.sites[static_cast<std::size_t>(site)];
  double cap = place.cap_kw.empty()
                   ? kNoLimit
                   : held(place.cap_kw, static_cast<std::size_t>(at / slot_)).value_or(kNoLimit);
  for (const auto& event : place.events)
    if (event.from <= at && at < event.to) cap = std::min(cap, event.available_kw);
  return cap;
}

double Grid::find_highest_cap(int site) const {
  const auto& place = problem_.sites[static_cast<std::size_t>(site)];
  if (place.cap_kw.empty() && place.events.empty()) return kNoLimit;
  std::vector<Minute> moments;
  for (std::size_t k = 0; k <= last_; ++k) moments.push_back(static_cast<Minute>(k) * slot_);
  for (const auto& event : place.events) {
    moments.push_back(std::max<Minute>(0, event.from));
    moments.push_back(event.to);
  }
  double most = 0;
  for (const auto at : moments) most = std::max(most, cap_at(site, at));
  return most;
}

}  // namespace tidewatt::planning
