// Scores policies from the joint belief: nothing is taken for independent that is not.
#pragma once

#include <array>

#include "joint_space.h"
#include "outcome_group.h"
#include "score_table.h"

namespace tidewatt::inference {

class JointPlanner {
 public:
  JointPlanner(const Model& model, const Options& options, const JointSpace& space);

  void model_changed_a(const Model& model, std::size_t m);
  void model_changed_b(const Model& model, std::size_t f);
  void preferences_changed(const Model& model);
  void evaluate(const JointSpace& space, std::span<const double> now, const Model& model,
                const Options& options);
  [[nodiscard]] const ScoreTable& scores() const { return scores_; }
  [[nodiscard]] std::span<const Transition> transitions() const { return transitions_; }

 private:
  /// One component's move in the walk over all distinct beginnings of policies, sorted so that a move starts
  /// from the latest result one level up.
  struct Move {
    std::uint32_t level = 0;   ///< step * components + place of the component
    std::uint32_t policy = 0;  ///< one that begins so
    std::uint32_t part = 0;    ///< of the score table, when the step is complete
    bool completes = false;
  };
  static constexpr std::size_t kBatch = 4;
  void make_moves(const Model& model, const JointSpace& space);
  void weigh(const double* before, const double* after, const Move& move, const Model& model);
  /// Outcomes of the predictions that wait, several at once: the tables are large.
  void weigh_waiting();

  Mode mode_;
  std::vector<Table> log_c_;
  std::vector<OutcomeGroup> groups_;
  std::vector<std::vector<std::uint32_t>> seen_;    ///< [group][joint state]: combination
  std::vector<std::vector<std::uint32_t>> driven_;  ///< [factor][joint state]: combination of its drivers
  bool overlapping_ = false;  ///< groups share factors: their information may be counted twice
  std::vector<Transition> transitions_;
  std::vector<std::size_t> order_;  ///< of components
  std::vector<Move> moves_;
  ScoreTable scores_;
  std::vector<double> levels_, column_;
  std::vector<std::vector<double>> marginals_, rows_;  ///< [waiting prediction]
  std::array<Move, kBatch> waiting_{};
  std::array<double, kBatch> most_{};  ///< that each could tell at most
  std::size_t many_ = 0;
};

}  // namespace tidewatt::inference
