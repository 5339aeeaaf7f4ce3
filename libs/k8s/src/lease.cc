#include "tidewatt/k8s/lease.h"

#include <algorithm>
#include <utility>

namespace tidewatt::k8s {
namespace {
/// What a foreign record may make us wait at most.
constexpr std::int64_t kLongestLease_s = 3600;
}  // namespace

LeaseElection::LeaseElection(std::string identity, LeaseTimes times)
    : identity_(std::move(identity)), times_(times) {}

std::optional<LeaseRecord> LeaseElection::to_write(const std::optional<LeaseRecord>& seen, SteadyTime mono,
                                                   UtcTime now) {
  LeaseRecord record{identity_, times_.duration.count(), now, now, 0, {}};
  if (!seen) {
    seen_holder_.clear();
    ours_since_.reset();
    return record;
  }
  if (seen_version_ != seen->resource_version) {
    seen_version_ = seen->resource_version;
    seen_at_ = mono;
  }
  seen_holder_ = seen->holder;
  record.resource_version = seen->resource_version;
  record.transitions = seen->transitions;
  if (seen->holder == identity_) {
    record.acquired = seen->acquired;
    return record;
  }
  ours_since_.reset();
  const std::chrono::seconds theirs{
      std::clamp<std::int64_t>(seen->duration_s, times_.duration.count(), kLongestLease_s)};
  if (!seen->holder.empty() && mono < seen_at_ + theirs) return std::nullopt;
  ++record.transitions;
  return record;
}

void LeaseElection::written(SteadyTime asked_at) {
  ours_since_ = asked_at;
  seen_holder_ = identity_;
}

void LeaseElection::lost() { ours_since_.reset(); }

std::optional<LeaseRecord> LeaseElection::to_release(const std::optional<LeaseRecord>& seen,
                                                     UtcTime now) const {
  if (!seen || seen->holder != identity_) return std::nullopt;
  LeaseRecord record = *seen;
  record.holder.clear();
  record.renewed = now;
  record.duration_s = 1;
  return record;
}

bool LeaseElection::may_write(SteadyTime mono) const {
  return ours_since_ && mono + times_.write_takes < *ours_since_ + times_.duration;
}

}  // namespace tidewatt::k8s
