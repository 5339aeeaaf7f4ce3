#include "tidewatt/inference/preferences.h"

#include "tidewatt/inference/numerics.h"

namespace tidewatt::inference {

double violation_preference(double accepted_probability) {
  return ln(accepted_probability) - ln(1 - accepted_probability);
}

std::vector<double> carbon_preferences(std::span<const double> level_grams, double nats_per_gram,
                                       std::span<const double> forecast) {
  std::vector<double> c;
  for (const double grams : level_grams)
    for (const double relative : forecast) c.push_back(-nats_per_gram * grams * relative);
  return c;
}

double grams_per_violation(double accepted_probability, double nats_per_gram) {
  return -violation_preference(accepted_probability) / nats_per_gram;
}

}  // namespace tidewatt::inference
