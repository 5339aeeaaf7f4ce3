#pragma once

#include <memory>
#include <string>
#include <thread>

#include "tidewatt/agent/collector.h"
#include "tidewatt/agent/source_watch.h"
#include "tidewatt/base/clock.h"
#include "tidewatt/sensors/source.h"

namespace tidewatt::agent {

struct SourceStatus {
  std::string name;
  SourceWatch::State state = SourceWatch::State::starting;
  std::string trouble;
  std::uint64_t reads = 0;
  std::uint64_t failures = 0;
  std::size_t unknown_devices = 0;  ///< of those it told of
};

/// Reads one source on a thread of its own, so that one that hangs delays nobody.
class SourceRunner {
 public:
  /// @param clock  lives as long as the process: a thread that hangs at the end is left behind with it
  SourceRunner(std::unique_ptr<sensors::Source> source, SourceWatch watch,
               std::shared_ptr<Collector> collector, std::shared_ptr<const Clock> clock);
  /// Stops. A read under way gets a moment to end, then its thread is left behind.
  ~SourceRunner();
  SourceRunner(const SourceRunner&) = delete;
  SourceRunner& operator=(const SourceRunner&) = delete;

  void start();
  /// One read now, on the caller's thread: instead of start().
  void read_once();
  /// Before each beat: a source that hangs makes its devices unknown.
  void check();
  [[nodiscard]] SourceStatus status() const;

 private:
  struct Shared;
  static void run(const std::shared_ptr<Shared>& shared);
  static void read_one(Shared& shared);

  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace tidewatt::agent
