// Beliefs as a product over factors: the compat mode's iteration, and coordinate descent.
#pragma once

#include <cstddef>
#include <vector>

#include "evidence.h"
#include "marginals.h"

namespace tidewatt::inference {

class FactorInference {
 public:
  explicit FactorInference(const Shape& shape, std::size_t most_iterations);

  /// One factor: Bayes' rule. Several: all at once, again and again, until the free energy settles.
  void fixed_point(const Evidence& evidence, const Marginals& prior, const Options& options, Marginals& q);
  /// One factor after the other until the free energy, which never rises, falls by less than 1e-9.
  void descend(const Evidence& evidence, const Marginals& prior, Marginals& q);

  [[nodiscard]] std::span<const double> trace() const { return {trace_.data(), traced_}; }
  [[nodiscard]] std::size_t iterations() const { return traced_ == 0 ? 0 : traced_ - 1; }
  [[nodiscard]] double free_energy() const { return trace_[traced_ - 1]; }

 private:
  /// Fills messages_ with what the evidence says to each factor given the beliefs about the others.
  /// @return the expected log likelihood under q
  double listen(const Evidence& evidence, const Marginals& q);
  void listen_to(const Evidence& evidence, const Marginals& q, std::size_t factor);
  /// sum over factors of q ln q - q ln prior
  double divergence(const Marginals& q, double guard);
  void note(double free_energy);

  struct Seen {
    std::vector<std::size_t> factors;
    std::vector<std::uint16_t> states;  ///< [combination][factor]
    std::size_t combinations = 0;
  };
  std::vector<Seen> seen_;
  Marginals log_prior_, messages_, scratch_;
  std::vector<double> trace_;
  std::size_t traced_ = 0;
};

}  // namespace tidewatt::inference
