// What the Tidewatt server is asked, on a thread of its own: nothing that is held waits for its answers.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "../run/run_signal.h"
#include "../server_access.h"
#include "kube_api.h"
#include "tidewatt/base/clock.h"
#include "tidewatt/k8s_json/held.h"

namespace tidewatt::cli {

struct DeskOptions {
  ServerAccess server;
  std::string cluster = "default";
  Milliseconds refresh = std::chrono::minutes{5};  ///< of a signal
  Milliseconds retry = std::chrono::seconds{20};   ///< after a failure
  Milliseconds horizon = std::chrono::hours{96};   ///< as far as forecasts go
};

class ServerDesk {
 public:
  ServerDesk(DeskOptions options, Clock& clock, const StopFlag& stop, std::function<void()> on_news);
  void run();

  /// A zone's hours as last told, and when; asks for them from now on. nullopt: the server didn't answer
  /// lately.
  struct Signal {
    std::vector<runner::SignalSlot> slots;
    std::uint64_t serial = 0;  ///< another one after each refresh
  };
  std::optional<Signal> signal(const std::string& zone);
  /// What a pod used, as last told. nullopt: not asked yet, or no answer; asks again after `retry`.
  std::optional<k8s_json::Account> account(const std::string& pod_uid);
  void forget_account(const std::string& pod_uid);

 private:
  struct Zone {
    Signal signal;
    bool good = false;
    SteadyTime due;
  };
  struct Question {
    std::optional<k8s_json::Account> answer;
    SteadyTime due;
  };
  void ask_zone(const std::string& name);
  void ask_account(const std::string& uid);
  template <class Map>
  std::optional<std::string> due_in(const Map& map) const;

  DeskOptions options_;
  Clock& clock_;
  const StopFlag& stop_;
  std::function<void()> on_news_;
  mutable std::mutex mutex_;
  std::map<std::string, Zone> zones_;
  std::map<std::string, Question> questions_;
  std::uint64_t serial_ = 0;
};

}  // namespace tidewatt::cli
