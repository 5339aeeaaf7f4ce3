#include "outcome_group.h"

#include <algorithm>
#include <array>

#include "kernels.h"
#include "tables.h"
#include "tidewatt/inference/dirichlet.h"
#include "tidewatt/inference/numerics.h"

namespace tidewatt::inference {
namespace {

void lay_out(OutcomeGroup& group, const Model& model, Mode mode) {
  group.states = 1;
  group.sizes.clear();
  for (const auto f : group.factors) {
    group.sizes.push_back(model.shape.states[f]);
    group.states *= model.shape.states[f];
  }
  group.outcomes = 1;
  group.utility_rows = 1;
  for (const auto m : group.modalities) {
    group.outcomes *= model.shape.outcomes[m];
    if (model.c[m].size() != model.shape.outcomes[m]) group.utility_rows = model.policies.length;
  }
  group.ambiguity = group.outcomes;
  group.utility = group.ambiguity + 1;
  group.novelty = group.utility + group.utility_rows;
  group.novelty_rows = model.a_counts.empty() ? 0 : mode == Mode::compat ? group.outcomes : 1;
  group.rows = padded(group.novelty + group.novelty_rows);
  group.table.assign(group.states * group.rows + kPadding, 0.0);
}

std::vector<std::size_t> joined(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
  auto both = a;
  for (const auto f : b)
    if (std::find(both.begin(), both.end(), f) == both.end()) both.push_back(f);
  return both;
}

bool share(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](std::size_t f) { return std::find(b.begin(), b.end(), f) != b.end(); });
}

std::size_t table_size(const Shape& shape, const std::vector<std::size_t>& modalities,
                       const std::vector<std::size_t>& factors) {
  std::size_t size = 1;
  for (const auto m : modalities) size = saturating_product(size, shape.outcomes[m]);
  for (const auto f : factors) size = saturating_product(size, shape.states[f]);
  return size;
}

}  // namespace

std::vector<Table> log_preferences(const Model& model, Mode mode) {
  std::vector<Table> logs;
  for (std::size_t m = 0; m < model.shape.modalities(); ++m) {
    const std::size_t outcomes = model.shape.outcomes[m];
    const std::size_t columns = model.c[m].size() / outcomes;
    Table log(model.c[m].size());
    std::vector<double> column(outcomes);
    for (std::size_t k = 0; k < columns; ++k) {
      for (std::size_t o = 0; o < outcomes; ++o) column[o] = model.c[m][o * columns + k];
      const double offset = log_sum_exp(column);
      if (mode == Mode::compat) softmax_in_place(column.data(), outcomes);
      for (std::size_t o = 0; o < outcomes; ++o)
        log[o * columns + k] =
            mode == Mode::compat ? ln(column[o] + kGuard) : model.c[m][o * columns + k] - offset;
    }
    logs.push_back(std::move(log));
  }
  return logs;
}

std::vector<OutcomeGroup> make_groups(const Model& model, const Options& options, bool join_outcomes) {
  const auto& shape = model.shape;
  std::vector<OutcomeGroup> groups;
  for (std::size_t m = 0; m < shape.modalities(); ++m) {
    OutcomeGroup group;
    group.modalities = {m};
    group.factors = shape.sees[m];
    groups.push_back(std::move(group));
  }
  // Information about a state is counted once only when the outcomes that tell about it are weighed jointly.
  for (bool merged = join_outcomes; merged;) {
    merged = false;
    for (std::size_t i = 0; i < groups.size() && !merged; ++i)
      for (std::size_t k = i + 1; k < groups.size() && !merged; ++k) {
        if (!share(groups[i].factors, groups[k].factors)) continue;
        auto modalities = joined(groups[i].modalities, groups[k].modalities);
        auto factors = joined(groups[i].factors, groups[k].factors);
        if (table_size(shape, modalities, factors) > options.outcome_table_limit) continue;
        groups[i].modalities = std::move(modalities);
        groups[i].factors = std::move(factors);
        groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(k));
        merged = true;
      }
  }
  for (auto& group : groups) lay_out(group, model, options.mode);
  return groups;
}

void fill_group(OutcomeGroup& group, const Model& model, const std::vector<Table>& log_c, Mode mode) {
  const auto& shape = model.shape;
  std::array<std::size_t, kMostFactors> state{};
  std::array<std::size_t, kMostFactors> of_factor{};
  for (std::size_t j = 0; j < group.states; ++j) {
    split_index(j, group.sizes, state);
    for (std::size_t i = 0; i < group.factors.size(); ++i) of_factor[group.factors[i]] = state[i];
    double* slab = group.table.data() + j * group.rows;
    std::fill(slab, slab + group.rows, 0.0);
    slab[0] = 1;
    std::size_t filled = 1;
    for (const auto m : group.modalities) {
      const std::size_t outcomes = shape.outcomes[m];
      const std::size_t columns = shape.seen_states(m);
      std::size_t column = 0;
      for (const auto f : shape.sees[m]) column = column * shape.states[f] + of_factor[f];
      const double* a = model.a[m].data() + column;
      // outer product, from behind so that nothing is overwritten before it is used
      for (std::size_t i = filled; i-- > 0;)
        for (std::size_t o = outcomes; o-- > 0;) slab[i * outcomes + o] = slab[i] * a[o * columns];
      filled *= outcomes;
    }
    for (const auto m : group.modalities) {
      const std::size_t outcomes = shape.outcomes[m];
      const std::size_t columns = shape.seen_states(m);
      std::size_t column = 0;
      for (const auto f : shape.sees[m]) column = column * shape.states[f] + of_factor[f];
      const double* a = model.a[m].data() + column;
      const std::size_t steps = log_c[m].size() / outcomes;
      double a0 = 0;
      if (group.novelty_rows != 0)
        for (std::size_t o = 0; o < outcomes; ++o)
          a0 += model.a_counts[m][o * columns + column] + (mode == Mode::compat ? kGuard : 0);
      for (std::size_t o = 0; o < outcomes; ++o) {
        const double p = a[o * columns];
        slab[group.ambiguity] += p * ln(p + (mode == Mode::compat ? kSupport : kTiny));
        for (std::size_t k = 0; k < group.utility_rows; ++k)
          slab[group.utility + k] += p * log_c[m][o * steps + (steps > 1 ? k : 0)];
        if (group.novelty_rows == 0) continue;
        const double count = model.a_counts[m][o * columns + column];
        if (count <= 0) continue;
        if (mode == Mode::compat)
          slab[group.novelty + o] = compat_novelty_weight(count, a0);
        else
          slab[group.novelty] += p * information_of_one_more(count, a0);
      }
    }
  }
}

}  // namespace tidewatt::inference
