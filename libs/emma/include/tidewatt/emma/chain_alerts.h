// Tells people and Alertmanager when a zone's chain is degraded, and when it is well again.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tidewatt/base/clock.h"
#include "tidewatt/carbon/signals.h"
#include "tidewatt/emma/emma.h"

namespace tidewatt::emma {

struct AlertTargets {
  std::string webhook_url;       ///< takes {"text": ...}, as Slack's do; empty = none
  std::string alertmanager_url;  ///< its base, like http://127.0.0.1:9093; empty = none
};

/// One thread calls look(); it blocks for the exchanges.
class ChainAlerts {
 public:
  /// A step that is back before this was no degradation worth a message.
  static constexpr Milliseconds kPatience{120'000};
  /// Alertmanager forgets what isn't repeated; a message that failed is tried again as often.
  static constexpr Milliseconds kRepeat{60'000};

  /// @param clock  outlives this
  ChainAlerts(AlertTargets targets, HttpFactory http, const Clock& clock);

  void look(const std::vector<carbon::ZoneStatus>& zones);

 private:
  struct Zone {
    std::optional<UtcTime> since;  ///< degraded; nullopt = well
    std::string reason;
    bool off = false;
    bool told = false;  ///< the webhook knows
    bool raised = false;
    std::optional<SteadyTime> webhook_tried;
    std::optional<SteadyTime> alertmanager_tried;
  };
  void tell_webhook(const std::string& name, Zone& zone);
  void tell_alertmanager(const std::string& name, Zone& zone);
  bool post(const std::string& url, const std::string& body, const char* target);

  AlertTargets targets_;
  HttpFactory http_;
  const Clock& clock_;
  std::map<std::string, Zone> zones_;
  std::map<std::string, bool> failing_;  ///< by target: logged when it changes
};

}  // namespace tidewatt::emma
