// Keeps, or waits for, the Lease.
#pragma once

#include <mutex>
#include <string>

#include "kube_api.h"
#include "tidewatt/base/clock.h"
#include "tidewatt/base/rng.h"
#include "tidewatt/k8s/lease.h"

namespace tidewatt::cli {

inline constexpr const char* kLeaseName = "tidewatt-controller";

class Leader {
 public:
  Leader(const KubeAccess& access, k8s::LeaseElection election, Clock& clock, const StopFlag& stop,
         Rng& random);
  /// Until it is asked to stop.
  void run();
  /// Gives the Lease back, so that another replica needn't wait. Nothing may be written after.
  void release();
  /// A write of `KubeApi` that is begun now ends before anybody else may lead.
  [[nodiscard]] bool may_write() const;

 private:
  void tick();
  Status try_tick();
  [[nodiscard]] std::string path() const;
  [[nodiscard]] std::string collection() const;

  KubeApi api_;
  Clock& clock_;
  const StopFlag& stop_;
  Rng& random_;
  mutable std::mutex mutex_;
  k8s::LeaseElection election_;
  bool led_ = false;
  bool failing_ = false;
  std::string other_;
};

}  // namespace tidewatt::cli
