// What the controller asks an API server, and what it is told: lists, watches, patches, events, leases.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/k8s/gate.h"
#include "tidewatt/k8s/lease.h"

namespace tidewatt::k8s_json {

/// One page of a list. Objects without name or uid are left out.
struct HeldList {
  std::vector<k8s::Held> items;
  std::string resource_version;
  std::string next;  ///< continue token; empty = the last page
};
/// @param kind  items of a list don't say what they are
Result<HeldList> read_held_list(k8s::ObjectKind kind, std::string_view body);
/// One pod or Job.
Result<k8s::Held> read_held(k8s::ObjectKind kind, std::string_view body);

struct WatchEvent {
  enum class Type : std::uint8_t { changed, deleted, bookmark, error } type = Type::error;
  k8s::Held held;                ///< of changed and deleted
  std::string resource_version;  ///< of all but errors
  int code = 0;                  ///< of an error: 410 = list anew
  std::string message;
};
Result<WatchEvent> read_watch_event(k8s::ObjectKind kind, std::string_view line);

/// The message of a Status; the status code's number where there is none.
std::string status_message(int status, std::string_view body);

/// JSON patches (RFC 6902). Each tests first that the object is the one that was seen and still held, so that
/// it can be applied once only.
std::string open_patch(const k8s::Held& held, const k8s::GateDecision& decision, UtcTime now);
std::string plan_patch(const k8s::Held& held, UtcTime planned, std::string_view decision);
struct Account {
  std::optional<double> energy_kwh, carbon_kgco2e;
  std::string missing;  ///< why what isn't there is unknown
};
std::string account_patch(const k8s::Held& held, const Account& account);

/// A core/v1 Event about `held`. Its name follows from the object and `reason`: a second one is a conflict.
std::string event_json(const k8s::Held& held, std::string_view reason, std::string_view message, bool warning,
                       std::string_view reporter, UtcTime at);

Result<k8s::LeaseRecord> read_lease(std::string_view body);
std::string lease_json(std::string_view name_space, std::string_view name, const k8s::LeaseRecord& record);

}  // namespace tidewatt::k8s_json
