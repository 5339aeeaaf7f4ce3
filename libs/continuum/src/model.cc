#include "model.h"

#include <algorithm>
#include <cmath>

#include "tidewatt/inference/preferences.h"

namespace tidewatt::continuum {
namespace {

using inference::Model;
using inference::Table;

constexpr double kCloseShare = 0.05;  // of a violation's preference
constexpr double kJoulesPerKwh = 3.6e6;

/// Calls each(states) with every combination of the states that a modality sees, in the table's order.
template <class Each>
void for_each_seen(const Model& model, const std::vector<std::size_t>& sees, const Each& each) {
  std::vector<std::size_t> states(sees.size(), 0);
  std::size_t count = 1;
  for (const auto f : sees) count *= model.shape.states[f];
  for (std::size_t column = 0; column < count; ++column) {
    auto rest = column;
    for (std::size_t i = sees.size(); i-- > 0;) {
      states[i] = rest % model.shape.states[sees[i]];
      rest /= model.shape.states[sees[i]];
    }
    each(column, states);
  }
}

double share(std::size_t level, std::size_t levels) {
  return levels < 2 ? 1.0 : static_cast<double>(level) / static_cast<double>(levels - 1);
}

/// Loads and knobs that a modality sees, each as its mean share: what is asked, and what is given.
struct Balance {
  double asked = 0.5, given = 1;
};

Balance balance(const Model& model, std::size_t loads, const std::vector<std::size_t>& sees,
                const std::vector<std::size_t>& states) {
  double asked = 0, given = 0;
  std::size_t askers = 0, givers = 0;
  for (std::size_t i = 0; i < sees.size(); ++i) {
    const double part = share(states[i], model.shape.states[sees[i]]);
    if (sees[i] >= loads)
      given += part, ++givers;
    else if (model.shape.states[sees[i]] > 1)
      asked += part, ++askers;
  }
  return {askers == 0 ? 0.5 : asked / static_cast<double>(askers),
          givers == 0 ? 1 : given / static_cast<double>(givers)};
}

Table objective_prior(const Model& model, std::size_t loads, const std::vector<std::size_t>& sees,
                      double strength) {
  std::size_t columns = 1;
  for (const auto f : sees) columns *= model.shape.states[f];
  Table counts(kObjectiveOutcomes * columns);
  for_each_seen(model, sees, [&](std::size_t column, const std::vector<std::size_t>& states) {
    const auto [asked, given] = balance(model, loads, sees, states);
    const double lack = std::max(0.0, asked - given);
    const double violated = 0.01 + 0.9 * lack;
    const double close = (1 - violated) * (0.05 + 0.4 * lack);
    counts[kKept * columns + column] = strength * (1 - violated - close);
    counts[kClose * columns + column] = strength * close;
    counts[kViolated * columns + column] = strength * violated;
  });
  return counts;
}

/// Half from what is given, half from what is asked of it.
Table power_prior(const Model& model, std::size_t loads, const std::vector<std::size_t>& sees,
                  std::size_t bins, double strength) {
  std::size_t columns = 1;
  for (const auto f : sees) columns *= model.shape.states[f];
  Table counts(bins * columns);
  for_each_seen(model, sees, [&](std::size_t column, const std::vector<std::size_t>& states) {
    const auto [asked, given] = balance(model, loads, sees, states);
    const double centre = (0.6 * given + 0.4 * std::min(asked, given)) * static_cast<double>(bins - 1);
    double total = 0;
    for (std::size_t bin = 0; bin < bins; ++bin)
      total += std::exp(-std::abs(static_cast<double>(bin) - centre) * 1.5);
    for (std::size_t bin = 0; bin < bins; ++bin)
      counts[bin * columns + column] =
          strength * std::exp(-std::abs(static_cast<double>(bin) - centre) * 1.5) / total;
  });
  return counts;
}

/// What a factor is is seen as it is: known, as many counts.
Table identity(std::size_t n) {
  constexpr double kKnown = 1e6;
  Table table(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) table[i * n + i] = kKnown;
  return table;
}

/// A load stays more often than not; a knob goes where it is sent, with nearly all of 20 tries.
Table transition_prior(std::size_t n, std::size_t controls) {
  constexpr double kStays = 8, kObeys = 20, kStuck = 0.5, kElse = 0.05;
  Table counts(n * n * controls);
  for (std::size_t next = 0; next < n; ++next)
    for (std::size_t now = 0; now < n; ++now)
      for (std::size_t u = 0; u < controls; ++u) {
        double& count = counts[(next * n + now) * controls + u];
        if (controls == 1)
          count = next == now ? kStays : 1.0;
        else
          count = next == u ? kObeys : next == now ? kStuck : kElse;
      }
  return counts;
}

inference::Policies hold_policies(const Setup& setup) {
  inference::Policies policies;
  policies.length = setup.horizon;
  policies.factors = setup.services.size() + setup.knobs.size();
  policies.count = 1;
  for (const auto& knob : setup.knobs) policies.count *= knob.levels;
  for (std::size_t p = 0; p < policies.count; ++p) {
    std::vector<std::uint16_t> levels(setup.knobs.size());
    auto rest = p;
    for (std::size_t k = setup.knobs.size(); k-- > 0;) {
      levels[k] = static_cast<std::uint16_t>(rest % setup.knobs[k].levels);
      rest /= setup.knobs[k].levels;
    }
    for (std::size_t t = 0; t < setup.horizon; ++t) {
      policies.controls.insert(policies.controls.end(), setup.services.size(), 0);
      policies.controls.insert(policies.controls.end(), levels.begin(), levels.end());
    }
  }
  return policies;
}

void add_factor(Model& model, std::size_t states, std::size_t controls) {
  const auto f = model.shape.states.size();
  model.shape.states.push_back(states);
  model.shape.controls.push_back(controls);
  model.shape.drivers.push_back({f});
  model.b_counts.push_back(transition_prior(states, controls));
  model.d.emplace_back(states, 1.0 / static_cast<double>(states));
}

void add_modality(Model& model, std::vector<std::size_t> sees, std::size_t outcomes, Table counts,
                  std::size_t horizon) {
  model.shape.outcomes.push_back(outcomes);
  model.shape.sees.push_back(std::move(sees));
  model.a_counts.push_back(std::move(counts));
  model.a.emplace_back();
  model.c.emplace_back(outcomes * horizon, 0.0);
}

}  // namespace

Model make_model(const Setup& setup) {
  Model model;
  const auto loads = setup.services.size();
  for (const auto& service : setup.services) add_factor(model, service.load_bins, 1);
  for (const auto& knob : setup.knobs) add_factor(model, knob.levels, knob.levels);
  for (const auto& objective : setup.objectives) {
    std::vector<std::size_t> sees{objective.service};
    for (std::size_t k = 0; k < setup.knobs.size(); ++k)
      if (std::ranges::find(setup.knobs[k].services, objective.service) != setup.knobs[k].services.end())
        sees.push_back(loads + k);
    auto counts = objective_prior(model, loads, sees, setup.prior_strength);
    add_modality(model, std::move(sees), kObjectiveOutcomes, std::move(counts), setup.horizon);
  }
  std::vector<std::size_t> all;
  for (std::size_t f = 0; f < model.shape.factors(); ++f) all.push_back(f);
  auto power = power_prior(model, loads, all, setup.power_w.size(), setup.prior_strength);
  add_modality(model, all, setup.power_w.size(), std::move(power), setup.horizon);
  for (std::size_t f = 0; f < model.shape.factors(); ++f) {
    const auto n = model.shape.states[f];
    add_modality(model, {f}, n, identity(n), setup.horizon);
  }
  model.b.resize(model.shape.factors());
  model.policies = hold_policies(setup);
  return model;
}

double nats_per_gram(const Setup& setup) {
  double strongest = 0;
  for (const auto& objective : setup.objectives)
    strongest = std::max(strongest, std::abs(inference::violation_preference(objective.accepted)));
  return strongest / setup.grams_per_violation;
}

Table objective_preferences(const ObjectiveSetup& objective, double scale, std::size_t horizon) {
  const double violated = scale * inference::violation_preference(objective.accepted);
  Table c(kObjectiveOutcomes * horizon, 0.0);
  for (std::size_t t = 0; t < horizon; ++t) {
    c[kClose * horizon + t] = kCloseShare * violated;
    c[kViolated * horizon + t] = violated;
  }
  return c;
}

Table carbon_preferences_of(const Setup& setup, const Senses& senses) {
  if (!senses.ci_g_per_kwh) return Table(setup.power_w.size() * setup.horizon, 0.0);
  std::vector<double> grams;
  for (const double watts : setup.power_w)
    grams.push_back(watts * setup.period_s / kJoulesPerKwh * *senses.ci_g_per_kwh);
  std::vector<double> ahead(setup.horizon, 1.0);
  for (std::size_t t = 0; t < std::min(ahead.size(), senses.ci_ahead.size()); ++t)
    ahead[t] = senses.ci_ahead[t];
  return inference::carbon_preferences(grams, nats_per_gram(setup), ahead);
}

}  // namespace tidewatt::continuum
