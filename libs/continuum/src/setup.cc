#include "tidewatt/continuum/setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model.h"
#include "tidewatt/inference/preferences.h"

namespace tidewatt::continuum {
namespace {

constexpr std::size_t kMostServices = 8, kMostKnobs = 6, kMostObjectives = 12, kMostLevels = 8, kMostBins = 8;
constexpr std::size_t kMostHorizon = 12;
constexpr std::size_t kMostTable = 20'000;  // numbers of one likelihood table

tl::unexpected<Error> bad(std::string what, std::string hint) {
  return fail(ErrorCode::invalid_input, std::move(what), std::move(hint));
}

Status check_parts(const Setup& setup) {
  if (setup.services.empty() || setup.services.size() > kMostServices)
    return bad(fmt::format("{} services", setup.services.size()), "give 1 to 8");
  if (setup.knobs.empty() || setup.knobs.size() > kMostKnobs)
    return bad(fmt::format("{} knobs", setup.knobs.size()), "give 1 to 6");
  if (setup.objectives.empty() || setup.objectives.size() > kMostObjectives)
    return bad(fmt::format("{} objectives", setup.objectives.size()),
               "give 1 to 12, in the service's spec or in the file");
  for (const auto& service : setup.services)
    if (service.load_bins < 1 || service.load_bins > kMostBins || !(service.price > 0) ||
        !std::isfinite(service.price))
      return bad(
          fmt::format("service {}: {} load bins, price {}", service.name, service.load_bins, service.price),
          "1 to 8 bins, a price above 0");
  for (const auto& knob : setup.knobs) {
    if (knob.levels < 2 || knob.levels > kMostLevels)
      return bad(fmt::format("knob {}: {} levels", knob.name, knob.levels),
                 "give 2 to 8, from thrifty to generous");
    if (knob.services.empty() ||
        std::ranges::any_of(knob.services, [&](auto s) { return s >= setup.services.size(); }))
      return bad(fmt::format("knob {} touches no known service", knob.name), "name services of the file");
    if (!(knob.switch_grams >= 0) || !std::isfinite(knob.switch_grams))
      return bad(fmt::format("knob {}: a change costs {} g", knob.name, knob.switch_grams), "0 or more");
  }
  for (const auto& objective : setup.objectives)
    if (objective.service >= setup.services.size() || !(objective.accepted > 0 && objective.accepted < 0.5) ||
        !(objective.weight > 0) || !std::isfinite(objective.weight))
      return bad(fmt::format("objective \"{}\": accepted share {}", objective.text, objective.accepted),
                 "above 0 and below 0.5");
  return {};
}

Status check_numbers(const Setup& setup) {
  if (setup.power_w.size() < 2 || setup.power_w.size() > kMostBins ||
      !std::ranges::is_sorted(setup.power_w) ||
      std::ranges::any_of(setup.power_w, [](double w) { return !(w >= 0) || !std::isfinite(w); }))
    return bad("power bins that do not rise, or not 2 to 8 of them", "give watts in rising order");
  const auto within = [](double x, double least, double most) { return x >= least && x <= most; };
  if (!within(setup.period_s, 0.1, 86'400)) return bad("a period outside 0.1 s to 1 day", "10s is usual");
  if (!within(setup.grams_per_violation, 1e-9, 1e9))
    return bad("grams_per_violation outside 1e-9 to 1e9", "see the manual");
  if (setup.horizon < 1 || setup.horizon > kMostHorizon)
    return bad("a horizon outside 1 to 12 periods", "3 is usual");
  if (!within(setup.delta, 1e-6, 1) || !within(setup.explore_delta, 1e-6, 1))
    return bad("a delta outside 1e-6 to 1", "0.05 is usual");
  if (!within(setup.prior_strength, 0.1, 1e6))
    return bad("a prior strength outside 0.1 to 1e6", "4 is usual");
  if (!within(setup.memory, 0.5, 1)) return bad("a memory outside 0.5 to 1", "0.995 is usual");
  if (!within(setup.hysteresis, 0, 100)) return bad("a hysteresis outside 0 to 100 nat", "1 is usual");
  if (setup.guard_periods > 1000 || setup.block_periods > 1'000'000)
    return bad("a guard or block window that is too long", "3 and 60 periods are usual");
  return {};
}

}  // namespace

Status check(const Setup& setup) {
  TW_TRY_STATUS(check_parts(setup));
  TW_TRY_STATUS(check_numbers(setup));
  std::size_t actions = 1;
  for (const auto& knob : setup.knobs) actions *= knob.levels;
  if (actions > kMostActions)
    return bad(fmt::format("{} combinations of knobs", actions),
               fmt::format("at most {}: fewer knobs or levels", kMostActions));
  const auto model = make_model(setup);
  for (std::size_t m = 0; m < model.shape.modalities(); ++m)
    if (model.shape.seen_states(m) * model.shape.outcomes[m] > kMostTable)
      return bad("a table of more than 20000 numbers", "fewer services a knob, knobs or bins");
  return {};
}

std::size_t power_bin(const Setup& setup, double power_w) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < setup.power_w.size(); ++i)
    if (std::abs(setup.power_w[i] - power_w) < std::abs(setup.power_w[best] - power_w)) best = i;
  return best;
}

double accepted_share(devol::Tier tier) {
  switch (tier) {
    case devol::Tier::gold:
      return 0.001;
    case devol::Tier::silver:
      return 0.01;
    case devol::Tier::bronze:
      return 0.05;
  }
  return 0.01;
}

double exchange_grams(const Setup& setup, std::size_t objective) {
  return inference::grams_per_violation(setup.objectives[objective].accepted, nats_per_gram(setup));
}

}  // namespace tidewatt::continuum
