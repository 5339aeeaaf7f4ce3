// Follows one collection: list, then watch from there, and again from the list when the server has forgotten
// where we were.
#pragma once

#include <optional>
#include <string>

#include "held_cache.h"
#include "kube_objects.h"
#include "tidewatt/base/rng.h"

namespace tidewatt::cli {

class Watcher {
 public:
  Watcher(KubeAccess access, Collection collection, HeldCache& cache, std::size_t part, const StopFlag& stop,
          Rng& random);
  /// Until it is asked to stop.
  void run();

 private:
  tl::expected<std::string, KubeFailure> list();
  /// From `version_` on. @return nullopt: ended as it should, or the place is forgotten (version_ is empty
  /// then)
  std::optional<KubeFailure> follow();
  bool take_line(std::string_view line, std::optional<KubeFailure>& failure);
  void pause(const KubeFailure& failure);

  KubeApi api_;
  Collection collection_;
  HeldCache& cache_;
  std::size_t part_;
  const StopFlag& stop_;
  Rng& random_;
  std::string version_;
  unsigned failures_ = 0;  ///< in a row
  unsigned restarts_ = 0;  ///< lists in a row after which no event came
};

/// Sleeps, but not beyond a stop.
void pause_for(Milliseconds length, const StopFlag& stop);

}  // namespace tidewatt::cli
