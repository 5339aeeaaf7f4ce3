// A run of a model file, step by step: the one way in which files, records and replays take decisions.
#pragma once

#include <optional>
#include <vector>

#include "tidewatt/inference/chance.h"
#include "tidewatt/inference/choice.h"
#include "tidewatt/model_file/run_file.h"

namespace tidewatt::model_file {

class Session {
 public:
  explicit Session(const RunFile& file) : agent_(file.model, file.options), chooser_(file.options.seed) {
    if (!file.constraints.empty()) mask_.emplace(agent_.model(), file.constraints);
    masked_.assign(agent_.action_count(), 0.0);
  }
  void begin_episode() { agent_.begin_episode(); }
  void end_episode() { agent_.end_episode(); }
  void observe(const Step& step) { agent_.observe(step.observations()); }
  void learn() { agent_.learn(); }
  void plan() {
    agent_.plan();
    if (mask_) {
      mask_->evaluate(agent_);
      mask_->masked_actions(agent_, masked_);
    } else {
      const auto p = agent_.action_probabilities();
      masked_.assign(p.begin(), p.end());
    }
  }
  /// The recorded action, or the one chosen among those allowed. @return one control per factor
  std::vector<std::size_t> act(const Step& step) {
    std::vector<std::size_t> action;
    if (step.action) {
      action = *step.action;
    } else {
      const auto allowed = mask_ ? mask_->allowed_actions() : std::span<const std::uint8_t>{};
      const auto chosen = agent_.action(chooser_.choose(masked_, allowed).action);
      action.assign(chosen.begin(), chosen.end());
    }
    agent_.act(action);
    return action;
  }
  [[nodiscard]] const inference::Agent& agent() const { return agent_; }
  [[nodiscard]] const std::optional<inference::ChanceMask>& mask() const { return mask_; }
  /// Probability of each first action, within the mask.
  [[nodiscard]] const std::vector<double>& action_probabilities() const { return masked_; }

 private:
  inference::Agent agent_;
  inference::Chooser chooser_;
  std::optional<inference::ChanceMask> mask_;
  std::vector<double> masked_;
};

}  // namespace tidewatt::model_file
