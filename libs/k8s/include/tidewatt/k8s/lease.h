// One leader among replicas, by a Lease of coordination.k8s.io/v1. No two clocks are compared: a candidate
// counts from when it saw the holder's last sign of life, the leader from before it gave that sign.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tidewatt/units/time.h"

namespace tidewatt::k8s {

struct LeaseRecord {
  std::string holder;  ///< empty: given back
  std::int64_t duration_s = 0;
  UtcTime acquired, renewed;
  std::int64_t transitions = 0;
  std::string resource_version;  ///< of what was read: writing compares it
};

struct LeaseTimes {
  std::chrono::seconds duration{15};  ///< after so long without a sign another may lead
  Milliseconds renew_every{4'000};
  /// From when a write is begun until it can't have an effect any more, with a margin.
  Milliseconds write_takes{5'000};
};

class LeaseElection {
 public:
  /// @param identity  of this process alone, also among those of its name that came before
  LeaseElection(std::string identity, LeaseTimes times);

  /// What to write, given what an API server says now. Writing is create where nothing is there, else an
  /// update that compares resource_version.
  /// @param seen  nullopt: there is no such Lease
  /// @return nullopt: another one leads
  std::optional<LeaseRecord> to_write(const std::optional<LeaseRecord>& seen, SteadyTime mono, UtcTime now);
  /// The write went through. @param asked_at  before it was sent
  void written(SteadyTime asked_at);
  /// Another one was first, or leads.
  void lost();
  /// What gives the lease back; nullopt = it isn't ours.
  [[nodiscard]] std::optional<LeaseRecord> to_release(const std::optional<LeaseRecord>& seen,
                                                      UtcTime now) const;

  /// A write that is begun now ends before anybody else may lead.
  [[nodiscard]] bool may_write(SteadyTime mono) const;
  [[nodiscard]] const std::string& identity() const { return identity_; }
  [[nodiscard]] const LeaseTimes& times() const { return times_; }
  /// Who holds it, as last seen.
  [[nodiscard]] const std::string& seen_holder() const { return seen_holder_; }

 private:
  std::string identity_;
  LeaseTimes times_;
  std::optional<SteadyTime> ours_since_;  ///< before the last renewal was sent
  std::string seen_version_;
  std::string seen_holder_;
  SteadyTime seen_at_;
};

}  // namespace tidewatt::k8s
