#include "table_planner.h"

#include <algorithm>
#include <array>
#include <map>

#include "kernels.h"
#include "tables.h"

namespace tidewatt::inference {
namespace {

constexpr std::size_t kBatch = 4;
using Key = std::vector<std::uint32_t>;

/// Orders a group's factors so that contracting them one after the other costs least.
void order_factors(OutcomeGroup& group, const std::vector<std::size_t>& cases) {
  auto order = group.factors;
  std::sort(order.begin(), order.end());
  const auto cost = [&](const std::vector<std::size_t>& candidate) {
    double prefixes = 1;
    double size = static_cast<double>(group.states * group.rows);
    double sum = 0;
    for (const auto f : candidate) {
      prefixes *= static_cast<double>(cases[f]);
      sum += prefixes * size;
      const auto at = std::find(group.factors.begin(), group.factors.end(), f) - group.factors.begin();
      size /= static_cast<double>(group.sizes[static_cast<std::size_t>(at)]);
    }
    return sum;
  };
  auto best = order;
  if (order.size() <= 6) {
    double least = cost(best);
    do {
      if (const double c = cost(order); c < least) {
        least = c;
        best = order;
      }
    } while (std::next_permutation(order.begin(), order.end()));
  } else {
    std::stable_sort(best.begin(), best.end(),
                     [&](std::size_t a, std::size_t b) { return cases[a] < cases[b]; });
  }
  group.factors = std::move(best);
}

/// Numbers each distinct key in sorted order.
void number(std::map<Key, std::uint32_t>& keys) {
  std::uint32_t next = 0;
  for (auto& [key, id] : keys) id = next++;
}

class PlanMaker {
 public:
  PlanMaker(const Model& model, std::vector<OutcomeGroup>& groups, bool counts_b)
      : model_(model), groups_(groups), counts_b_(counts_b) {}

  TablePlan make() {
    const auto& policies = model_.policies;
    const std::size_t factors = model_.shape.factors();
    std::vector<std::uint32_t> now(policies.count * factors, 0);
    std::vector<std::vector<std::uint32_t>> by_step;
    for (std::size_t step = 0; step < policies.length; ++step) {
      plan_.factors.emplace_back();
      std::vector<std::uint32_t> next(now.size());
      for (std::size_t f = 0; f < factors; ++f) add_factor(step, f, now, next);
      now = next;
      by_step.push_back(std::move(next));
    }
    std::vector<std::size_t> cases;
    for (const auto& last : plan_.factors.back()) cases.push_back(last.count);
    for (auto& group : groups_) order_factors(group, cases);
    plan_.per_policy = policies.length * (groups_.size() + (counts_b_ ? factors : 0));
    plan_.policy_parts.resize(policies.count * plan_.per_policy);
    std::size_t column = 0;
    for (std::size_t step = 0; step < policies.length; ++step) {
      plan_.groups.emplace_back();
      for (std::size_t g = 0; g < groups_.size(); ++g) add_group(step, g, by_step[step], column++);
      for (std::size_t f = 0; counts_b_ && f < factors; ++f) {
        auto& factor = plan_.factors[step][f];
        factor.first_part = plan_.parts;
        for (std::size_t p = 0; p < policies.count; ++p)
          plan_.policy_parts[p * plan_.per_policy + column] =
              static_cast<std::uint32_t>(plan_.parts) + by_step[step][p * factors + f];
        plan_.parts += factor.count;
        ++column;
      }
    }
    return std::move(plan_);
  }

 private:
  void add_factor(std::size_t step, std::size_t f, const std::vector<std::uint32_t>& now,
                  std::vector<std::uint32_t>& next) {
    const auto& policies = model_.policies;
    const std::size_t factors = model_.shape.factors();
    std::map<Key, std::uint32_t> keys;
    const auto key_of = [&](std::size_t p) {
      Key key{static_cast<std::uint32_t>(policies.control(p, step, f))};
      for (const auto g : model_.shape.drivers[f]) key.push_back(now[p * factors + g]);
      return key;
    };
    for (std::size_t p = 0; p < policies.count; ++p) keys.emplace(key_of(p), 0);
    number(keys);
    for (std::size_t p = 0; p < policies.count; ++p) next[p * factors + f] = keys[key_of(p)];
    TablePlan::FactorStep one;
    one.count = keys.size();
    for (const auto& [key, id] : keys) {
      one.control.push_back(key[0]);
      one.drivers.insert(one.drivers.end(), key.begin() + 1, key.end());
    }
    one.first_value = plan_.values;
    plan_.values += one.count * padded(model_.shape.states[f]);
    plan_.factors[step].push_back(std::move(one));
  }

  void add_group(std::size_t step, std::size_t g, const std::vector<std::uint32_t>& cases,
                 std::size_t column) {
    const auto& policies = model_.policies;
    std::map<Key, std::uint32_t> keys;
    const auto key_of = [&](std::size_t p) {
      Key key;
      for (const auto f : groups_[g].factors) key.push_back(cases[p * model_.shape.factors() + f]);
      return key;
    };
    for (std::size_t p = 0; p < policies.count; ++p) keys.emplace(key_of(p), 0);
    number(keys);
    TablePlan::GroupStep one;
    one.count = keys.size();
    one.first_part = plan_.parts;
    for (const auto& [key, id] : keys) one.cases.insert(one.cases.end(), key.begin(), key.end());
    for (std::size_t p = 0; p < policies.count; ++p)
      plan_.policy_parts[p * plan_.per_policy + column] =
          static_cast<std::uint32_t>(plan_.parts) + keys[key_of(p)];
    plan_.parts += one.count;
    plan_.groups[step].push_back(std::move(one));
  }

  const Model& model_;
  std::vector<OutcomeGroup>& groups_;
  bool counts_b_;
  TablePlan plan_;
};

}  // namespace

TablePlanner::TablePlanner(const Model& model, const Options& options)
    : mode_(options.mode),
      states_(model.shape.states),
      drivers_(model.shape.drivers),
      log_c_(log_preferences(model, options.mode)),
      groups_(make_groups(model, options, options.mode == Mode::exact)) {
  plan_ = std::make_shared<const TablePlan>(PlanMaker(model, groups_, !model.b_counts.empty()).make());
  std::size_t largest = 1;
  for (std::size_t f = 0; f < states_.size(); ++f) {
    transitions_.push_back(make_transition(model, f, mode_));
    largest = std::max(largest, transitions_.back().driver_states * transitions_.back().width /
                                    transitions_.back().driver_sizes[0]);
  }
  std::size_t path = 0;
  for (auto& group : groups_) {
    group.sizes.clear();
    for (const auto f : group.factors) group.sizes.push_back(states_[f]);
    fill_group(group, model, log_c_, mode_);
    std::vector<std::size_t> offsets;
    std::size_t size = group.states * group.rows;
    std::size_t used = 0;
    for (const auto n : group.sizes) {
      size /= n;
      offsets.push_back(used);
      used += kBatch * size;
    }
    path = std::max(path, used);
    path_offsets_.push_back(std::move(offsets));
    largest = std::max(largest, group.rows);
  }
  path_.assign(path, 0.0);
  scratch_.assign(2 * largest, 0.0);
  weights_.assign(padded(*std::max_element(states_.begin(), states_.end())), 0.0);
  values_.assign(plan_->values, 0.0);
  if (mode_ == Mode::compat) {
    std::size_t cases = 0;
    for (const auto& step : plan_->factors)
      for (const auto& factor : step) cases += factor.count;
    smallest_.assign(cases, 0.0);
  }
  scores_.per_policy = plan_->per_policy;
  scores_.parts = plan_->policy_parts;
  scores_.resize(plan_->parts);
}

void TablePlanner::model_changed_a(const Model& model, std::size_t m) {
  for (auto& group : groups_)
    if (std::find(group.modalities.begin(), group.modalities.end(), m) != group.modalities.end())
      fill_group(group, model, log_c_, mode_);
}

void TablePlanner::model_changed_b(const Model& model, std::size_t f) {
  fill_transition(transitions_[f], model, f, mode_);
}

void TablePlanner::preferences_changed(const Model& model) {
  log_c_ = log_preferences(model, mode_);
  for (auto& group : groups_) fill_group(group, model, log_c_, mode_);
}

const double* TablePlanner::belief(std::size_t step, std::size_t factor, std::size_t which) const {
  return values_.data() + plan_->factors[step][factor].first_value + which * padded(states_[factor]);
}

const double* TablePlanner::driver_belief(const Marginals& now, std::size_t step, std::size_t factor,
                                          std::size_t which) const {
  return step == 0 ? now[factor].data() : belief(step - 1, factor, which);
}

/// A factor with one driver. Its cases are sorted by control, so those that use the same slab follow each
/// other.
void TablePlanner::predict_alone(const Marginals& now, std::size_t step, std::size_t f) {
  const auto& cases = plan_->factors[step][f];
  const auto& transition = transitions_[f];
  std::array<double*, kBatch> to{};
  std::array<const double*, kBatch> from{};
  for (std::size_t k = 0; k < cases.count;) {
    std::size_t many = 0;
    while (many < kBatch && k + many < cases.count && cases.control[k + many] == cases.control[k]) {
      to[many] = values_.data() + cases.first_value + (k + many) * transition.width;
      from[many] = driver_belief(now, step, drivers_[f][0], cases.drivers[k + many]);
      ++many;
    }
    combine_batch(to.data(), from.data(), many, transition.driver_states, transition.slab(cases.control[k]),
                  transition.width);
    k += many;
  }
}

void TablePlanner::predict(const Marginals& now) {
  std::array<const double*, kMostFactors> from{};
  std::size_t place = 0;
  for (std::size_t step = 0; step < plan_->factors.size(); ++step)
    for (std::size_t f = 0; f < states_.size(); ++f) {
      const auto& cases = plan_->factors[step][f];
      const auto& transition = transitions_[f];
      const std::size_t drivers = drivers_[f].size();
      if (drivers == 1) predict_alone(now, step, f);
      for (std::size_t k = 0; k < cases.count; ++k) {
        for (std::size_t i = 0; i < drivers; ++i)
          from[i] = driver_belief(now, step, drivers_[f][i], cases.drivers[k * drivers + i]);
        double* const next = values_.data() + cases.first_value + k * transition.width;
        if (drivers > 1)
          contract({next, transition.width}, {from.data(), drivers}, transition.driver_sizes,
                   transition.slab(cases.control[k]), transition.width, scratch_);
        if (mode_ == Mode::compat) {
          double least = 1;
          for (std::size_t s = 0; s < states_[f]; ++s)
            if (next[s] > 0 && next[s] < least) least = next[s];
          smallest_[place++] = least;
        }
        if (transition.novelty.empty()) continue;
        const std::size_t width = mode_ == Mode::compat ? transition.width : 1;
        double* const weights = weights_.data();
        contract({weights, width}, {from.data(), drivers}, transition.driver_sizes,
                 transition.novelty.data() + cases.control[k] * transition.driver_states * width, width,
                 scratch_);
        scores_.b_information[cases.first_part + k] =
            mode_ == Mode::compat ? -dot(next, weights, width) : weights[0];
      }
    }
}

void TablePlanner::weigh_fast(const double* rows, const OutcomeGroup& group, std::size_t step,
                              std::size_t part) {
  scores_.utility[part] = rows[group.utility_row(step)];
  const double gain =
      rows[group.ambiguity] - sum_x_ln_x(rows, group.outcomes, mode_ == Mode::compat ? kGuard : kTiny);
  // rounding alone takes an exact gain below 0
  scores_.state_information[part] = mode_ == Mode::exact && gain < 0 ? 0 : gain;
  if (group.novelty_rows == 0) return;
  scores_.a_information[part] =
      mode_ == Mode::compat ? -dot(rows, rows + group.novelty, group.outcomes) : rows[group.novelty];
}

/// Where a combination of states has a probability of at most kSupport (but not 0), compat leaves it out of
/// the information gain, yet not of the utility: no contraction gives both.
void TablePlanner::weigh_slowly(const OutcomeGroup& group, std::size_t step,
                                std::span<const double* const> beliefs, std::size_t part) {
  double* const rows = scratch_.data();
  double* const supported = rows + group.rows;
  std::fill(rows, supported + group.rows, 0.0);
  std::array<std::size_t, kMostFactors> state{};
  for (std::size_t j = 0; j < group.states; ++j) {
    split_index(j, group.sizes, state);
    double weight = 1;
    for (std::size_t i = 0; i < group.sizes.size() && weight != 0; ++i) weight *= beliefs[i][state[i]];
    if (weight == 0) continue;
    const double* const slab = group.table.data() + j * group.rows;
    for (std::size_t r = 0; r < group.rows; ++r) rows[r] += slab[r] * weight;
    if (weight > kSupport)
      for (std::size_t r = 0; r <= group.ambiguity; ++r) supported[r] += slab[r] * weight;
  }
  weigh_fast(rows, group, step, part);
  scores_.state_information[part] =
      supported[group.ambiguity] - sum_x_ln_x(supported, group.outcomes, kGuard);
}

void TablePlanner::weigh_group(std::size_t step, std::size_t g) {
  const auto& group = groups_[g];
  const auto& entries = plan_->groups[step][g];
  const std::size_t levels = group.factors.size();
  std::array<const double*, kMostFactors> beliefs{};
  std::array<const double*, kMostFactors> least{};
  std::size_t place = 0;
  if (mode_ == Mode::compat) {
    std::array<std::size_t, kMostFactors> first{};
    for (std::size_t t = 0; t <= step; ++t)
      for (std::size_t f = 0; f < states_.size(); ++f) {
        first[f] = place;
        place += plan_->factors[t][f].count;
      }
    for (std::size_t i = 0; i < levels; ++i) least[i] = smallest_.data() + first[group.factors[i]];
  }
  const std::uint32_t* done = nullptr;  // the entry whose partial contractions are in path_
  // entries that differ only in the last factor are contracted together
  std::array<const double*, kBatch> waiting{};
  std::array<double*, kBatch> rows{};
  std::array<std::size_t, kBatch> parts{};
  std::size_t many = 0;
  const auto flush = [&] {
    const double* const from = levels == 1 ? group.table.data() : path_.data() + path_offsets_[g][levels - 2];
    combine_batch(rows.data(), waiting.data(), many, group.sizes[levels - 1], from, group.rows);
    for (std::size_t i = 0; i < many; ++i) weigh_fast(rows[i], group, step, parts[i]);
    many = 0;
  };
  for (std::size_t k = 0; k < entries.count; ++k) {
    const std::uint32_t* const entry = entries.cases.data() + k * levels;
    if (many > 0 && !std::equal(entry, entry + levels - 1, done)) flush();
    double smallest = 1;
    for (std::size_t i = 0; i < levels; ++i) {
      beliefs[i] = belief(step, group.factors[i], entry[i]);
      if (mode_ == Mode::compat) smallest *= least[i][entry[i]];
    }
    if (mode_ == Mode::compat && smallest <= kSupport * 1.000001) {
      weigh_slowly(group, step, {beliefs.data(), levels}, entries.first_part + k);
      continue;
    }
    std::size_t level = 0;
    if (done != nullptr)
      while (level + 1 < levels && entry[level] == done[level]) ++level;
    std::size_t size = group.states * group.rows;
    for (std::size_t i = 0; i < level; ++i) size /= group.sizes[i];
    for (; level + 1 < levels; ++level) {
      size /= group.sizes[level];
      const double* const from = level == 0 ? group.table.data() : path_.data() + path_offsets_[g][level - 1];
      combine(path_.data() + path_offsets_[g][level], beliefs[level], group.sizes[level], from, size);
    }
    done = entry;
    waiting[many] = beliefs[levels - 1];
    rows[many] = path_.data() + path_offsets_[g][levels - 1] + many * group.rows;
    parts[many] = entries.first_part + k;
    ++many;
    if (many == kBatch) flush();
  }
  if (many > 0) flush();
}

void TablePlanner::evaluate(const Marginals& now, const Options& options) {
  predict(now);
  for (std::size_t step = 0; step < plan_->groups.size(); ++step)
    for (std::size_t g = 0; g < groups_.size(); ++g) weigh_group(step, g);
  scores_.add_up(options);
}

}  // namespace tidewatt::inference
