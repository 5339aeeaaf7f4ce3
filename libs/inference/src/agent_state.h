// What an agent remembers and works with; all of it is allocated when the agent is made.
#pragma once

#include <array>
#include <map>
#include <optional>

#include "evidence.h"
#include "factor_inference.h"
#include "joint_planner.h"
#include "joint_space.h"
#include "marginals.h"
#include "table_planner.h"
#include "tables.h"
#include "tidewatt/inference/agent.h"
#include "transition.h"

namespace tidewatt::inference {

struct Agent::State {
  State(Model sound, const Options& chosen);

  [[nodiscard]] const ScoreTable& scores() const {
    return joint_planner ? joint_planner->scores() : table_planner->scores();
  }
  void list_actions();
  void predict_factors();
  void predict_joint();
  void infer_joint();
  // learning.cc
  void learn_a();
  void learn_b();
  void learn_b_pairwise();
  void b_changed(std::size_t f);
  [[nodiscard]] bool learns_modality(std::size_t m) const {
    return options.learned_modalities.empty() || options.learned_modalities[m];
  }
  [[nodiscard]] bool learns_factor(std::size_t f) const {
    return options.learned_factors.empty() || options.learned_factors[f];
  }
  /// The belief about the states that modality m sees. [combination]
  std::span<const double> seen_belief(std::size_t m);

  Model model;
  Options options;
  std::vector<Table> a_start, b_start, d_start;  ///< counts before any learning: what forgetting goes back to
  Evidence evidence;
  FactorInference inference;
  Marginals prior, posterior, last, first;
  std::vector<Transition> transitions;  ///< where there is no joint belief
  std::vector<double> scratch, padded_belief;
  double free_energy = 0;
  bool contradicted = false;
  std::size_t steps = 0;
  bool acted = false;
  std::vector<std::size_t> taken;

  // the joint belief, where it is kept
  std::optional<JointSpace> space;
  std::vector<double> joint, joint_prior, joint_last, joint_spare;
  std::vector<std::vector<std::uint32_t>> seen,
      driven;  ///< [joint state]: combination of a modality's / factor's drivers'
  std::optional<JointPlanner> joint_planner;
  std::optional<TablePlanner> table_planner;

  std::vector<double> values, probabilities, log_e;
  std::vector<std::size_t> actions, action_of_policy;
  std::vector<double> action_probabilities;
  Marginals control_probabilities;
};

}  // namespace tidewatt::inference
