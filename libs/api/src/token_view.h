// Tokens per joule of task groups: tokens and energy over the same whole hours, all of them over.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core.h"
#include "energy_view.h"
#include "tidewatt/ledger/reports.h"

namespace tidewatt::api {

/// Usage is taken so long after it was, and for so long the ids of requests are remembered.
inline constexpr Milliseconds kOldestUsage = std::chrono::hours{24 * 7};

class TokenView {
 public:
  /// Of the range, the hours that are over. An hour that still runs has tokens whose energy isn't booked yet.
  static Result<TokenView> load(Core& core, const Call& call, const TimeRange& range);

  /// tokens_per_joule, joules_per_output_token, each with the reason where there is none, and what they are
  /// made of.
  [[nodiscard]] Result<Json> group_json(Core& core, const std::string& cluster,
                                        const std::string& group) const;

 private:
  using Group = std::pair<std::string, std::string>;  ///< cluster, group id
  struct Use {
    std::optional<ledger::Tokens> tokens;  ///< of the hours that are over
    bool in_running_hour = false;
    std::vector<std::string> tasks;
    bool others = false;  ///< some of its tasks the caller may not see
  };

  UtcHour from_{};
  UtcHour to_{};
  std::map<Group, Use> groups_;
};

}  // namespace tidewatt::api
