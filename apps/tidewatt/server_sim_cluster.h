// A cluster that doesn't exist, as beats: every reading is of quality `simulated`.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tidewatt/base/clock.h"
#include "tidewatt/metering/beat.h"
#include "tidewatt/sensors/source.h"

namespace tidewatt::cli {

/// Time as the simulated nodes see it: set by whoever plays it.
class PlayedClock final : public Clock {
 public:
  explicit PlayedClock(UtcTime start) : at_(start) {}
  [[nodiscard]] UtcTime utc_now() const override { return at_; }
  [[nodiscard]] SteadyTime mono_now() const override { return SteadyTime{at_.time_since_epoch()}; }
  void set(UtcTime at) { at_ = at; }

 private:
  UtcTime at_;
};

struct SimTask {
  std::string task_id;
  std::string team;
  std::string kind;
  std::string group_id;
  UtcTime at{};  ///< started or finished
};

class SimCluster {
 public:
  /// @param run_id differs from run to run: identifies its agents and boots
  SimCluster(int nodes, const std::string& run_id, UtcTime start);

  /// One beat per node at this time. Times ascend.
  std::vector<Beat> beats(UtcTime at);
  /// Tasks that began to hold a device, or no longer do, since the last call.
  std::vector<SimTask> take_started();
  std::vector<SimTask> take_finished();

 private:
  struct Node {
    std::string id;
    std::string zone;
    std::unique_ptr<sensors::Source> source;
    std::uint64_t seq = 0;
  };
  void follow_tasks(const std::set<std::string>& holders, UtcTime at);

  PlayedClock clock_;
  std::string run_id_;
  std::vector<Node> nodes_;
  std::map<std::string, SimTask> running_;
  std::vector<SimTask> started_;
  std::vector<SimTask> finished_;
};

}  // namespace tidewatt::cli
