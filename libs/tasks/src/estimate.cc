#include "tidewatt/tasks/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tidewatt::tasks {
namespace {

constexpr double kMedianShareOfLimit = 0.7;
constexpr Watts kPerCore{12};
constexpr Watts kNodeBase{200};
constexpr std::size_t kMostShown = 60;

/// Between the two nearest values, as most tools do it. @pre not empty
double percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const auto high = std::min(low + 1, values.size() - 1);
  return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
}

Estimate by_history(std::span<const PastTask> alike) {
  std::vector<double> energies;
  std::vector<double> durations;
  for (const auto& task : alike) {
    energies.push_back(task.energy.value());
    durations.push_back(task.duration.value());
  }
  return {Joules{percentile(energies, 0.5)}, Joules{percentile(energies, 0.9)},
          Seconds{percentile(durations, 0.5)},
          fmt::format("median and 90th percentile of {} alike tasks", alike.size())};
}

bool is_amount(double value) { return std::isfinite(value) && value >= 0; }

std::string shown_model(std::string_view model) {
  std::string out;
  for (const char c : model.substr(0, kMostShown)) out += c >= 0x20 && c < 0x7f ? c : '?';
  return out;
}

struct CardPower {
  CardHistory power;
  std::string how;
};

Result<CardPower> power_of_a_card(const Resources& r) {
  if (r.cards_before)
    return CardPower{*r.cards_before,
                     fmt::format("{:g} cards at what {} drew before", r.cards, shown_model(r.card_model))};
  const auto limit = r.card_limit ? r.card_limit : card_power_limit(r.card_model);
  if (!limit)
    return fail(ErrorCode::unavailable,
                fmt::format("no power limit known for card model \"{}\"", shown_model(r.card_model)),
                "give the cards' limit");
  return CardPower{{*limit * kMedianShareOfLimit, *limit},
                   fmt::format("{:g} cards at 0.7 to 1 of {:g} W", r.cards, limit->value())};
}

/// Of the node's parts; a node that isn't known is taken to be all the task's where it asks for anything.
double share_of_node(const Resources& r) {
  const auto share = [](double own, double all) {
    return own <= 0 ? 0.0 : all > 0 ? std::min(1.0, own / all) : 1.0;
  };
  return std::max(share(r.cards, r.node_cards), share(r.cores, r.node_cores));
}

}  // namespace

Result<Estimate> estimate_task(std::span<const PastTask> alike, const Resources& r) {
  for (const auto& task : alike)
    if (!is_amount(task.energy.value()) || !is_amount(task.duration.value()))
      return fail(ErrorCode::invalid_input, "an alike task with a negative or endless amount",
                  "leave it out");
  if (alike.size() >= kFewestAlike) return by_history(alike);
  const Seconds duration = r.duration.value_or(kDefaultDuration);
  for (const double amount : {r.cards, r.cores, r.node_cards, r.node_cores, duration.value(),
                              r.card_limit.value_or(Watts{0}).value()})
    if (!is_amount(amount))
      return fail(ErrorCode::invalid_input,
                  fmt::format("{} is no amount of cards, cores, watts or seconds", amount), "give 0 or more");
  CardPower card;
  if (r.cards > 0) {
    TW_TRY(card, power_of_a_card(r));
  }
  const double share = share_of_node(r);
  const Watts rest = kPerCore * r.cores + kNodeBase * share;
  const Watts median = card.power.median * r.cards + rest;
  const Watts p90 = card.power.p90 * r.cards + rest;
  return Estimate{median * duration, p90 * duration, duration,
                  fmt::format("by resources: {}{:g} cores at 12 W, {:.0f} % of 200 W of base, {:.3g} h{}",
                              card.how.empty() ? "" : card.how + ", ", r.cores, 100 * share,
                              duration.value() / kSecondsPerHour, r.duration ? "" : " by default")};
}

std::optional<CarbonEstimate> carbon_of(const Estimate& estimate,
                                        std::span<const std::optional<GramsPerKwh>> hours) {
  double sum = 0;
  std::size_t known = 0;
  for (const auto& hour : hours) {
    if (!hour) continue;
    sum += hour->value();
    ++known;
  }
  if (known == 0) return std::nullopt;
  const GramsPerKwh mean{sum / static_cast<double>(known)};
  return CarbonEstimate{to_watt_hours(estimate.median) * mean, to_watt_hours(estimate.p90) * mean,
                        static_cast<double>(known) / static_cast<double>(hours.size())};
}

}  // namespace tidewatt::tasks
