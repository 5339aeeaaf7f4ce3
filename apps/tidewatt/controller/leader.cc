#include "leader.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "tidewatt/base/log.h"
#include "tidewatt/k8s_json/held.h"
#include "watcher.h"

namespace tidewatt::cli {
namespace {

constexpr std::size_t kMostLeaseBytes = 1U << 20U;

Result<std::optional<k8s::LeaseRecord>> seen_of(const Result<net::Response>& answer) {
  if (!answer) return tl::unexpected(answer.error());
  if (answer->status == 404) return std::nullopt;
  if (answer->status != 200)
    return fail(ErrorCode::unavailable, k8s_json::status_message(answer->status, answer->body));
  TW_TRY(auto record, k8s_json::read_lease(answer->body));
  return std::optional{std::move(record)};
}

}  // namespace

Leader::Leader(const KubeAccess& access, k8s::LeaseElection election, Clock& clock, const StopFlag& stop,
               Rng& random)
    : api_(access, election.times().renew_every, kMostLeaseBytes),
      clock_(clock),
      stop_(stop),
      random_(random),
      election_(std::move(election)) {}

std::string Leader::collection() const {
  return fmt::format("/apis/coordination.k8s.io/v1/namespaces/{}/leases", api_.access().name_space);
}

std::string Leader::path() const { return fmt::format("{}/{}", collection(), kLeaseName); }

bool Leader::may_write() const {
  const std::scoped_lock lock{mutex_};
  return election_.may_write(clock_.mono_now());
}

Status Leader::try_tick() {
  TW_TRY(const auto seen, seen_of(api_.ask("GET", path())));
  std::optional<k8s::LeaseRecord> record;
  {
    const std::scoped_lock lock{mutex_};
    record = election_.to_write(seen, clock_.mono_now(), clock_.utc_now());
    if (!record && election_.seen_holder() != other_) {
      other_ = election_.seen_holder();
      log::info("another replica leads", {{"holder", other_}});
    }
  }
  if (!record) return {};
  const auto asked_at = clock_.mono_now();
  const auto body = k8s_json::lease_json(api_.access().name_space, kLeaseName, *record);
  TW_TRY(const auto answer, seen ? api_.ask("PUT", path(), body) : api_.ask("POST", collection(), body));
  const std::scoped_lock lock{mutex_};
  if (answer.status == 200 || answer.status == 201) {
    election_.written(asked_at);
    return {};
  }
  if (answer.status == 409) {  // another one was first: the next look tells who
    election_.lost();
    return {};
  }
  return fail(ErrorCode::unavailable, k8s_json::status_message(answer.status, answer.body));
}

void Leader::tick() {
  const auto done = try_tick();
  if (!done && !failing_)
    log::warning("the Lease can't be kept", {{"lease", kLeaseName}, {"why", done.error().to_string()}});
  failing_ = !done;
  const bool leads = may_write();
  if (leads != led_)
    log::info(leads ? "leading" : "not leading any more", {{"identity", election_.identity()}});
  if (leads) other_.clear();
  led_ = leads;
}

void Leader::run() {
  while (!stop_) {
    tick();
    const auto renew = election_.times().renew_every;
    const auto part = led_ ? 0.5 + random_.uniform() / 2 : 0.25 + random_.uniform() / 4;
    pause_for(Milliseconds{static_cast<Milliseconds::rep>(static_cast<double>(renew.count()) * part)}, stop_);
  }
}

void Leader::release() {
  std::optional<k8s::LeaseRecord> record;
  if (const auto seen = seen_of(api_.ask("GET", path()))) {
    const std::scoped_lock lock{mutex_};
    record = election_.to_release(*seen, clock_.utc_now());
    election_.lost();
  }
  if (!record) return;
  const auto answer =
      api_.ask("PUT", path(), k8s_json::lease_json(api_.access().name_space, kLeaseName, *record));
  if (!answer || answer->status != 200)
    log::warning("the Lease couldn't be given back: it runs out by itself");
}

}  // namespace tidewatt::cli
