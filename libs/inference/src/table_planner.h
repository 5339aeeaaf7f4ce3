// Scores policies whose beliefs are a product over factors. What a factor believes at a step depends on the
// controls of few factors, and what a group of outcomes tells on few factors: both are worked out once per
// distinct case.
#pragma once

#include <memory>

#include "marginals.h"
#include "outcome_group.h"
#include "score_table.h"
#include "transition.h"

namespace tidewatt::inference {

/// The distinct cases; made once from the policies, shared by agents of the same model.
struct TablePlan {
  struct FactorStep {  ///< the distinct beliefs about one factor at one step
    std::size_t count = 0;
    std::vector<std::uint32_t> control;  ///< [case]
    std::vector<std::uint32_t> drivers;  ///< [case][driver]: its case one step before
    std::size_t first_part = 0;          ///< where its scores (information about B) begin
    std::size_t first_value = 0;         ///< where its distributions begin
  };
  struct GroupStep {  ///< the distinct predictions of one group at one step
    std::size_t count = 0;
    std::vector<std::uint32_t> cases;  ///< [entry][factor of the group], sorted
    std::size_t first_part = 0;
  };
  std::vector<std::vector<FactorStep>> factors;  ///< [step][factor]
  std::vector<std::vector<GroupStep>> groups;    ///< [step][group]
  std::size_t values = 0;
  std::size_t parts = 0;
  std::size_t per_policy = 0;
  std::vector<std::uint32_t> policy_parts;
};

class TablePlanner {
 public:
  TablePlanner(const Model& model, const Options& options);

  void model_changed_a(const Model& model, std::size_t m);
  void model_changed_b(const Model& model, std::size_t f);
  void preferences_changed(const Model& model);
  /// Scores every part from the beliefs `now`. No allocation.
  void evaluate(const Marginals& now, const Options& options);
  [[nodiscard]] const ScoreTable& scores() const { return scores_; }
  [[nodiscard]] const std::vector<OutcomeGroup>& groups() const { return groups_; }

 private:
  void predict(const Marginals& now);
  void predict_alone(const Marginals& now, std::size_t step, std::size_t f);
  void weigh_group(std::size_t step, std::size_t g);
  void weigh_fast(const double* rows, const OutcomeGroup& group, std::size_t step, std::size_t part);
  void weigh_slowly(const OutcomeGroup& group, std::size_t step, std::span<const double* const> beliefs,
                    std::size_t part);
  [[nodiscard]] const double* driver_belief(const Marginals& now, std::size_t step, std::size_t factor,
                                            std::size_t which) const;
  [[nodiscard]] const double* belief(std::size_t step, std::size_t factor, std::size_t which) const;

  Mode mode_;
  std::vector<std::size_t> states_;
  std::vector<std::vector<std::size_t>> drivers_;
  std::vector<Table> log_c_;
  std::vector<OutcomeGroup> groups_;
  std::vector<Transition> transitions_;
  std::shared_ptr<const TablePlan> plan_;
  ScoreTable scores_;
  std::vector<double> values_;    ///< predicted distributions
  std::vector<double> smallest_;  ///< of each, the smallest probability above 0; compat only
  std::vector<double> scratch_, weights_;
  std::vector<double> path_;  ///< partial contractions, one per level
  std::vector<std::vector<std::size_t>> path_offsets_;
};

}  // namespace tidewatt::inference
