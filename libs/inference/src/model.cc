#include "tidewatt/inference/model.h"

#include <cmath>

#include "tables.h"

namespace tidewatt::inference {
namespace {

constexpr double kColumnTolerance = 1e-6;
constexpr std::size_t kMostStates = 65535;
constexpr std::size_t kMostNumbers = std::size_t{1} << 26;
constexpr double kLargestCount = 1e15;
constexpr double kLargestPreference = 1e6;

using Fault = std::optional<std::string>;

std::string number(double x) {
  // to_string has six decimals, which is enough to recognise the offender
  return std::isnan(x) ? "not a number" : std::isinf(x) ? "infinite" : std::to_string(x);
}

std::string name(const char* table, std::size_t index) {
  return std::string{table} + "[" + std::to_string(index) + "]";
}

Fault size_fault(const std::string& what, std::size_t got, std::size_t want) {
  if (got == want) return {};
  return what + " has " + std::to_string(got) + " entries, its shape asks for " + std::to_string(want);
}

/// Columns over the first axis: numbers >= 0 that add up to 1 (probabilities) or to more than 0 (counts).
Fault column_fault(const std::string& what, const Table& table, std::size_t rows, bool counts) {
  const std::size_t columns = table.size() / rows;
  for (std::size_t j = 0; j < columns; ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      const double x = table[i * columns + j];
      if (!(x >= 0) || x > kLargestCount)
        return what + " entry " + std::to_string(i * columns + j) + " is " + number(x) + ", not a " +
               (counts ? "count from 0 to 1e15" : "probability");
      sum += x;
    }
    if (counts ? !(sum > 0) : !(std::fabs(sum - 1) <= kColumnTolerance))
      return what + " column " + std::to_string(j) + " adds up to " + number(sum) +
             (counts ? ", not to more than 0" : ", not to 1");
  }
  return {};
}

Fault table_faults(const char* what, const std::vector<Table>& tables, std::size_t count, bool counts,
                   const std::vector<std::size_t>& rows, const std::vector<std::size_t>& sizes) {
  if (auto fault = size_fault(what, tables.size(), count)) return fault;
  for (std::size_t i = 0; i < count; ++i) {
    if (auto fault = size_fault(name(what, i), tables[i].size(), sizes[i])) return fault;
    if (auto fault = column_fault(name(what, i), tables[i], rows[i], counts)) return fault;
  }
  return {};
}

Fault list_fault(const std::string& what, const std::vector<std::size_t>& list, std::size_t factors) {
  if (list.empty()) return what + " is empty";
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] >= factors)
      return what + " names factor " + std::to_string(list[i]) + ", there are " + std::to_string(factors);
    for (std::size_t k = 0; k < i; ++k)
      if (list[k] == list[i]) return what + " names factor " + std::to_string(list[i]) + " twice";
  }
  return {};
}

Fault range_fault(const std::string& what, const std::vector<std::size_t>& sizes) {
  if (sizes.empty()) return what + " is empty";
  for (const auto n : sizes)
    if (n == 0 || n > kMostStates) return what + " has a " + std::to_string(n) + ", not 1 to 65535";
  return {};
}

Fault shape_fault(const Shape& shape) {
  if (auto fault = range_fault("num_obs", shape.outcomes)) return fault;
  if (auto fault = range_fault("num_states", shape.states)) return fault;
  if (auto fault = range_fault("num_controls", shape.controls)) return fault;
  if (shape.factors() > 64 || shape.modalities() > 256) return "more than 64 factors or 256 modalities";
  if (auto fault = size_fault("num_controls", shape.controls.size(), shape.factors())) return fault;
  if (auto fault = size_fault("A_factor_list", shape.sees.size(), shape.modalities())) return fault;
  if (auto fault = size_fault("B_factor_list", shape.drivers.size(), shape.factors())) return fault;
  std::size_t numbers = 0;
  const auto too_large = [&](std::size_t size) {
    numbers += size;
    return numbers > kMostNumbers;
  };
  for (std::size_t m = 0; m < shape.modalities(); ++m) {
    if (auto fault = list_fault(name("A_factor_list", m), shape.sees[m], shape.factors())) return fault;
    if (too_large(saturating_product(shape.outcomes[m], shape.seen_states(m))))
      return name("A", m) + " is too large";
  }
  for (std::size_t f = 0; f < shape.factors(); ++f) {
    if (auto fault = list_fault(name("B_factor_list", f), shape.drivers[f], shape.factors())) return fault;
    if (too_large(saturating_product(saturating_product(shape.states[f], shape.driver_states(f)),
                                     shape.controls[f])))
      return name("B", f) + " is too large";
  }
  return {};
}

Fault preference_fault(const Model& model) {
  const auto& shape = model.shape;
  if (auto fault = size_fault("C", model.c.size(), shape.modalities())) return fault;
  for (std::size_t m = 0; m < shape.modalities(); ++m) {
    const auto& c = model.c[m];
    if (c.size() != shape.outcomes[m] && c.size() != shape.outcomes[m] * model.policies.length)
      return name("C", m) + " has " + std::to_string(c.size()) +
             " entries, neither one per outcome nor one per outcome and step";
    for (const double x : c)
      if (!(std::fabs(x) <= kLargestPreference)) return name("C", m) + " has the preference " + number(x);
  }
  return {};
}

Fault policy_fault(const Model& model) {
  const auto& policies = model.policies;
  const auto& shape = model.shape;
  if (policies.count == 0 || policies.length == 0) return "there are no policies";
  if (policies.factors != shape.factors())
    return "policies have " + std::to_string(policies.factors) + " factors, the model has " +
           std::to_string(shape.factors());
  if (auto fault = size_fault("policies", policies.controls.size(),
                              policies.count * policies.length * policies.factors))
    return fault;
  for (std::size_t i = 0; i < policies.controls.size(); ++i)
    if (policies.controls[i] >= shape.controls[i % shape.factors()])
      return "policies use control " + std::to_string(policies.controls[i]) + " of factor " +
             std::to_string(i % shape.factors()) + ", which has " +
             std::to_string(shape.controls[i % shape.factors()]);
  if (!model.e.empty()) {
    if (auto fault = size_fault("E", model.e.size(), policies.count)) return fault;
    if (auto fault = column_fault("E", model.e, policies.count, false)) return fault;
  }
  return {};
}

Fault option_fault(const Model& model, const Options& options) {
  const auto positive = [](double x) { return x >= 0 && x <= 1e6; };
  if (!positive(options.gamma) || !positive(options.alpha)) return "gamma and alpha must be from 0 to 1e6";
  if (!positive(options.rate_a) || !positive(options.rate_b) || !positive(options.rate_d))
    return "learning rates must be from 0 to 1e6";
  if (!(options.memory > 0 && options.memory <= 1)) return "memory must be above 0 and at most 1";
  if (options.iterations > 100000) return "num_iter must be at most 100000";
  if (!std::isfinite(options.first_change) || !std::isfinite(options.least_change))
    return "dF and dF_tol must be numbers";
  if (options.learn_a && model.a_counts.empty()) return "learning A needs counts pA";
  if (options.learn_b && model.b_counts.empty()) return "learning B needs counts pB";
  if (options.learn_d && model.d_counts.empty()) return "learning D needs counts pD";
  if (!options.learned_modalities.empty() && options.learned_modalities.size() != model.shape.modalities())
    return "learned modalities don't fit the model";
  if (!options.learned_factors.empty() && options.learned_factors.size() != model.shape.factors())
    return "learned factors don't fit the model";
  return {};
}

}  // namespace

std::size_t Shape::seen_states(std::size_t m) const {
  std::size_t product = 1;
  for (const auto f : sees[m]) product = saturating_product(product, states[f]);
  return product;
}

std::size_t Shape::driver_states(std::size_t f) const {
  std::size_t product = 1;
  for (const auto g : drivers[f]) product = saturating_product(product, states[g]);
  return product;
}

std::optional<Policies> all_policies(const Shape& shape, std::size_t length, std::size_t limit) {
  Policies policies;
  policies.length = length;
  policies.factors = shape.factors();
  std::size_t count = 1;
  for (std::size_t t = 0; t < length; ++t)
    for (const auto n : shape.controls) {
      count = saturating_product(count, n);
      if (count > limit) return std::nullopt;
    }
  policies.count = count;
  const std::size_t digits = length * shape.factors();
  policies.controls.resize(count * digits);
  for (std::size_t p = 0; p < count; ++p) {
    std::size_t rest = p;
    for (std::size_t digit = digits; digit-- > 0;) {
      const std::size_t radix = shape.controls[digit % shape.factors()];
      policies.controls[p * digits + digit] = static_cast<std::uint16_t>(rest % radix);
      rest /= radix;
    }
  }
  return policies;
}

std::optional<std::string> find_fault(const Model& model, const Options& options) {
  const auto& shape = model.shape;
  if (auto fault = shape_fault(shape)) return fault;
  std::vector<std::size_t> a_sizes, b_sizes;
  for (std::size_t m = 0; m < shape.modalities(); ++m)
    a_sizes.push_back(shape.outcomes[m] * shape.seen_states(m));
  for (std::size_t f = 0; f < shape.factors(); ++f)
    b_sizes.push_back(shape.states[f] * shape.driver_states(f) * shape.controls[f]);
  const auto& factors = shape.states;
  if (model.a_counts.empty())
    if (auto fault = table_faults("A", model.a, shape.modalities(), false, shape.outcomes, a_sizes))
      return fault;
  if (model.b_counts.empty())
    if (auto fault = table_faults("B", model.b, shape.factors(), false, factors, b_sizes)) return fault;
  if (!model.d.empty())
    if (auto fault = table_faults("D", model.d, shape.factors(), false, factors, factors)) return fault;
  if (!model.a_counts.empty())
    if (auto fault = table_faults("pA", model.a_counts, shape.modalities(), true, shape.outcomes, a_sizes))
      return fault;
  if (!model.b_counts.empty())
    if (auto fault = table_faults("pB", model.b_counts, shape.factors(), true, factors, b_sizes))
      return fault;
  if (!model.d_counts.empty())
    if (auto fault = table_faults("pD", model.d_counts, shape.factors(), true, factors, factors))
      return fault;
  if (auto fault = policy_fault(model)) return fault;
  if (auto fault = preference_fault(model)) return fault;
  return option_fault(model, options);
}

}  // namespace tidewatt::inference
